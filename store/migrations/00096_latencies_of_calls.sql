-- +goose NO TRANSACTION

-- How long the turns of each call took, in rows that are narrow: percentiles of a month are read from them, and not from what
-- conversations store of their turns. A trigger writes them, so that a server of the version before keeps them as well.

-- +goose Up
create table if not exists call_latencies (
    session_id text collate "C" primary key references calls on delete cascade,
    account_id text collate "C" not null,
    agent_id   text collate "C" not null, -- empty: none
    kind       text collate "C" not null, -- the call's direction
    opened_at  timestamptz not null,
    ms         int[] not null -- of each turn four: endpoint, model, voice and total; -1: there was none
);
create index if not exists call_latencies_account on call_latencies (account_id, opened_at);

-- +goose StatementBegin
create or replace function latencies_of(turns jsonb) returns int[] language sql immutable as $$
    select coalesce(array_agg(case jsonb_typeof(t->stage) when 'number' then least(greatest((t->>stage)::numeric, 0), 2147483647)::int else -1 end order by n, k), '{}')
        from jsonb_array_elements(case jsonb_typeof(turns) when 'array' then turns else '[]' end) with ordinality as a (t, n),
            unnest(array['endpoint_ms', 'model_ms', 'voice_ms', 'total_ms']) with ordinality as b (stage, k)
$$;
-- +goose StatementEnd
-- +goose StatementBegin
create or replace function note_latencies() returns trigger language plpgsql as $$
begin
    insert into call_latencies (session_id, account_id, agent_id, kind, opened_at, ms)
        select new.session_id, new.account_id, coalesce(new.agent_id, ''), s.kind, s.opened_at, latencies_of(new.turns) from sessions s where s.id = new.session_id
        on conflict (session_id) do update set ms = excluded.ms;
    return null;
end $$;
-- +goose StatementEnd
create or replace trigger note_latencies after insert or update of turns on calls
    for each row when (new.turns <> '[]') execute function note_latencies();

-- Calls of before.
insert into call_latencies (session_id, account_id, agent_id, kind, opened_at, ms)
    select c.session_id, c.account_id, coalesce(c.agent_id, ''), s.kind, s.opened_at, latencies_of(c.turns)
    from calls c join sessions s on s.id = c.session_id where c.turns <> '[]'
    on conflict do nothing;
