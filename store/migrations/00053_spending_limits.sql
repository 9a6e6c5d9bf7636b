-- What may be spent in a day (UTC): by an account, by a key of it, by an agent of it. The
-- counters beside a limit are sums over session_usage, kept by the transactions that hold the
-- account's wallet; an account's own are always kept, the others while there is a limit.

-- +goose Up
alter table wallets
    add column daily_limit_nano bigint check (daily_limit_nano >= 0),
    add column limited boolean not null default false, -- whether a key or an agent has a limit
    add column spent_day date,
    add column spent_nano bigint not null default 0;
alter table api_keys
    add column daily_limit_nano bigint check (daily_limit_nano >= 0),
    add column spent_day date,
    add column spent_nano bigint not null default 0,
    add column held_nano bigint not null default 0;
alter table agents
    add column daily_limit_nano bigint check (daily_limit_nano >= 0),
    add column spent_day date,
    add column spent_nano bigint not null default 0,
    add column held_nano bigint not null default 0;
