-- Where accounts want to be told of what happens, and what each such place was told.
-- A delivery is written by the transaction that makes its event true.

-- +goose Up
create table webhooks (
    id              text collate "C" primary key, -- begins with its time
    account_id      text collate "C" not null references accounts,
    url             text not null,
    description     text not null,
    kinds           text[] not null, -- of events; empty: all
    sealed          bytea not null,  -- the secret that signs
    old_sealed      bytea,           -- the one before, which signs too until old_until
    old_until       timestamptz,
    enabled         boolean not null default true,
    disabled_reason text not null default '' check (disabled_reason in ('', 'failing', 'gone', 'asked')),
    failing_since   timestamptz, -- nothing has arrived since; null: the last did
    busy_until      timestamptz, -- somebody is sending something there; a lease
    created_at      timestamptz not null,
    updated_at      timestamptz not null
);
create index webhooks_account on webhooks (account_id, id);

create table webhook_deliveries (
    webhook_id text collate "C" not null references webhooks on delete cascade,
    event_id   text collate "C" not null, -- begins with its time; one for all webhooks that are told of it
    account_id text collate "C" not null,
    kind       text not null,
    about      text collate "C" not null, -- the call or the warning
    state      text not null default 'pending' check (state in ('pending', 'delivered', 'failed')),
    tries      int not null default 0,
    attempts   jsonb not null default '[]', -- oldest first, the last twenty
    created_at timestamptz not null,
    next_at    timestamptz, -- of the next try; a claim moves it; null: none comes
    done_at    timestamptz,
    primary key (webhook_id, event_id),
    unique (webhook_id, kind, about),
    check ((state = 'pending') = (next_at is not null))
);
create index webhook_deliveries_due on webhook_deliveries (next_at) where state = 'pending';
create index webhook_deliveries_age on webhook_deliveries (created_at);

alter table warnings drop constraint warnings_kind_check;
alter table warnings add constraint warnings_kind_check
    check (kind in ('balance.low', 'number.past_due', 'number.released', 'recharge.failed', 'dispute.opened', 'webhook.disabled'));
