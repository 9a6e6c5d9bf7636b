-- What happens in a call is stored as it happens: it is what is left of a call whose node dies. A
-- call whose conversation is stored has no such rows.

-- +goose Up
create table call_events (
    session_id text collate "C" not null references calls on delete cascade,
    no         int not null check (no >= 0), -- in its call, from 0
    event      jsonb not null,
    primary key (session_id, no)
);
create index call_events_first on call_events (session_id) where no = 0;
create trigger refuse_deleted before insert or update on call_events
    for each row execute function refuse_deleted();
alter table calls add column saved_at timestamptz; -- its conversation was stored; null: not yet, or before there was this column
