-- Calls that ended before.

-- +goose Up
insert into call_ranks (session_id, account_id, talk_ms, cost_nano, mos)
    select c.session_id, c.account_id, greatest(0, coalesce(floor(extract(epoch from
        case when s.end_detail = 'node_lost' then greatest(s.opened_at, u.started_at, u.ckpt_at) else s.ended_at end - u.started_at) * 1000), 0))::bigint, u.amount_nano, w.mos
    from calls c join sessions s on s.id = c.session_id join session_usage u on u.session_id = c.session_id left join call_wire w on w.session_id = c.session_id
    where s.state = 'closed'
    on conflict do nothing;
