package verify

import (
	"fmt"

	"parley/store/tasks"
)

// invariant is one check; its query follows scope and returns a subject and a detail for
// each violation.
type invariant struct {
	number int
	name   string
	sql    string
}

// The names of the invariants whose checks are not one query.
const (
	nameRecomputed = "a closed session costs what its counters cost by its rate card, and that is what was posted"
	nameGrow       = "usage counters never decrease"
	nameSealed     = "the evidence of consent has neither gaps nor changes"
	nameAppendOnly = "stored tables refuse changes"
	nameHeld       = "what is held is what open sessions and orders of numbers hold"
	nameCards      = "a session is charged at the rate-card version it started with"
)

var invariants = []invariant{
	{1, "the paid pot is the sum of its transfers", `
		select w.account_id, format('pot %s, transfers %s', w.paid_nano, b.paid_nano + coalesce(l.total, 0))
		from wallets w join base b using (account_id) left join (` + potTotals + `) l on l.account_id = w.account_id and l.pot = 'paid'
		where w.paid_nano <> b.paid_nano + coalesce(l.total, 0)`},
	{2, "the bonus pot is the sum of its transfers and of its lots", `
		select w.account_id, format('pot %s, transfers %s, lots %s, next expiry %s, of the lots %s', w.bonus_nano,
			b.bonus_nano + coalesce(l.total, 0), coalesce(c.total, 0), w.bonus_expires_at, c.next)
		from wallets w join base b using (account_id) left join (` + potTotals + `) l on l.account_id = w.account_id and l.pot = 'bonus'
			left join (select account_id, sum(remaining_nano) as total, min(expires_at) filter (where remaining_nano > 0) as next
				from credit_lots group by account_id) c on c.account_id = w.account_id
		where w.bonus_nano <> b.bonus_nano + coalesce(l.total, 0) or w.bonus_nano <> coalesce(c.total, 0) or w.bonus_expires_at is distinct from c.next`},
	{3, "what has accrued is the unposted usage of open sessions", `
		select w.account_id, format('any %s, sessions %s; paid %s, sessions %s', w.accrued_any_nano, coalesce(u.any_sum, 0),
			w.accrued_paid_nano, coalesce(u.paid_sum, 0))
		from wallets w left join (select account_id, sum(amount_nano - posted_nano) filter (where not paid_only) as any_sum,
				sum(amount_nano - posted_nano) filter (where paid_only) as paid_sum
			from session_usage where open group by account_id) u using (account_id)
		where w.accrued_any_nano <> coalesce(u.any_sum, 0) or w.accrued_paid_nano <> coalesce(u.paid_sum, 0)`},
	{4, nameHeld, `
		select w.account_id, format('held %s, sessions %s, numbers %s', w.held_nano, coalesce(u.total, 0), coalesce(n.total, 0))
		from wallets w left join (select account_id, sum(held_nano) as total from session_usage where open group by account_id) u
			using (account_id) left join (select account_id, sum(held_nano) as total from numbers group by account_id) n using (account_id)
		where w.held_nano <> coalesce(u.total, 0) + coalesce(n.total, 0)
		union all select session_id, 'closed but still holds ' || held_nano from session_usage where not open and held_nano <> 0`},
	{5, "the live count is the number of live sessions that count, never above the limit at their start", `
		select w.account_id, format('count %s, live sessions %s', w.live_sessions, coalesce(s.n, 0))
		from wallets w left join (select account_id, count(*) as n from sessions where state = 'live' and counted group by account_id) s using (account_id)
		where w.live_sessions <> coalesce(s.n, 0)
		union all select id, format('was number %s of %s', start_live, start_limit) from sessions where start_live > start_limit and counted
		union all select s.id, format('state %s, usage open: %s', s.state, u.open)
			from sessions s left join session_usage u on u.session_id = s.id where u.open is distinct from (s.state = 'live')`},
	{7, "sequence numbers have no gap and each balance follows from the one before", `
		select account_id, format('transfer %s: expected number %s; balance %s, expected %s', seq, expected_seq, balance_after_nano, expected)
		from (select account_id, t.seq, balance_after_nano, b.seq + row_number() over w as expected_seq,
				b.paid_nano + b.bonus_nano + sum(` + walletDelta + `) over w as expected
			from new_transfers t join base b using (account_id) window w as (partition by account_id order by t.seq)) t
		where seq <> expected_seq or balance_after_nano <> expected
		union all select w.account_id, format('last number %s, of the transfers %s', w.last_seq, coalesce(t.seq, b.seq))
			from wallets w join base b using (account_id) left join (select account_id, max(seq) as seq from new_transfers group by 1) t using (account_id)
			where w.last_seq <> coalesce(t.seq, b.seq)`},
	{8, "bonus credit pays no outbound calls and messages", `
		select t.session_id, format('transfer %s of %s', t.seq, t.account_id)
		from new_transfers t join all_sessions s on s.id = t.session_id
		where 'bonus' in (t.debit, t.credit) and s.kind in ('outbound', 'message_out')
		union all select u.session_id, 'may use bonus credit' from session_usage u join sessions s on s.id = u.session_id
			where u.paid_only <> (s.kind in ('outbound', 'message_out'))`},
	{9, nameCards, `
		select s.id, format('started with %s, transfer %s with %s', s.price_version, t.seq, t.price_version)
		from new_transfers t join all_sessions s on s.id = t.session_id where t.price_version is distinct from s.price_version
		union all select s.id, format('started with %s, record with %s', s.price_version, r.price_version)
			from usage_records r join sessions s on s.id = r.session_id where r.price_version <> s.price_version`},
	{10, "each payment, expiry and posting is in the ledger once", `
		select t.idem, format('leg %s is there more than once', t.leg) from new_transfers t
			where exists (select from all_transfers o where o.idem = t.idem and o.leg = t.leg and o.id <> t.id)
		union all select t.idem, 'is shared by accounts' from new_transfers t
			where exists (select from all_transfers o where o.idem = t.idem and o.account_id <> t.account_id)`},
	{11, "money moves between a pot and the account of the system that it is for", `
		select account_id, format('transfer %s of kind %s is from %s to %s', seq, kind, debit, credit) from new_transfers
			where debit = credit or amount_nano <= 0 or (debit in ('paid', 'bonus')) = (credit in ('paid', 'bonus'))
				or session_id is not null and (kind <> 'usage' or credit not like 'revenue:%')
				or kind = 'expiry' and (debit, credit) <> ('bonus', 'promo_expired') or kind in ('welcome', 'bonus') and (debit, credit) <> ('promo', 'bonus')
		union all select coalesce(t.session_id, r.session_id), format('%s received %s, the receipt says %s', coalesce(t.name, r.name), coalesce(t.total, 0), coalesce(r.total, 0))
			from (select session_id, credit as name, sum(amount_nano) as total from ledger_transfers
					where session_id in (select id from sessions) group by 1, 2) t
				full join (select r.session_id, 'revenue:' || r.component as name, sum(r.amount_nano) as total from usage_records r join sessions s on s.id = r.session_id
					group by 1, 2 having sum(r.amount_nano) <> 0) r using (session_id, name)
			where coalesce(t.total, 0) <> coalesce(r.total, 0)`},
	{12, "a session whose clock never started is not charged", `
		select u.session_id, format('amount %s, transfers %s', u.amount_nano, (select count(*) from ledger_transfers t where t.session_id = u.session_id))
		from session_usage u where u.started_at is null and (u.amount_nano <> 0
			or exists (select from ledger_transfers t where t.session_id = u.session_id)
			or exists (select from usage_records r where r.session_id = u.session_id))`},
	{14, "automatic recharge stays within its cap, and each attempt has the amount and the state of its top-up", `
		select a.id, format('with it %s of %s in %s', sum(b.amount_nano), a.cap_nano, a.month)
		from recharge_attempts a join recharge_attempts b on b.account_id = a.account_id and b.month = a.month and b.no <= a.no
		where a.state not in ('failed', 'canceled') and b.state not in ('failed', 'canceled')
			and (b.no = a.no or b.ended_at <= a.created_at) -- later: money for one that had been given up
		group by a.id, a.cap_nano, a.month having sum(b.amount_nano) > a.cap_nano
		union all select a.id, format('made at %s, counted in %s', a.created_at, a.month)
			from recharge_attempts a where a.month <> date_trunc('month', a.created_at at time zone 'UTC')
		union all select a.id, format('%s of %s, its top-up %s of %s', a.state, a.amount_nano, t.state, t.amount_nano)
			from recharge_attempts a join topups t on t.id = a.topup_id
			where not t.automatic or a.account_id <> t.account_id or a.amount_nano <> t.amount_nano
				or case when a.ended_at is null then 'pending' else a.state end <> t.state
		union all select t.id, 'charged a saved card for no attempt'
			from topups t where t.automatic and not exists (select from recharge_attempts a where a.topup_id = t.id)
		union all select account_id, format('%s attempts at once', count(*))
			from recharge_attempts where ended_at is null group by account_id having count(*) > 1
		union all select w.account_id, format('recharged below %s, enabled %s below %s', w.recharge_below_nano, r.enabled, r.threshold_nano)
			from wallets w left join recharges r using (account_id)
			where w.recharge_below_nano is distinct from case when r.enabled then r.threshold_nano end`},
	{21, "a task holds its price until it ends and is charged for its characters when it completes", `
		select t.id, format('%s, its session %s, counted: %s, %s of %s characters charged', t.status, s.state, s.counted, u.tts_chars, t.chars)
		from tts_tasks t join sessions s on s.id = t.session_id join session_usage u on u.session_id = s.id
		where s.counted or s.kind <> 'tts' or u.open <> (t.ended_at is null)
			or u.tts_chars <> case t.status when 'completed' then t.chars else 0 end
		union all select s.id, 'is live, does not count and is neither a task''s nor a message''s'
			from sessions s where s.state = 'live' and not s.counted and not exists (select from tts_tasks t where t.session_id = s.id)
				and not exists (select from messages m where m.session_id = s.id)
		union all select account_id, format('%s tasks at once', count(*))
			from tts_tasks where ended_at is null group by account_id having count(*) > ` + fmt.Sprint(tasks.MaxTasks)},
	{22, "a payment is in the ledger with what was paid, refunded and taken back by banks", `
		select t.id, format('%s, paid %s, credited %s', t.state, t.paid_nano, coalesce(l.amount_nano, 0))
		from topups t left join ledger_transfers l on l.idem = 'pi:' || t.payment_id and l.leg = 0
			and l.account_id = t.account_id and l.credit = 'paid' and l.kind = 'topup'
		where t.paid_nano <> coalesce(l.amount_nano, 0)
		union all select t.id, format('refunded %s, posted %s', t.refunded_nano, r.total)
			from topups t cross join lateral (select coalesce(sum(case l.credit when 'refunds' then l.amount_nano else -l.amount_nano end), 0) as total
				from generate_series(1, t.refund_no + 1) n join ledger_transfers l on l.idem = 're:' || t.payment_id || ':' || n
				where l.account_id = t.account_id and 'refunds' in (l.debit, l.credit)) r
			where t.refunded_nano <> r.total
		union all select r.topup_id, format('refund %s is on its way, and of %s only %s are posted', r.id, r.total_nano, t.refunded_nano)
			from refunds r join topups t on t.id = r.topup_id where r.state = 'asked' and t.refunded_nano < r.total_nano
		union all select d.topup_id, format('dispute %s holds %s, posted %s', d.ref, d.held_nano, coalesce(l.total, 0))
			from disputes d cross join lateral (select sum(case l.credit when 'dispute_hold' then l.amount_nano else -l.amount_nano end) as total
				from ledger_transfers l where l.account_id = d.account_id and l.kind = 'dispute'
					and l.idem in ('dp:' || d.ref || ':out', 'dp:' || d.ref || ':back')) l
			where d.provider is not null and d.held_nano <> coalesce(l.total, 0)
		union all select topup_id, format('dispute %s is %s and open: %s', ref, state, resolved_at is null)
			from disputes where state = 'won' and resolved_at is null
		union all select id, format('transfer %s of %s moves money of no payment', seq, account_id) from (
			select 'ledger' as id, l.seq, l.account_id from new_transfers l where l.kind in ('refund', 'dispute')
				and not exists (select from topups t where t.account_id = l.account_id and l.idem like 're:' || t.payment_id || ':%')
				and not exists (select from disputes d where d.account_id = l.account_id and l.idem in ('dp:' || d.ref || ':out', 'dp:' || d.ref || ':back'))) x`},
}

// walletDelta is what a transfer adds to its account's pots.
const walletDelta = `case when credit in ('paid', 'bonus') then amount_nano else 0 end - case when debit in ('paid', 'bonus') then amount_nano else 0 end`

// potTotals sums each account's transfers by pot.
const potTotals = `select account_id, pot, sum(amount) as total from (
	select account_id, credit as pot, amount_nano as amount from new_transfers where credit in ('paid', 'bonus')
	union all select account_id, debit, -amount_nano from new_transfers where debit in ('paid', 'bonus')) x group by account_id, pot`
