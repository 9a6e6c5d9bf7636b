-- Test cases of agents and simulations that run them, and what those are charged as: sessions of the kind "test".

-- +goose Up
create table agent_cases (
    id         text collate "C" primary key,
    account_id text collate "C" not null,
    agent_id   text collate "C" not null,
    name       text not null,
    script     json not null, -- of the simulated caller, 64 kB at most
    created_at timestamptz not null,
    updated_at timestamptz not null,
    foreign key (account_id, agent_id) references agents (account_id, id) on delete cascade,
    unique (account_id, agent_id, name)
);

create table simulations (
    id            text collate "C" primary key, -- begins with its time
    account_id    text collate "C" not null,
    agent_id      text collate "C" not null,
    agent_version bigint not null, -- when it was asked for
    agent         json not null,   -- as it is tried: that version, or a draft
    draft         boolean not null,
    key_id        text collate "C", -- that asked, whose spending limits count; null: none
    runs          int not null,     -- of each case; 0: what its script says
    state         text not null check (state in ('queued', 'running', 'done', 'failed', 'canceled')),
    reason        text not null default '', -- why it failed
    claim         bigint not null default 0, -- how often work on it began
    created_at    timestamptz not null,
    started_at    timestamptz,
    ended_at      timestamptz,
    check ((ended_at is null) = (state in ('queued', 'running'))),
    foreign key (account_id, agent_id) references agents (account_id, id) on delete cascade
);
create index simulations_agent on simulations (account_id, agent_id, id);
create index simulations_unfinished on simulations (account_id) where ended_at is null;

create table simulation_cases (
    simulation_id text collate "C" not null references simulations on delete cascade,
    ordinal       int not null,
    case_id       text collate "C" not null, -- no reference: the case may be changed or deleted
    name          text not null,
    script        json,             -- as it was; null: it has run
    runs          int not null default 0, -- that were made
    failed        int not null default 0, -- of these
    results       json,             -- a list of the runs; null: it has not run
    in_tokens     bigint not null default 0,
    out_tokens    bigint not null default 0,
    session_id    text collate "C", -- that is charged; null: nothing was
    primary key (simulation_id, ordinal)
);

alter table sessions drop constraint sessions_kind_check;
alter table sessions add constraint sessions_kind_check
    check (kind in ('web', 'inbound', 'outbound', 'tts', 'stt', 'denoise', 'test')) not valid; -- what is there met a narrower one
