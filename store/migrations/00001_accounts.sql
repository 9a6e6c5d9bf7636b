-- Identifiers are text with bytewise order, so that the order in which rows are
-- locked is the same here and in Go. Every table of an account's things carries
-- account_id, and references between them include it: a row can never point at
-- another account's. There are no down migrations: money is not rolled back.

-- +goose Up
create table accounts (
    id         text collate "C" primary key,
    name       text not null check (name <> ''),
    created_at timestamptz not null
);

create table api_keys (
    id           text collate "C" primary key,
    account_id   text collate "C" not null references accounts,
    name         text not null,
    hash         bytea not null unique check (octet_length(hash) = 32),
    last4        text not null,
    created_at   timestamptz not null,
    last_used_at timestamptz,
    revoked_at   timestamptz
);
create index api_keys_account on api_keys (account_id, id);

-- tools and settings are json, not jsonb: the order of a function's parameters
-- matters to a language model and is kept.
create table agents (
    id            text collate "C" primary key,
    account_id    text collate "C" not null references accounts,
    name          text not null check (name <> ''),
    voice         text not null,
    language      text not null,
    prompt        text not null,
    first_message text not null,
    tools         json not null,
    settings      json not null,
    version       bigint not null check (version > 0),
    created_at    timestamptz not null,
    updated_at    timestamptz not null,
    unique (account_id, id)
);

create table numbers (
    id          text collate "C" primary key,
    account_id  text collate "C" not null references accounts,
    e164        text collate "C" not null check (e164 ~ '^\+[1-9][0-9]{6,14}$'),
    country     text not null check (country ~ '^[A-Z]{2}$'),
    agent_id    text collate "C",
    state       text not null check (state in ('owned', 'released')),
    created_at  timestamptz not null,
    released_at timestamptz,
    foreign key (account_id, agent_id) references agents (account_id, id),
    check (state <> 'released' or agent_id is null)
);
create unique index numbers_in_use on numbers (e164) where state <> 'released';
create index numbers_account on numbers (account_id, id);
