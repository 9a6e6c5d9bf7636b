-- Calls that an agent places: who said that the callee agreed, and when it rang.

-- +goose Up

-- The evidence of consent outlives the call's history, so it holds no telephone
-- number: to_hash is keyed by the server's secret. Each row of an account seals the
-- one before it, so that none can be taken out or changed unnoticed.
create table consent_audit (
    account_id text collate "C" not null references accounts,
    no         bigint not null check (no > 0), -- 1, 2... of the account
    call_id    text collate "C" not null unique references sessions,
    agent_id   text collate "C" not null,
    to_hash    bytea not null check (octet_length(to_hash) = 32),
    key_id     text not null,
    ip         text not null,
    at         timestamptz not null,
    seal       bytea not null check (octet_length(seal) = 32),
    primary key (account_id, no)
);
create trigger consent_audit_fixed before update or delete or truncate on consent_audit
    for each statement execute function refuse_change();

alter table calls add column rang_at timestamptz;
