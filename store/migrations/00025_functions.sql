-- What agents' functions need: secrets of accounts, sealed by the server's master
-- key, and calls to be noted in customer databases.

-- +goose Up

create table secrets (
    account_id text collate "C" not null references accounts,
    name       text collate "C" not null,
    sealed     bytea not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    primary key (account_id, name)
);

create table crm_notes (
    session_id text collate "C" primary key references calls on delete cascade,
    account_id text collate "C" not null references accounts,
    source     jsonb not null, -- the database, as the agent named it when the call began
    state      text not null default 'waiting' check (state in ('waiting', 'done', 'never', 'failed')),
    tries      int not null default 0,
    next_at    timestamptz not null -- of the next try; a claim moves it
);
create index crm_notes_due on crm_notes (next_at) where state = 'waiting';
