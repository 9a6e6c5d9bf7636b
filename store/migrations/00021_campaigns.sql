-- Calls in bulk. A row is dialled by the transaction that starts its session, so it
-- has a call or it has none, whatever crashes; and it ends with that session.

-- +goose Up

create table campaigns (
    id          text collate "C" primary key,
    account_id  text collate "C" not null references wallets,
    name        text not null,
    state       text not null check (state in ('running', 'paused', 'cancelled')), -- done is when no row is left
    key_id      text not null, -- who confirmed that the callees have agreed
    ip          text not null, -- from where
    ring_ms     bigint not null check (ring_ms >= 0), -- 0: the usual
    longest_ms  bigint not null check (longest_ms >= 0), -- 0: as the agent says
    on_machine  text not null,
    message     text not null,
    hours_from  int, -- minutes after midnight; null: at any time
    hours_to    int,
    hours_zone  text, -- IANA's name, or destination
    created_at  timestamptz not null,
    unique (account_id, id),
    check ((hours_from is null) = (hours_to is null) and (hours_from is null) = (hours_zone is null))
);

create table campaign_rows (
    id            text collate "C" primary key,
    account_id    text collate "C" not null,
    campaign_id   text collate "C" not null,
    no            int not null check (no >= 0), -- its place in the batch
    to_number     text not null,
    from_number   text not null,
    agent_id      text collate "C" not null,
    zones         text[] not null, -- by whose clocks the hours count; empty: there are none
    scheduled_at  timestamptz, -- as it was asked for
    status        text not null check (status in ('pending', 'dialing', 'sent', 'failed')),
    since         timestamptz not null, -- from when on it could be dialled: it is tried for a day
    due_at        timestamptz not null, -- not to be tried before
    claim         bigint not null default 0, -- how often somebody was about to dial it: only the latest may
    node_id       text collate "C", -- who that is
    node_epoch    bigint,
    claimed_until timestamptz, -- null: nobody
    session_id    text collate "C" unique, -- of its call
    ended_at      timestamptz,
    error_code    text not null default '', -- why it failed; while it is pending, why it was not dialled last
    error_message text not null default '',
    summary       text,
    unique (campaign_id, no),
    foreign key (account_id, campaign_id) references campaigns (account_id, id),
    foreign key (account_id, session_id) references sessions (account_id, id),
    check (status = 'failed' or (status = 'pending') = (session_id is null)),
    check ((status in ('sent', 'failed')) = (ended_at is not null)),
    check (status <> 'failed' or error_code <> '')
);
create index campaign_rows_due on campaign_rows (due_at) where status = 'pending';
create index campaign_rows_next on campaign_rows (account_id, due_at, campaign_id, no) where status = 'pending';
create index campaign_rows_since on campaign_rows (since) where status = 'pending';

-- The same link from the other end: a row has one call at most, whoever writes.
alter table sessions add column row_id text collate "C";
create unique index sessions_row on sessions (row_id) where row_id is not null;
