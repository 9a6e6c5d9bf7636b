-- Numbers that are bought of a carrier, paid by the month and released. Those that an
-- operator gives an account by hand have no carrier: they cost nothing, ever, and are
-- owned until they are released. And answers that are given again to whoever repeats
-- a request.

-- +goose Up

-- A number is ordering while nobody knows whether the carrier took the order, ordered
-- once it did, owned when it is active. In grace a month is unpaid. It is releasing
-- from the moment the account has lost it until the carrier has taken it back.
alter table numbers drop constraint numbers_state_check, drop constraint numbers_check;
alter table numbers
    add column carrier        text not null default '', -- who sold it; empty: given by hand
    add column order_ref      text collate "C" unique,  -- our name of the order
    add column carrier_id     text,                     -- the carrier's name of the number, once it is active
    add column monthly_nano   bigint not null default 0 check (monthly_nano >= 0), -- what the carrier asks, which is not what we charge
    add column upfront_nano   bigint not null default 0 check (upfront_nano >= 0),
    add column price_version  text collate "C" references rate_cards, -- the card that the first month is charged by
    add column held_nano      bigint not null default 0 check (held_nano >= 0), -- the first month, until the order is known to stand
    add column anchor_at      timestamptz,              -- all months begin on its day
    add column period_no      int not null default 0 check (period_no >= 0), -- months charged
    add column next_charge_at timestamptz,              -- when the next month begins
    add column charge_at      timestamptz,              -- when to charge it, or to try again
    add column grace_until    timestamptz,
    add column activated_at   timestamptz,
    add column routed         boolean not null default false, -- the carrier sends its calls here
    add column try_at         timestamptz,              -- when to turn to the carrier about it; null: never
    add column tries          int not null default 0,
    add constraint numbers_state check (state in ('ordering', 'ordered', 'owned', 'grace', 'releasing', 'released')),
    add constraint numbers_lost check (state not in ('releasing', 'released') or agent_id is null and released_at is not null),
    add constraint numbers_bought check ((carrier = '') = (order_ref is null) and (carrier = '') = (anchor_at is null) and (carrier = '') = (price_version is null)),
    add constraint numbers_free check (carrier <> '' or state in ('owned', 'released') and held_nano = 0 and period_no = 0 and next_charge_at is null and charge_at is null),
    add constraint numbers_hold check (held_nano = 0 or state in ('ordering', 'releasing') and period_no = 0),
    add constraint numbers_grace check ((state = 'grace') = (grace_until is not null)),
    add constraint numbers_charged check ((carrier <> '' and state in ('owned', 'grace')) = (charge_at is not null)),
    add constraint numbers_active check (carrier = '' or state not in ('owned', 'grace') or activated_at is not null and period_no > 0),
    add constraint numbers_activated check (activated_at is null or carrier_id is not null);
create index numbers_due on numbers (charge_at) where charge_at is not null;
create index numbers_try on numbers (try_at) where try_at is not null;

-- A month that was charged. The first one goes back when the number never came.
create table number_charges (
    number_id     text collate "C" not null references numbers,
    period_no     int not null check (period_no > 0),
    account_id    text collate "C" not null references wallets,
    due_at        timestamptz not null,
    charged_at    timestamptz not null,
    amount_nano   bigint not null check (amount_nano >= 0),
    price_version text collate "C" not null references rate_cards,
    refunded_at   timestamptz check (refunded_at is null or period_no = 1),
    primary key (number_id, period_no)
);

-- Statements find the months among all transfers by this.
create index ledger_transfers_months on ledger_transfers (account_id, created_at) where kind = 'usage' and session_id is null;

-- A request under a key of its sender's. While it is worked on it has no status; what
-- it began is entered by the transaction that began it.
create table idempotent_requests (
    account_id text collate "C" not null references wallets,
    route      text not null,
    key        text collate "C" not null,
    hash       bytea not null check (octet_length(hash) = 32), -- of the request
    begun_at   timestamptz not null,
    subject    text, -- what it began: the number, the call, the batch
    status     int,
    body       bytea,
    primary key (account_id, route, key),
    check ((status is null) = (body is null))
);
create index idempotent_requests_age on idempotent_requests (begun_at);
