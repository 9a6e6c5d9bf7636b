package verify

// messageInvariants: a text message is charged once, for what the carrier has taken.
var messageInvariants = []invariant{
	{30, "a message holds its price until the carrier has it and is charged for its segments then", `
		select m.id, format('%s, its session %s of kind %s, counted: %s, %s of %s segments charged', m.status, s.state, s.kind, s.counted, u.segments, m.segments)
		from messages m join sessions s on s.id = m.session_id join session_usage u on u.session_id = s.id
		where s.counted or s.account_id <> m.account_id or s.kind <> case m.direction when 'outbound' then 'message_out' else 'message_in' end
			or u.open <> (m.status = 'queued') or u.segments <> case when m.sent_at is not null then m.segments else 0 end
		union all select s.id, format('of kind %s is no message''s', s.kind) from sessions s
			where s.kind in ('message_out', 'message_in') and not exists (select from messages m where m.session_id = s.id)`},
}
