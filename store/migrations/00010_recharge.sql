-- Automatic recharge: a card that was kept is charged when the balance falls below
-- its owner's threshold. The transaction that leaves it there notes the attempt; who
-- charges it comes later, and its money arrives as that of any top-up.

-- +goose Up

-- The threshold while recharging is on, else null: a copy of the setting, where every
-- money transaction and every checkpoint looks anyway.
alter table wallets add column recharge_below_nano bigint;
create index wallets_recharge on wallets (account_id) where recharge_below_nano is not null;

create table recharges (
    account_id     text collate "C" primary key references wallets,
    enabled        boolean not null,
    threshold_nano bigint not null check (threshold_nano >= 0),
    amount_nano    bigint not null check (amount_nano > 0),
    cap_nano       bigint not null check (cap_nano >= amount_nano), -- of a calendar month, UTC
    provider       text not null, -- who keeps the card
    declines       int not null default 0 check (declines >= 0), -- in a row
    not_before     timestamptz, -- the next attempt, after one that failed
    failure        text not null default '', -- why the last attempt failed; empty since money came
    code           text not null default '', -- the provider's word for it
    failed_at      timestamptz
);

alter table topups add column automatic boolean not null default false;

create table recharge_attempts (
    id          text collate "C" primary key, -- the provider's idempotency key
    account_id  text collate "C" not null references recharges,
    no          int not null check (no > 0), -- the account's how-manieth
    topup_id    text collate "C" not null unique references topups,
    month       date not null, -- in which it was made, UTC
    amount_nano bigint not null check (amount_nano > 0),
    cap_nano    bigint not null, -- the month's when it was made
    state       text not null check (state in ('pending', 'processing', 'succeeded', 'failed', 'canceled')),
    created_at  timestamptz not null,
    look_at     timestamptz not null, -- when somebody looks after it if it is still open
    ended_at    timestamptz,
    unique (account_id, no),
    check ((state in ('pending', 'processing')) = (ended_at is null))
);
create unique index recharge_attempts_one on recharge_attempts (account_id) where ended_at is null;
create index recharge_attempts_month on recharge_attempts (account_id, month);
create index recharge_attempts_open on recharge_attempts (look_at) where ended_at is null;
