package verify

import "fmt"

// sameTime is by how many milliseconds a call may have lasted longer, or shorter, than it
// is charged for. Its counter and its end are read off clocks of one process; this is
// for one that is set meanwhile.
const sameTime = 5000

// evidenceInvariants compare the counters of a session with what is known of it
// otherwise. Where the session was not closed by the process that ran it (node_lost), its
// last checkpoint counts, in the customer's favour: then it may have used more.
// Generations are stored with the conversation, if the database was there: with all of
// it or with nothing, 5,000 at most.
var evidenceInvariants = []invariant{
	{26, "what is charged is what the call lasted and the model took", fmt.Sprintf(`
		with ended as (
			select s.*, u.started_at, u.agent_ms, u.line_ms, u.line_granted, s.end_detail = 'node_lost' as lost,
				case s.kind when 'web' then u.agent_ms else u.line_ms end as charged_ms,
				extract(epoch from s.ended_at - u.started_at) * 1000 as lasted_ms
			from sessions s join session_usage u on u.session_id = s.id where s.state = 'closed' and s.kind in ('web', 'inbound', 'outbound'))
		select id, format('lasted %%s ms, is charged for %%s', lasted_ms::bigint, charged_ms) from ended
			where charged_ms > lasted_ms + %[1]d or charged_ms < lasted_ms - %[1]d and not lost
		union all select id, format('the agent is charged for %%s ms, the line for %%s', agent_ms, line_ms) from ended
			where kind <> 'web' and agent_ms <> 0 and abs(agent_ms + agent_away_ms - line_ms) > %[1]d
		union all select id, format('minute %%s of the line was asked for, %%s ms are charged', line_granted, line_ms) from ended
			where line_ms < (line_granted - 1) * 60000 - 10000 - %[1]d and not lost
		union all select e.id, 'was answered, and has no start' from ended e join calls c on c.session_id = e.id
			where e.started_at is null and not e.lost and (c.answered_by is not null or jsonb_array_length(c.transcript) > 0 or e.line_granted > 1
				or exists (select from call_generations g where g.session_id = e.id and g.kind = 'reply' and g.outcome in ('committed', 'interrupted')))
		union all select id, format('replies took %%s and gave %%s tokens, counted are %%s and %%s', g.took, g.gave, g.counted_in, g.counted_out)
			from (select e.id, count(*) as runs, sum(g.in_tokens) as took, sum(g.out_tokens) as gave,
					u.reply_in + u.speculative_in as counted_in, u.reply_out + u.speculative_out as counted_out
				from ended e join session_usage u on u.session_id = e.id join call_generations g on g.session_id = e.id
				where g.kind <> 'summary' and not g.own and not e.lost group by 1, 5, 6) g
			where g.runs < 5000 and (g.took <> g.counted_in or g.gave <> g.counted_out)
		union all select id, format('summaries took %%s and gave %%s tokens, counted are %%s and %%s', g.took, g.gave, g.counted_in, g.counted_out)
			from (select s.id, sum(g.in_tokens) as took, sum(g.out_tokens) as gave, u.summary_in as counted_in, u.summary_out as counted_out
				from sessions s join session_usage u on u.session_id = s.id join call_generations g on g.session_id = s.id
				where g.kind = 'summary' and not g.own and s.state = 'closed' group by 1, 4, 5) g
			where g.took <> g.counted_in or g.gave <> g.counted_out
		union all select id, format('completions on own keys took %%s and gave %%s tokens, counted are %%s and %%s', g.took, g.gave, g.counted_in, g.counted_out)
			from (select e.id, count(*) as runs, sum(g.in_tokens) as took, sum(g.out_tokens) as gave, u.own_in as counted_in, u.own_out as counted_out
				from ended e join session_usage u on u.session_id = e.id join call_generations g on g.session_id = e.id
				where g.own and not e.lost group by 1, 5, 6) g
			where g.runs < 5000 and (g.took <> g.counted_in or g.gave <> g.counted_out)`, sameTime)},
}
