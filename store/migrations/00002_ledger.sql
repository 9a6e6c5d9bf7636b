-- Money is bigint nano-dollars. One rule keeps it right: every transaction that
-- moves money locks the account's wallet row first, then sessions, then lots.

-- +goose Up

-- +goose StatementBegin
create function refuse_change() returns trigger language plpgsql as $$
begin
    raise exception '% of % is refused: the table only grows', tg_op, tg_table_name using errcode = 'restrict_violation';
end $$;
-- +goose StatementEnd

-- +goose StatementBegin
create function refuse_shrinking() returns trigger language plpgsql as $$
begin
    raise exception 'a usage counter of session % would shrink', old.session_id using errcode = 'restrict_violation';
end $$;
-- +goose StatementEnd

-- The body is json, which keeps its text, so that the checksum can be made again.
create table rate_cards (
    version  text collate "C" primary key check (version ~ '^\d{4}-\d{2}-\d{2}\.\d+$'),
    body     json not null,
    sha256   bytea not null check (octet_length(sha256) = 32),
    added_at timestamptz not null
);
create trigger rate_cards_fixed before update or delete or truncate on rate_cards
    for each statement execute function refuse_change();

create table wallets (
    account_id           text collate "C" primary key references accounts,
    paid_nano            bigint not null default 0,
    bonus_nano           bigint not null default 0 check (bonus_nano >= 0),
    accrued_any_nano     bigint not null default 0 check (accrued_any_nano >= 0),
    accrued_paid_nano    bigint not null default 0 check (accrued_paid_nano >= 0),
    held_nano            bigint not null default 0 check (held_nano >= 0),
    live_sessions        int not null default 0 check (live_sessions >= 0),
    admissions           bigint not null default 0, -- sessions started so far: orders starts and disputes
    concurrency_override int check (concurrency_override between 1 and 100000),
    open_disputes        int not null default 0 check (open_disputes >= 0),
    suspended            boolean not null default false,
    first_topup_at       timestamptz,
    bonus_expires_at     timestamptz, -- the next lot's expiry; null without bonus
    last_seq             bigint not null default 0
) with (fillfactor = 50); -- room for in-place updates: no index follows a changing column but the next one
create index wallets_expiry on wallets (bonus_expires_at) where bonus_expires_at is not null;

create table credit_lots (
    id             text collate "C" primary key,
    account_id     text collate "C" not null references wallets,
    source         text not null, -- the idempotency key of the transfer that granted it
    granted_nano   bigint not null check (granted_nano > 0),
    remaining_nano bigint not null check (remaining_nano between 0 and granted_nano),
    expires_at     timestamptz not null,
    created_at     timestamptz not null,
    unique (account_id, source)
);
create index credit_lots_left on credit_lots (account_id, expires_at, id) where remaining_nano > 0;

create table disputes (
    id              bigint generated always as identity primary key,
    account_id      text collate "C" not null references wallets,
    ref             text not null,
    opened_at       timestamptz not null,
    opened_after    bigint not null, -- wallets.admissions then
    resolved_at     timestamptz,
    resolved_after  bigint
);
create unique index disputes_open on disputes (account_id, ref) where resolved_at is null;

create sequence node_epochs;
create table nodes (
    node_id      text collate "C" primary key,
    epoch        bigint not null unique, -- fencing token: higher is younger
    addr         text not null,
    started_at   timestamptz not null,
    heartbeat_at timestamptz not null
) with (fillfactor = 50);

create table sessions (
    id                 text collate "C" primary key,
    account_id         text collate "C" not null references wallets,
    kind               text not null check (kind in ('web', 'inbound', 'outbound', 'tts', 'stt', 'denoise')),
    country            text not null,
    mobile             boolean not null,
    price_version      text collate "C" not null references rate_cards,
    node_id            text collate "C" not null references nodes,
    node_epoch         bigint not null,
    opened_at          timestamptz not null,
    admission          bigint not null, -- the account's how-manieth
    start_seq          bigint not null, -- the account's last transfer then
    start_balance_nano bigint not null,
    start_live         int not null,    -- sessions at once, this one included
    start_limit        int not null,
    state              text not null default 'live' check (state in ('live', 'closed')),
    ended_at           timestamptz,
    end_reason         text,
    end_detail         text,
    check ((state = 'closed') = (ended_at is not null)),
    unique (account_id, id),
    unique (account_id, admission)
);
create index sessions_live_node on sessions (node_id, node_epoch) where state = 'live';
create index sessions_live_account on sessions (account_id, id) where state = 'live';

