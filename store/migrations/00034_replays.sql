-- What reached the conductor of a recorded call, to conduct it again. It goes with the
-- call, and with the call's recording.

-- +goose Up
create table call_replays (
    session_id text collate "C" primary key references calls on delete cascade,
    record     bytea not null -- as package pipeline/replay describes, through gzip
);

-- +goose StatementBegin
create function forget_replay() returns trigger language plpgsql as $$
begin
    delete from call_replays where session_id = new.session_id;
    return null;
end $$;
-- +goose StatementEnd

create trigger forget_replay after update of state on call_recordings
    for each row when (new.state = 'deleted') execute function forget_replay();
