-- Sounds of accounts, which callers hear while somebody is called for them.

-- +goose Up
create table sounds (
    id         text collate "C" primary key,
    account_id text collate "C" not null references accounts,
    name       text not null,
    codes      bytea not null, -- G.722, 8,000 bytes a second
    created_at timestamptz not null
);
alter table sounds alter column codes set storage external; -- they are compressed
create index sounds_account on sounds (account_id, id);
