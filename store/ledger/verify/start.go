package verify

// startInvariants are those of what a session started with. A balance is what was posted
// before, less what sessions that had begun earlier used and was not posted yet. How much
// of that they had used by then is not kept; that it was no more than they used in the
// end is. A session that nothing else overlaps started with exactly what was posted.
var startInvariants = []invariant{
	{13, "no session started below the minimum balance or in a dispute", `
		select s.id, format('started with %s, the minimum is %s', s.start_balance_nano, c.body -> 'wallet' ->> 'min_session_start')
		from sessions s join rate_cards c on c.version = s.price_version
		where s.start_balance_nano < ((c.body -> 'wallet' ->> 'min_session_start')::numeric * 1000000000)
		union all select x.id, format('started with %s, posted before %s, of that %s at most were used', s.start_balance_nano, coalesce(t.balance_after_nano, 0), coalesce(x.used, 0))
		from (select id, sum(delta) over (partition by account_id order by seq, ord, admission rows between unbounded preceding and 1 preceding) as used
				from (select t.account_id, t.seq, 0 as ord, 0 as admission, null as id, -t.amount_nano as delta
						from ledger_transfers t where t.session_id in (select id from overlapping)
					union all select s.account_id, s.start_seq, 1, s.admission, s.id, u.amount_nano
						from overlapping s join session_usage u on u.session_id = s.id) e) x
			join sessions s on s.id = x.id join base b on b.account_id = s.account_id
			left join ledger_transfers t on t.account_id = s.account_id and t.seq = s.start_seq
		where s.start_seq >= b.seq
			and s.start_balance_nano not between coalesce(t.balance_after_nano, 0) - coalesce(x.used, 0) and coalesce(t.balance_after_nano, 0)
		union all select s.id, format('started with %s that was paid in', p.paid)
		from sessions s join rate_cards c on c.version = s.price_version
			join (select account_id, seq, paid_nano as paid from base
				union all select t.account_id, t.seq, b.paid_nano + sum(case 'paid' when t.credit then t.amount_nano when t.debit then -t.amount_nano else 0 end)
					over (partition by t.account_id order by t.seq) from new_transfers t join base b on b.account_id = t.account_id) p
				on p.account_id = s.account_id and p.seq = s.start_seq
		where s.kind in ('outbound', 'message_out') and p.paid < ((c.body -> 'wallet' ->> 'min_session_start')::numeric * 1000000000)
		union all select s.id, 'started while the payment ' || d.ref || ' was disputed'
			from sessions s join disputes d on d.account_id = s.account_id and s.admission > d.opened_after
				and (d.resolved_after is null or s.admission <= d.resolved_after)
		union all select w.account_id, format('%s open disputes, counted %s', count(d.id), w.open_disputes)
			from wallets w left join disputes d on d.account_id = w.account_id and d.resolved_at is null
			group by w.account_id, w.open_disputes having w.open_disputes <> count(d.id)
		union all select w.account_id, format('%s admissions, sessions %s', w.admissions, b.admission + count(s.id))
			from wallets w join base b on b.account_id = w.account_id left join sessions s on s.account_id = w.account_id and s.admission > b.admission
			group by w.account_id, w.admissions, b.admission having w.admissions <> b.admission + count(s.id)`},
	{9, nameCards, `
		select s.id, format('started with %s, its node had %s in force', s.price_version, string_agg(f.price_version, ', ' order by f.no))
		from sessions s join (select *, row_number() over w as nth, lead(since) over w as until
				from node_cards window w as (partition by node_epoch order by no)) f on f.node_epoch = coalesce(s.began_epoch, s.node_epoch)
		where (f.nth = 1 or f.since <= s.opened_at + interval '10 seconds') and (f.until is null or f.until >= s.opened_at - interval '10 seconds')
		group by s.id, s.price_version having not bool_or(f.price_version = s.price_version)`},
}
