-- Who made a key, and whether it may change what is paid. Of the keys that there are, the
-- first of each account may: it was made with the account, for whose it is.

-- +goose Up
alter table api_keys
    add column maker text collate "C", -- a user's or a key's identifier, which may be gone; null: made on the server, or before this was noted
    add column money boolean not null default false;
update api_keys set money = true where id in (select min(id) from api_keys group by account_id);

-- A user who may not sign in, nor use the keys with which they look after accounts.
alter table users add column disabled_at timestamptz;
