-- Trunks of accounts: their lines to carriers and exchanges; numbers that are on one; and sessions on one, which have
-- another price.

-- +goose Up
create sequence trunk_revisions;

create table trunks (
    id         text collate "C" primary key,
    account_id text collate "C" not null references accounts,
    name       text not null,
    settings   jsonb not null, -- without secrets
    sealed     bytea,          -- the secrets, by the server's master key; null: there are none
    sources    cidr[] not null, -- where its calls come from
    digest     text not null,  -- the user that must identify itself; empty: the source is enough
    revision   bigint not null, -- drawn from trunk_revisions: each change of a trunk has the highest of all
    created_at timestamptz not null,
    updated_at timestamptz not null,
    unique (account_id, name)
);
create index trunks_account on trunks (account_id, id);

alter table numbers add column trunk_id text collate "C";
alter table numbers add constraint numbers_trunk_id_fkey foreign key (trunk_id) references trunks not valid;
alter table sessions add column own_trunk boolean not null default false;
