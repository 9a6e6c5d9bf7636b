-- What was said in a conversation, apart from the ledger, which holds no words
-- and no telephone numbers of callers: this can be deleted, that cannot.

-- +goose Up
create table calls (
    session_id  text collate "C" primary key references sessions,
    account_id  text collate "C" not null,
    agent_id    text collate "C", -- no reference: history outlives the agent
    from_number text not null,
    to_number   text not null,
    transcript  jsonb not null default '[]',
    turns       jsonb not null default '[]',
    foreign key (account_id, session_id) references sessions (account_id, id)
);
create index calls_account on calls (account_id, session_id);

create table call_generations (
    session_id text collate "C" not null references calls on delete cascade,
    ordinal    int not null,
    gen        int not null,
    turn       int not null,
    kind       text not null check (kind in ('reply', 'speculative', 'summary')),
    outcome    text not null check (outcome in ('committed', 'interrupted', 'discarded', 'failed')),
    in_tokens  bigint not null check (in_tokens >= 0),
    out_tokens bigint not null check (out_tokens >= 0),
    source     text not null check (source in ('provider', 'counted')),
    primary key (session_id, ordinal)
);
