-- The functions that the model of a call called, with their results. A row is there as soon as the
-- function is called, and goes with what was said.

-- +goose Up
create table call_functions (
    session_id text collate "C" not null references calls on delete cascade,
    call_id    text collate "C" not null, -- the call's number of it
    name       text not null,
    arguments  text not null, -- as the model wrote them
    by_client  boolean not null, -- the client runs it; else this server
    turn       int not null,
    began_ms   bigint not null, -- since the answer
    ended_ms   bigint,
    outcome    text, -- ok, error, timeout, cancelled or unknown_tool; null: it has no result, or none that is known
    result     text not null, -- as the model got it
    primary key (session_id, call_id),
    check ((ended_ms is null) = (outcome is null))
);
create trigger refuse_deleted before insert or update on call_functions
    for each row execute function refuse_deleted();
