package verify

// scope puts the accounts $1 in the place of all: what follows it sees them alone, and of
// sessions those that are new since the account was last found in order, or $2 all, or
// that something was posted to since. All transfers of the accounts are ledger_transfers,
// the new ones new_transfers. What the account had then is base.
const scope = `with base as materialized (
	select w.account_id, coalesce(v.seq, 0) as seq, coalesce(v.paid_nano, 0) as paid_nano, coalesce(v.bonus_nano, 0) as bonus_nano,
		coalesce(v.admission, 0) as admission, coalesce(v.lots, '{}') as lots, coalesce(v.consent_no, 0) as consent_no, v.consent_seal
	from wallets w left join verified v on v.account_id = w.account_id and not $2::boolean where w.account_id = any($1::text[])),
all_transfers as not materialized (select * from ledger_transfers),
all_sessions as not materialized (select * from sessions),
all_numbers as not materialized (select * from numbers),
all_usage as not materialized (select * from session_usage),
ledger_transfers as not materialized (select * from all_transfers where account_id = any($1)),
new_transfers as not materialized (select t.* from all_transfers t join base b on b.account_id = t.account_id and t.seq > b.seq),
sessions as not materialized (
	select s.* from all_sessions s join base b on b.account_id = s.account_id and s.admission > b.admission
	union all select s.* from all_sessions s join base b on b.account_id = s.account_id and s.admission <= b.admission
		where s.id in (select session_id from new_transfers where session_id is not null)),
overlapping as not materialized (
	select * from sessions
	union all select s.* from all_sessions s join base b on b.account_id = s.account_id and s.admission <= b.admission
		join (select f.account_id, min(f.opened_at) as since from all_sessions f join base b on b.account_id = f.account_id and f.admission > b.admission
			group by 1) f on f.account_id = s.account_id and s.ended_at >= f.since - interval '1 minute'
		where s.id not in (select session_id from new_transfers where session_id is not null)),
session_usage as not materialized (select u.* from session_usage u join overlapping s on s.id = u.session_id),
usage_records as not materialized (select r.* from usage_records r join overlapping s on s.id = r.session_id),
wallets as not materialized (select * from wallets where account_id = any($1)),
credit_lots as not materialized (select * from credit_lots where account_id = any($1)),
disputes as not materialized (select * from disputes where account_id = any($1)),
topups as not materialized (select * from topups where account_id = any($1)),
refunds as not materialized (select * from refunds where account_id = any($1)),
recharges as not materialized (select * from recharges where account_id = any($1)),
recharge_attempts as not materialized (select * from recharge_attempts where account_id = any($1)),
tts_tasks as not materialized (select * from tts_tasks where account_id = any($1)),
messages as not materialized (select * from messages where account_id = any($1)),
numbers as not materialized (select * from numbers where account_id = any($1)),
number_charges as not materialized (select * from number_charges where account_id = any($1)),
warnings as not materialized (select * from warnings where account_id = any($1)),
campaign_rows as not materialized (select r.* from campaign_rows r
	where r.account_id = any($1) and (r.session_id is null or r.session_id in (select id from sessions)))
`
