-- Text messages that numbers send and receive, and their segments among what is charged.

-- +goose Up
create table messages (
    id          text collate "C" primary key, -- begins with its time
    account_id  text collate "C" not null references accounts,
    direction   text not null check (direction in ('outbound', 'inbound')),
    number      text collate "C" not null, -- the account's
    peer        text collate "C" not null, -- the other one; of a message that came in perhaps a name
    body        text not null,             -- empty once it was deleted
    segments    int not null check (segments > 0),
    encoding    text not null check (encoding in ('gsm7', 'ucs2')),
    status      text not null check (status in ('queued', 'sent', 'delivered', 'failed', 'received')),
    reason      text not null default '',  -- why it failed, for people
    carrier     text not null,
    carrier_ref text collate "C",          -- the carrier's name of it, once it has it
    session_id  text collate "C" unique,   -- that is charged; null: it came in and costs nothing. No foreign key, which would lock sessions
    agent_id    text collate "C",          -- that sent it
    call_id     text collate "C",          -- in which it did
    handed_at   timestamptz,               -- when it was handed to the carrier, which is done once
    try_at      timestamptz,               -- when to turn to the carrier about it; null: never
    created_at  timestamptz not null,
    sent_at     timestamptz,               -- the carrier has taken it, or brought it
    ended_at    timestamptz,               -- it was delivered, has failed, or came in
    deleted_at  timestamptz,
    check ((direction = 'inbound') = (status = 'received')),
    check (direction = 'inbound' or session_id is not null),
    check ((ended_at is null) = (status in ('queued', 'sent'))),
    check (status <> 'queued' or sent_at is null),
    check (status not in ('sent', 'delivered', 'received') or sent_at is not null and carrier_ref is not null)
);
create index messages_account on messages (account_id, id);
create index messages_number on messages (account_id, number, id);
create index messages_peer on messages (account_id, peer, id);
create unique index messages_carrier on messages (carrier, carrier_ref);
create index messages_try on messages (try_at) where try_at is not null;
create index messages_kept on messages (account_id, created_at) where deleted_at is null;

alter table session_usage
    add column segments bigint not null default 0;
drop trigger session_usage_counters_grow on session_usage;
create trigger session_usage_counters_grow before update on session_usage for each row
    when (new.agent_ms < old.agent_ms or new.line_ms < old.line_ms
        or new.reply_in < old.reply_in or new.reply_out < old.reply_out
        or new.speculative_in < old.speculative_in or new.speculative_out < old.speculative_out
        or new.summary_in < old.summary_in or new.summary_out < old.summary_out
        or new.tts_chars < old.tts_chars or new.stt_ms < old.stt_ms or new.denoise_ms < old.denoise_ms
        or new.crm < old.crm or new.web < old.web or new.ckpt_seq < old.ckpt_seq or new.amount_nano < old.amount_nano
        or new.audio_in < old.audio_in or new.audio_cached < old.audio_cached or new.audio_out < old.audio_out
        or new.own_in < old.own_in or new.own_out < old.own_out or new.segments < old.segments)
    execute function refuse_shrinking();
