-- Which engines served a call, and what a language model made of it afterwards.

-- +goose Up

alter table calls add column engines json; -- by stage: those that served, in the order in which they began to; null: not known
alter table call_generations add column engine text; -- null: not known, or none answered

create table call_analyses (
    session_id text collate "C" primary key references calls on delete cascade,
    account_id text collate "C" not null references accounts,
    state      text not null check (state in ('waiting', 'done', 'failed', 'skipped')),
    reason     text not null default '', -- why it failed or was skipped, in a word
    detail     text not null default '', -- the same in a sentence; may be empty
    summary    text, -- also while the rest waits
    data       json, -- what was taken out of the transcript, as the agent's schema wants it
    tries      int not null default 0,
    claimed    boolean not null default false, -- whoever has the latest try has not said what came of it
    next_at    timestamptz, -- of the next try; a claim moves it
    created_at timestamptz not null,
    done_at    timestamptz,
    check ((state = 'waiting') = (next_at is not null)),
    check ((state = 'waiting') = (done_at is null)),
    check (state = 'done' or data is null)
);
create index call_analyses_due on call_analyses (next_at) where state = 'waiting';
