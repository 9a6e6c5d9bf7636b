-- What happened in a call that is over, in order. It goes with the call.

-- +goose Up
create table call_logs (
    session_id text collate "C" primary key references calls on delete cascade,
    log        jsonb not null -- how the call stood before the first event that is kept, and the events
);
