-- What the language model of a call was asked and what it answered, written as it happens; it goes
-- with what was said.

-- +goose Up
create table call_completions (
    session_id text collate "C" not null references calls on delete cascade,
    no         int not null check (no >= 0), -- in its call, from 0
    request    jsonb not null, -- what it has beyond the one before: see store/history
    answer     jsonb, -- null: none yet, or its node was lost before
    primary key (session_id, no)
);
create trigger refuse_deleted before insert or update on call_completions
    for each row execute function refuse_deleted();
