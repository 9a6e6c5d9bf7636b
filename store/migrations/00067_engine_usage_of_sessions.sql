-- Work that is no call uses engines, too.

-- +goose Up
alter table call_engine_usage drop constraint call_engine_usage_session_id_fkey;
alter table call_engine_usage add constraint call_engine_usage_session_id_fkey
    foreign key (session_id) references sessions on delete cascade not valid;
