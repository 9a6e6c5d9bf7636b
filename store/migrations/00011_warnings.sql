-- What an account should know before it loses something. The row is written by the
-- transaction that noticed; telling of it comes after, as often as it takes.

-- +goose Up

-- Since when the balance has been below the wallet's low mark; null: it is not.
-- A checkpoint reads it, so that only one that crosses the mark does more.
alter table wallets add column low_since timestamptz;

alter table accounts add column email text; -- where warnings go; null: nowhere

create table warnings (
    id           text collate "C" primary key, -- begins with its time
    account_id   text collate "C" not null references wallets,
    kind         text not null check (kind in ('balance.low', 'number.past_due', 'number.released', 'recharge.failed', 'dispute.opened')),
    about        text not null, -- what of the kind: never warned of twice
    data         jsonb not null,
    created_at   timestamptz not null,
    cleared_at   timestamptz, -- when it stopped being so, which may be known beforehand
    published_at timestamptz, -- on the bus
    mail_at      timestamptz, -- when to mail it, or to try again; null: never again
    mail_tries   int not null default 0,
    mailed_at    timestamptz,
    unique (account_id, kind, about)
);
create index warnings_account on warnings (account_id, id);
create index warnings_holding on warnings (account_id, kind) where cleared_at is null;
create index warnings_unpublished on warnings (id) where published_at is null;
create index warnings_unmailed on warnings (mail_at) where mail_at is not null;
