-- Numbers that an account does not call, and what lists of calls are searched by.

-- +goose Up
create table do_not_call (
    id         text collate "C" primary key,
    account_id text collate "C" not null references accounts,
    number     text collate "C" not null check (number ~ '^\+[1-9][0-9]{1,14}$'), -- E.164
    reason     text not null,
    source     text not null check (source in ('api', 'agent', 'operator')),
    call_id    text collate "C", -- in which it was asked for; no reference: the list outlives history
    since      timestamptz not null,
    unique (account_id, number) -- asked by every call that is placed
);
create index do_not_call_listed on do_not_call (account_id, id);

create index calls_agent on calls (account_id, agent_id, session_id);
create index calls_from on calls (account_id, from_number, session_id);
create index calls_to on calls (account_id, to_number, session_id);
