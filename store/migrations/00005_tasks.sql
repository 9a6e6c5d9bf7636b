-- Synthesis that nobody waits for. A task is charged through a session that does
-- not count among those at once; the two begin and end in the same transactions.

-- +goose Up

create table tts_tasks (
    id            text collate "C" primary key,
    account_id    text collate "C" not null,
    session_id    text collate "C" not null unique,
    status        text not null check (status in ('pending', 'processing', 'completed', 'failed')),
    voice         text not null,
    language      text not null,
    format        text not null,
    speed         double precision not null,
    steps         int not null,
    body          text not null, -- what to say; emptied when the task ends
    chars         bigint not null check (chars > 0),
    progress      int not null default 0 check (progress between 0 and 100),
    node_id       text collate "C", -- who works on it; null: nobody
    node_epoch    bigint,
    claim         bigint not null default 0, -- how often somebody began: only the latest may write
    attempts      int not null default 0,    -- of these, those that were not given up in good order
    created_at    timestamptz not null,
    touched_at    timestamptz not null, -- the last sign of whoever works on it, or when it was queued
    ended_at      timestamptz,
    expires_at    timestamptz,
    duration_ms   bigint not null default 0,
    error_code    text not null default '',
    error_message text not null default '',
    foreign key (account_id, session_id) references sessions (account_id, id),
    check ((status in ('completed', 'failed')) = (ended_at is not null)),
    check ((status = 'completed') = (expires_at is not null)),
    check ((status = 'failed') = (error_code <> '')),
    check (ended_at is null or body = '')
);
create index tts_tasks_unfinished on tts_tasks (account_id) where ended_at is null;
create index tts_tasks_ended on tts_tasks (ended_at) where ended_at is not null;
