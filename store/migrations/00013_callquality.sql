-- How a telephone call went on the wire: the quality of its media and its
-- signalling, without secrets. It goes with the call.

-- +goose Up
create table call_wire (
    session_id  text collate "C" primary key references calls on delete cascade,
    quality     jsonb,                       -- null: there was no media
    mos         double precision,            -- of quality; null: nothing was heard
    sip         jsonb not null default '[]', -- messages, oldest first
    sip_dropped int   not null default 0 check (sip_dropped >= 0) -- older ones, not kept
);
