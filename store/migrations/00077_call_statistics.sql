-- Calls are counted when they have ended, into sums that statistics are read from: by day, agent,
-- direction and end, and how long their turns waited for each stage and engine.

-- +goose Up
create table calls_to_count ( -- calls that the sums do not hold, or not as they are now; one may be in here several times
    session_id text collate "C" not null references calls on delete cascade,
    id         bigint generated always as identity,
    account_id text collate "C" not null,
    primary key (session_id, id)
);
create index calls_to_count_account on calls_to_count (account_id, session_id);

create table call_counts ( -- what of a call the sums hold
    session_id text collate "C" primary key references calls on delete cascade,
    cost_nano  bigint not null,
    turns      int not null, -- whose latencies they hold
    wait_ms    bigint -- what half of the turns did not exceed, from the caller's last word to the first audio; null: there are none
);

create table call_sums (
    account_id text collate "C" not null references accounts,
    day        date not null, -- on which the calls began, UTC
    agent_id   text collate "C" not null, -- empty: none
    kind       text collate "C" not null, -- their direction
    end_reason text collate "C" not null,
    calls      bigint not null,
    answered   bigint not null,
    seconds    bigint not null, -- since the answers, in whole seconds of each call
    cost_nano  bigint not null,
    primary key (account_id, day, agent_id, kind, end_reason)
) with (fillfactor = 50); -- room for updates in place

create table call_waits (
    account_id text collate "C" not null references accounts,
    agent_id   text collate "C" not null, -- empty: none; *: all together
    day        date not null,
    kind       text collate "C" not null,
    stage      text collate "C" not null,
    engine     text collate "C" not null, -- empty: the stage has none, there were several, or it is not known
    counts     int[] not null, -- of turns, by how long they waited: see store/history
    primary key (account_id, agent_id, day, kind, stage, engine)
) with (fillfactor = 50);
