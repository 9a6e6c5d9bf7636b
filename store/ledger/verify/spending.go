package verify

// spendingInvariants: the counters beside limits of spending are what the sessions say that
// were charged on that day, and what is held by those that are open. Counters of keys and
// agents are kept while there is a limit.
var spendingInvariants = []invariant{
	{29, "what counts towards a limit of spending is what sessions were charged on the day", `
	select id, format('%s counted on %s, sessions %s; held %s, sessions %s', x.spent_nano, x.spent_day, x.spent, x.held_nano, x.held)
	from (
		select w.account_id as id, w.spent_day, w.spent_nano, u.spent, 0 as held_nano, 0 as held
		from wallets w cross join lateral (select coalesce(sum(u.spent_nano), 0) as spent
			from all_sessions s join all_usage u on u.session_id = s.id
			where s.account_id = w.account_id and u.spent_day = w.spent_day and s.opened_at >= w.spent_day - 8) u
		where w.daily_limit_nano is not null
		union all select k.id, k.spent_day, k.spent_nano, u.spent, k.held_nano, u.held
		from wallets w join api_keys k on k.account_id = w.account_id
			cross join lateral (select coalesce(sum(u.spent_nano) filter (where u.spent_day = k.spent_day), 0) as spent,
				coalesce(sum(u.held_nano) filter (where u.open), 0) as held
			from all_sessions s join all_usage u on u.session_id = s.id
			where s.account_id = k.account_id and u.key_id = k.id and (s.state = 'live' or s.opened_at >= k.spent_day - 8)) u
		where k.daily_limit_nano is not null
		union all select g.id, g.spent_day, g.spent_nano, u.spent, g.held_nano, u.held
		from wallets w join agents g on g.account_id = w.account_id
			cross join lateral (select coalesce(sum(u.spent_nano) filter (where u.spent_day = g.spent_day), 0) as spent,
				coalesce(sum(u.held_nano) filter (where u.open), 0) as held
			from all_sessions s join all_usage u on u.session_id = s.id
			where s.account_id = g.account_id and u.agent_id = g.id and (s.state = 'live' or s.opened_at >= g.spent_day - 8)) u
		where g.daily_limit_nano is not null) x
	where x.spent_nano <> x.spent or x.held_nano <> x.held`},
}
