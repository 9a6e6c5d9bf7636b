-- Recordings of calls: what became of each. The audio is in files, for as long as the
-- account keeps it; that it was deleted, and when, stays with the call.

-- +goose Up
alter table accounts add column recording_days int not null default 30 check (recording_days between 1 and 3650);

create table call_recordings (
    session_id  text collate "C" primary key references calls on delete cascade,
    account_id  text collate "C" not null references accounts,
    node        text not null, -- that had the call: it has what was not encoded yet
    state       text not null default 'recording' check (state in ('recording', 'encoding', 'ready', 'failed', 'deleted')),
    format      text not null default '' check (format in ('', 'ogg', 'wav')),
    rate        int not null default 0,              -- samples a second
    length_ms   bigint not null default 0 check (length_ms >= 0),
    bytes       bigint not null default 0 check (bytes >= 0),
    dropped     bigint not null default 0 check (dropped >= 0), -- frames that are silence instead
    created_at  timestamptz not null,
    ended_at    timestamptz,                         -- null: it is being recorded
    deleted_at  timestamptz,
    deleted_by  text check (deleted_by in ('request', 'expiry')),
    swept       boolean not null default false,      -- its files are gone, too
    check ((state = 'deleted') = (deleted_at is not null)),
    check ((deleted_at is null) = (deleted_by is null))
);
create index call_recordings_kept on call_recordings (account_id, created_at) where state <> 'deleted';
create index call_recordings_left on call_recordings (node) where state = 'deleted' and not swept;
