package verify

import "fmt"

// overdueNumber is the invariant of what the server does in time.
const overdueNumber = 28

// overdue says in SQL that a node has been there for a while since something was due. A
// server that was switched off, and was started just now, is not late.
func overdue(due, while string) string {
	return fmt.Sprintf("exists (select from nodes n where n.heartbeat_at > greatest(n.started_at, %s) + interval '%s')", due, while)
}

// overdueInvariants find what waits for ever. Each time is several times what it takes
// when all goes well.
var overdueInvariants = []invariant{
	{overdueNumber, "what is due is done", `
		select l.account_id, format('credit %s of %s ended %s and is still there', l.id, l.remaining_nano, l.expires_at)
			from credit_lots l where l.remaining_nano > 0 and ` + overdue("l.expires_at", "1 hour") + `
		union all select m.id, format('a month was to be charged %s', m.charge_at)
			from numbers m where m.charge_at is not null and ` + overdue("m.charge_at", "1 day") + `
		union all select m.id, format('is %s and holds %s since %s', m.state, m.held_nano, m.created_at)
			from numbers m where m.held_nano <> 0 and ` + overdue("coalesce(m.released_at, m.created_at)", "7 days") + `
		union all select t.id, format('a payment of %s is %s since %s', t.amount_nano, t.state, t.created_at)
			from topups t where (t.state = 'pending' or t.state = 'created' and t.automatic) and ` + overdue("t.created_at", "7 days") + `
		union all select r.id, format('a refund of %s was asked for %s', r.amount_nano, r.created_at)
			from refunds r where r.state = 'asked' and ` + overdue("r.created_at", "7 days") + `
		union all select s.id, format('of %s, epoch %s, is live, holds %s and was last heard of %s', s.node_id, s.node_epoch, u.held_nano, coalesce(u.ckpt_at, s.opened_at))
			from sessions s join session_usage u on u.session_id = s.id
			where s.state = 'live' and s.counted and ` + overdue("coalesce(u.ckpt_at, s.opened_at)", "10 minutes") + `
		union all select t.id, format('is %s since %s and holds its price', t.status, t.created_at)
			from tts_tasks t where t.ended_at is null and ` + overdue("t.created_at", "7 days") + `
		union all select m.id, format('is %s since %s and holds its price', m.status, m.created_at)
			from messages m where m.status = 'queued' and ` + overdue("m.created_at", "1 day")},
}