create table session_usage (
    session_id      text collate "C" primary key references sessions,
    account_id      text collate "C" not null,
    node_epoch      bigint not null,
    paid_only       boolean not null,
    open            boolean not null default true,
    started_at      timestamptz, -- when the session's clock started; null: nothing is owed
    ckpt_seq        bigint not null default 0,
    ckpt_at         timestamptz,
    agent_ms        bigint not null default 0,
    line_ms         bigint not null default 0,
    reply_in        bigint not null default 0,
    reply_out       bigint not null default 0,
    speculative_in  bigint not null default 0,
    speculative_out bigint not null default 0,
    summary_in      bigint not null default 0,
    summary_out     bigint not null default 0,
    tts_chars       bigint not null default 0,
    stt_ms          bigint not null default 0,
    denoise_ms      bigint not null default 0,
    crm             bigint not null default 0,
    web             bigint not null default 0,
    line_price_nano bigint not null,
    line_granted    bigint not null default 0, -- telephone minutes that may begin
    line_held_nano  bigint not null default 0 check (line_held_nano >= 0),
    amount_nano     bigint not null default 0,
    posted_nano     bigint not null default 0 check (posted_nano between 0 and amount_nano),
    posting_no      int not null default 0,
    check (started_at is not null or amount_nano = 0)
) with (fillfactor = 50); -- and no second index: a checkpoint is an in-place update

-- The condition is evaluated without a function call; one happens only to refuse.
create trigger session_usage_counters_grow before update on session_usage for each row
    when (new.agent_ms < old.agent_ms or new.line_ms < old.line_ms
        or new.reply_in < old.reply_in or new.reply_out < old.reply_out
        or new.speculative_in < old.speculative_in or new.speculative_out < old.speculative_out
        or new.summary_in < old.summary_in or new.summary_out < old.summary_out
        or new.tts_chars < old.tts_chars or new.stt_ms < old.stt_ms or new.denoise_ms < old.denoise_ms
        or new.crm < old.crm or new.web < old.web or new.ckpt_seq < old.ckpt_seq or new.amount_nano < old.amount_nano)
    execute function refuse_shrinking();

-- One row for each component that a posting charged: the difference to the posting before.
create table usage_records (
    session_id      text collate "C" not null references sessions,
    posting_no      int not null,
    component       text not null,
    qty             bigint not null check (qty >= 0),
    unit_price_nano bigint not null,
    amount_nano     bigint not null check (amount_nano >= 0),
    price_version   text collate "C" not null,
    posted_at       timestamptz not null,
    primary key (session_id, posting_no, component)
);
create trigger usage_records_fixed before update or delete or truncate on usage_records
    for each statement execute function refuse_change();

-- Each row debits one ledger account and credits another. 'paid' and 'bonus' are
-- the customer's; all others are the system's and keep no balance row, so that
-- they are never contended.
create table ledger_transfers (
    id                 bigint generated always as identity primary key,
    account_id         text collate "C" not null references wallets,
    seq                bigint not null,
    idem               text not null,
    leg                smallint not null,
    debit              text not null,
    credit             text not null check (credit <> debit),
    amount_nano        bigint not null check (amount_nano > 0),
    kind               text not null,
    session_id         text collate "C",
    price_version      text collate "C",
    balance_after_nano bigint not null,
    created_at         timestamptz not null,
    unique (account_id, seq),
    foreign key (account_id, session_id) references sessions (account_id, id)
);
create unique index ledger_transfers_once on ledger_transfers (idem, leg);
create index ledger_transfers_session on ledger_transfers (session_id) where session_id is not null;
create trigger ledger_transfers_fixed before update or delete or truncate on ledger_transfers
    for each statement execute function refuse_change();
