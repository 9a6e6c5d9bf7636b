-- What another node needs to take a call over whose node has died. It is written again and again while the call lasts, and worth nothing
-- after it: a database that has crashed has lost it, and the calls of a node that dies right then end.

-- +goose Up
create unlogged table call_passports (
    session_id text collate "C" primary key references sessions on delete cascade,
    account_id text not null,
    passport   bytea not null, -- JSON; who speaks with whom, and what was said
    taken      int not null default 0, -- how often the call was taken over in a row
    taken_at   timestamptz
);
alter table sessions add column agent_away_ms bigint not null default 0; -- from the last checkpoint of a dead node until another had the call, which only its line is charged for
