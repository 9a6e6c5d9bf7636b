package verify

// floorInvariants: an account goes below its overdraft floor only by what cannot be
// stopped at once.
//
// An account's balance is known exactly when none of its sessions is open. So the
// ledger is looked at in stretches: sessions that overlap, from the first one's start
// to the last one's posting. What left the pots in a stretch otherwise (refunds,
// disputes, adjustments, expired credit, numbers) ends sessions earlier than it shows
// here, and is added again. Once the floor is reached nothing starts, so those who
// went beyond it are the last to be posted, no more than there were at once; each may
// have used a minute of time and what comes in lumps: replies, functions, and work
// that was priced and held before.
//
// A server that works as it should stays far within that: 13 s of time (5 until the
// next checkpoint, 8 to finish the sentence and say goodbye) and the tokens of one
// reply each. The records do not say how much of a session came after the floor, so
// that cannot be asked for here:
//   - Counters are totals. Which reading crossed the floor is not kept, for it would
//     be one more write with each checkpoint.
//   - A database that is away is not in the books. Calls go on for 30 s then, with the
//     rounds that wait for it, and say goodbye after that: about 45 s, and more replies
//     than one. A minute covers it on a slow machine; less would call a ledger wrong
//     after every restart of the database that met an account at its floor.
//   - Line minutes begin whole.
//   - Completions are kept one by one in call_generations, but without a time: the
//     dearest eight that are possible count as those that could not be stopped. Where they
//     are not there (what was said was deleted, or never stored), all of them do.
//
// What open sessions have used is not posted: what those that overlap them left is
// looked at without waiting for them.
var floorInvariants = []invariant{
	{16, "no account goes further below zero than the overdraft and what its sessions use until they have said goodbye", `
	with generated as (
		select session_id, 8 * max(in_tokens) as most_in, 8 * max(out_tokens) as most_out from call_generations
		where session_id in (select id from overlapping) and kind <> 'summary' group by session_id having count(*) < 5000),
	used as (
		select s.account_id, s.id, s.kind, s.price_version, s.start_seq, s.admission, s.start_live, u.open,
			coalesce((select max(t.seq) from ledger_transfers t where t.session_id = s.id), s.start_seq) as last_seq,
			coalesce((select sum(case when r.component in ('agent', 'line') then least(r.amount, r.price)
					when r.component in ('crm', 'web_search') then least(r.amount, 8 * r.price)
					when r.component in ('llm_reply_input', 'llm_speculative_input') then least(r.amount, ceil(r.amount * coalesce(g.most_in, r.qty) / greatest(r.qty, 1)))
					when r.component in ('llm_reply_output', 'llm_speculative_output') then least(r.amount, ceil(r.amount * coalesce(g.most_out, r.qty) / greatest(r.qty, 1)))
					else r.amount end)
				from (select component, sum(qty) as qty, sum(amount_nano) as amount, max(unit_price_nano) as price from usage_records
					where session_id = s.id group by component) r), 0) as slack
		from overlapping s join session_usage u on u.session_id = s.id left join generated g on g.session_id = s.id),
	marked as (
		select *, case when start_seq >= max(reaches) over w or max(reaches) over w is null then 1 else 0 end as begins
		from (select *, case when open then 9223372036854775807 else last_seq end as reaches from used) u window w as (partition by account_id order by admission rows between unbounded preceding and 1 preceding)),
	grouped as (select *, sum(begins) over (partition by account_id order by admission) as stretch from marked),
	ranked as (select *, row_number() over (partition by account_id, stretch order by last_seq desc) as from_last,
			max(start_live) over (partition by account_id, stretch) as at_once from grouped),
	stretches as (
		select account_id, min(start_seq) as first_seq, max(last_seq) as last_seq, max(price_version) as version,
			sum(slack) filter (where from_last <= at_once or kind in ('tts', 'stt', 'denoise', 'test', 'message_out', 'message_in')) as slack
		from ranked group by account_id, stretch)
	select x.account_id, format('transfer %s left %s; of that %s was taken otherwise, %s may be below the floor', x.last_seq, l.balance_after_nano, x.taken, x.slack)
	from (select s.*, (select coalesce(sum(t.amount_nano), 0) from ledger_transfers t where t.account_id = s.account_id and t.kind <> 'usage'
			and t.debit in ('paid', 'bonus') and t.seq > s.first_seq and t.seq <= s.last_seq) as taken from stretches s where s.last_seq > s.first_seq) x
		join ledger_transfers l on l.account_id = x.account_id and l.seq = x.last_seq
		join rate_cards c on c.version = x.version
	where l.balance_after_nano + x.taken < -((c.body -> 'wallet' ->> 'overdraft')::numeric * 1000000000) - x.slack`},
}
