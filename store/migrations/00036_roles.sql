-- What a key may do besides its account's work, and keys of who runs the server, which
-- belong to a user and to no account: no query of an account's things can find them.

-- +goose Up
alter table api_keys add column role text not null default 'member' check (role in ('owner', 'member'));

create table operator_keys (
    id           text collate "C" primary key,
    user_id      text collate "C" not null references users on delete cascade,
    name         text not null,
    hash         bytea not null unique check (octet_length(hash) = 32),
    last4        text not null,
    created_at   timestamptz not null,
    last_used_at timestamptz, -- to the minute
    revoked_at   timestamptz
);
create index operator_keys_user on operator_keys (user_id, id);
