-- Keys of accounts for the engines of vendors, sealed by the server's master key.

-- +goose Up

create table engine_keys (
    account_id text collate "C" not null references accounts,
    engine     text collate "C" not null, -- as the settings call it, which may have none of that name any more
    sealed     bytea not null,
    last4      text not null,
    set_by     text not null, -- the user or the key of the account that did
    created_at timestamptz not null,
    updated_at timestamptz not null,
    refused_at timestamptz, -- when the vendor refused it; null: it has not
    refusal    text not null default '', -- what it said, without the key
    primary key (account_id, engine),
    check (refusal = '' or refused_at is not null)
);
