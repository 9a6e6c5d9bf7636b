-- What calls are sorted by: how long they lasted, what they cost and how they sounded. It stands beside them, in rows
-- that are narrow and written once, as the usage of a session is written too often for an index.

-- +goose Up
create table call_ranks (
    session_id text collate "C" primary key references calls on delete cascade,
    account_id text collate "C" not null,
    talk_ms    bigint, -- null: the call lasts, as the next
    cost_nano  bigint,
    mos        double precision -- null: not known
);
create index call_ranks_talk on call_ranks (account_id, talk_ms, session_id) where talk_ms is not null;
create index call_ranks_cost on call_ranks (account_id, cost_nano, session_id) where cost_nano is not null;
create index call_ranks_mos on call_ranks (account_id, mos, session_id) where mos is not null;

-- Triggers write them, so that a server of the version before keeps them as well.
-- +goose StatementBegin
create function rank_ended() returns trigger language plpgsql as $$
begin
    insert into call_ranks (session_id, account_id, talk_ms, cost_nano)
        select c.session_id, c.account_id, greatest(0, coalesce(floor(extract(epoch from
            case when new.end_detail = 'node_lost' then greatest(new.opened_at, u.started_at, u.ckpt_at) else new.ended_at end - u.started_at) * 1000), 0))::bigint, u.amount_nano
        from calls c join session_usage u on u.session_id = c.session_id where c.session_id = new.id
        on conflict (session_id) do update set talk_ms = excluded.talk_ms, cost_nano = excluded.cost_nano;
    return null;
end $$;

create function rank_cost() returns trigger language plpgsql as $$
begin
    update call_ranks set cost_nano = new.amount_nano where session_id = new.session_id;
    return null;
end $$;

create function rank_sound() returns trigger language plpgsql as $$
begin
    insert into call_ranks (session_id, account_id, mos) select c.session_id, c.account_id, new.mos from calls c where c.session_id = new.session_id
        on conflict (session_id) do update set mos = excluded.mos;
    return null;
end $$;
-- +goose StatementEnd
