-- What agents were: every change leaves the version that it made, and calls say with
-- which one they ran.

-- +goose Up

create table agent_versions (
    agent_id      text collate "C" not null, -- no reference: history outlives the agent
    version       bigint not null check (version > 0),
    account_id    text collate "C" not null references accounts,
    name          text not null,
    voice         text not null,
    language      text not null,
    prompt        text not null,
    first_message text not null,
    tools         json not null,
    settings      json not null,
    created_at    timestamptz not null,
    primary key (agent_id, version)
);

insert into agent_versions (agent_id, version, account_id, name, voice, language, prompt, first_message, tools, settings, created_at)
    select id, version, account_id, name, voice, language, prompt, first_message, tools, settings, updated_at from agents;

create trigger agent_versions_only_grow before update or delete or truncate on agent_versions
    for each statement execute function refuse_change();

alter table calls add column agent_version bigint;
