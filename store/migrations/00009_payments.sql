-- Money that comes in through a payment provider, which alone knows what a payment
-- is. What it says is read again and again, so everything here is idempotent.

-- +goose Up

create table topups (
    id            text collate "C" primary key,
    account_id    text collate "C" not null references wallets,
    provider      text not null,
    amount_nano   bigint not null check (amount_nano > 0), -- asked for
    state         text not null check (state in ('created', 'pending', 'succeeded', 'failed', 'canceled')),
    checkout_id   text not null default '', -- the provider's names of the page and the payment
    payment_id    text,
    url           text not null default '', -- where to pay
    paid_nano     bigint not null default 0 check (paid_nano >= 0), -- received, and credited
    refunded_nano bigint not null default 0 check (refunded_nano between 0 and paid_nano), -- of it, and posted
    refund_no     int not null default 0, -- postings of refunds
    looked        bigint not null default 0, -- which look at the provider this row tells of
    created_at    timestamptz not null,
    settled_at    timestamptz,
    unique (provider, payment_id),
    check ((state in ('succeeded', 'failed', 'canceled')) = (settled_at is not null)),
    check ((state = 'succeeded') = (paid_nano > 0)),
    check (state <> 'succeeded' or payment_id is not null)
);
create index topups_account on topups (account_id, id);

-- Numbers the looks at providers in the order in which they begin.
create sequence payment_looks;

create table provider_customers (
    account_id text collate "C" not null references wallets,
    provider   text not null,
    customer   text not null,
    primary key (account_id, provider)
);

-- An event is entered in the transaction that applies it, never before.
create table payment_events (
    provider    text not null,
    event_id    text not null,
    account_id  text collate "C" not null references wallets,
    topup_id    text collate "C" not null references topups,
    kind        text not null,
    received_at timestamptz not null,
    primary key (provider, event_id)
);

-- A dispute that a provider told of; those without are an operator's.
alter table disputes
    add column provider text,
    add column topup_id text collate "C" references topups,
    add column state text check (state in ('opened', 'funds_withdrawn', 'won', 'lost')),
    add column amount_nano bigint not null default 0 check (amount_nano >= 0),
    add column withdrawn boolean not null default false,
    add column held_nano bigint not null default 0 check (held_nano between 0 and amount_nano),
    add check ((provider is null) = (state is null) and (provider is null) = (topup_id is null));
create unique index disputes_provider on disputes (provider, ref) where provider is not null;
