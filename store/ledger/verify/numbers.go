package verify

// monthRevenue is the ledger account that months of numbers are posted to.
const monthRevenue = "revenue:number"

// numberInvariants are those of numbers that are bought: parts of the same list.
// The months are counted by the database's own calendar, which is not the one that
// charges them.
var numberInvariants = []invariant{
	{4, nameHeld, `
		select id, format('holds %s, is %s and has %s months', held_nano, state, period_no) from numbers
		where held_nano <> 0 and (state not in ('ordering', 'releasing') or period_no <> 0)`},
	{8, "bonus credit pays no numbers", `
		select account_id, format('transfer %s is for a number', seq) from new_transfers
		where 'bonus' in (debit, credit) and '` + monthRevenue + `' in (debit, credit)`},
	{10, "each month of a number is charged once, by its card, on its day, and is in the ledger", `
		select c.number_id, format('month %s costs %s by card %s, the ledger has %s by %s', c.period_no, c.amount_nano, c.price_version, t.amount_nano, t.price_version)
		from number_charges c left join ledger_transfers t on t.idem = format('num:%s:%s', c.number_id, c.period_no) and t.leg = 0
			and t.account_id = c.account_id and t.debit = 'paid' and t.credit = '` + monthRevenue + `'
		where c.amount_nano <> coalesce(t.amount_nano, 0) or c.amount_nano > 0 and c.price_version is distinct from t.price_version
		union all select c.number_id, format('month %s costs %s, its card asks %s', c.period_no, c.amount_nano, r.body -> 'phone' ->> 'number_per_month')
			from number_charges c join rate_cards r on r.version = c.price_version
			where c.amount_nano <> (r.body -> 'phone' ->> 'number_per_month')::numeric * 1000000000
		union all select c.number_id, format('month %s given back: %s, by the ledger %s', c.period_no, c.refunded_at is not null, t.amount_nano)
			from number_charges c left join ledger_transfers t on t.idem = format('num:%s:%s:back', c.number_id, c.period_no) and t.leg = 0
				and t.account_id = c.account_id and t.debit = '` + monthRevenue + `' and t.credit = 'paid'
			where case when c.refunded_at is null then 0 else c.amount_nano end <> coalesce(t.amount_nano, 0)
		union all select t.account_id, format('transfer %s is of no month', t.seq) from new_transfers t
			where '` + monthRevenue + `' in (t.debit, t.credit) and not exists (select from number_charges c where c.account_id = t.account_id
				and t.idem in (format('num:%s:%s', c.number_id, c.period_no), format('num:%s:%s:back', c.number_id, c.period_no)))
		union all select n.id, format('charged %s months, the last is %s, counted %s', count(c.period_no), max(c.period_no), n.period_no)
			from numbers n left join number_charges c on c.number_id = n.id and c.account_id = n.account_id
			group by n.id, n.period_no having n.period_no <> count(c.period_no) or n.period_no <> coalesce(max(c.period_no), 0)
		union all select c.number_id, format('month %s began %s, was due %s', c.period_no, ` + monthsAfter("c.period_no - 1") + `, c.due_at)
			from number_charges c join numbers n on n.id = c.number_id where c.due_at <> ` + monthsAfter("c.period_no - 1") + `
		union all select n.id, format('the next month begins %s, is due %s', ` + monthsAfter("n.period_no") + `, n.next_charge_at)
			from numbers n where n.next_charge_at <> ` + monthsAfter("n.period_no") + `
		union all select id, 'costs nothing and is charged' from numbers where carrier = '' and (period_no <> 0 or held_nano <> 0 or charge_at is not null)`},
	{17, "a number is kept unpaid for 30 days at most, and charged never after it was lost", `
		select id, format('its month began %s, it is kept until %s and tried %s', next_charge_at, grace_until, charge_at) from numbers
		where state = 'grace' and (grace_until <> next_charge_at + interval '720 hours' or charge_at > grace_until)
		union all select c.number_id, format('month %s was charged %s, it was lost %s', c.period_no, c.charged_at, n.released_at)
			from number_charges c join numbers n on n.id = c.number_id
			where c.charged_at > n.released_at and c.period_no > 1
		union all select id, format('is %s, a month is to be charged %s', state, charge_at) from numbers
			where state in ('releasing', 'released') and (charge_at is not null or next_charge_at is not null)
		union all select id, 'never came and was not given back' from numbers n where state = 'released' and carrier <> '' and activated_at is null
			and exists (select from number_charges c where c.number_id = n.id and c.refunded_at is null)`},
	{18, "a number that was lost leads nowhere", `
		select id, format('is %s and bound to %s', state, agent_id) from numbers where state in ('releasing', 'released') and agent_id is not null
		union all select id, 'is ' || state || ', without a day' from numbers where state in ('releasing', 'released') and released_at is null
		union all select n.id, format('%s leads to another account, too', n.e164) from numbers n where n.state <> 'released'
			and exists (select from all_numbers o where o.e164 = n.e164 and o.id <> n.id and o.state <> 'released'
				and (o.account_id = n.account_id or n.trunk_id is null and o.trunk_id is null))
		union all select s.id, format('came in for a number that the account had lost %s', max(n.released_at))
			from sessions s join calls c on c.session_id = s.id join numbers n on n.account_id = s.account_id and n.e164 = c.to_number
			where s.kind = 'inbound' group by s.id, s.opened_at
			having bool_and(coalesce(n.released_at < s.opened_at - interval '1 minute', false))`},
}

// monthsAfter is when a month of a number n begins; where a month is too short the
// database takes its last day, as billing.Month does. The minute in the last check
// above is for clocks of nodes that are apart, and calls that are just being taken.
func monthsAfter(months string) string {
	return "((n.anchor_at at time zone 'UTC' + make_interval(months => " + months + ")) at time zone 'UTC')"
}
