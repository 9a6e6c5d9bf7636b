-- People who sign in to the dashboard, which accounts they belong to, and how they get in.

-- +goose Up
create table users (
    id           text collate "C" primary key, -- begins with its time
    email        text not null unique check (email = lower(email)),
    password     text, -- argon2id with its parameters; null: cannot sign in with one
    role         text not null check (role in ('operator', 'member')),
    created_at   timestamptz not null,
    signed_in_at timestamptz
);

create table memberships (
    user_id    text collate "C" not null references users on delete cascade,
    account_id text collate "C" not null references accounts,
    role       text not null check (role in ('owner', 'member')),
    created_at timestamptz not null,
    primary key (user_id, account_id)
);
create index memberships_account on memberships (account_id);

-- A sign-in that lasts. Of its secret only the hash is kept.
create table browser_sessions (
    id         text collate "C" primary key,
    hash       bytea not null unique,
    user_id    text collate "C" not null references users on delete cascade,
    account_id text collate "C" references accounts, -- the one that is looked at; null: none
    demo       boolean not null default false, -- opened without a password
    notice     text not null default '', -- shown on the next page, once
    created_at timestamptz not null,
    seen_at    timestamptz not null -- to the minute
);
create index browser_sessions_user on browser_sessions (user_id);
create index browser_sessions_age on browser_sessions (seen_at);

-- Links that open a door once: for the first user of a server, or to choose a password.
create table sign_in_links (
    hash       bytea primary key,
    user_id    text collate "C" references users on delete cascade, -- null: makes the first user
    created_at timestamptz not null,
    expires_at timestamptz not null
);

create table invitations (
    id         text collate "C" primary key,
    hash       bytea not null unique,
    account_id text collate "C" not null references accounts,
    email      text not null check (email = lower(email)),
    role       text not null check (role in ('owner', 'member')),
    invited_by text collate "C" references users on delete set null,
    created_at timestamptz not null,
    expires_at timestamptz not null
);
create unique index invitations_email on invitations (account_id, email);
