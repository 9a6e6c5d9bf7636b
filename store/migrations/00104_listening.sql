-- People who listen in on calls: who may, and who did.

-- +goose Up
alter table api_keys add column listens boolean not null default false;
alter table memberships add column listens boolean not null default false;
create table call_listeners (
    id          text collate "C" primary key,
    account_id  text collate "C" not null,
    session_id  text collate "C" not null references sessions on delete cascade,
    credential  text collate "C" not null, -- the user or the key that listened
    joined_at   timestamptz not null,
    left_at     timestamptz -- null: they still listen, or their server was lost
);
create index call_listeners_of_call on call_listeners (session_id);
