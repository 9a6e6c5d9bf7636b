package verify

// warningInvariants are those of what accounts are warned of.
var warningInvariants = []invariant{
	{24, "a warning of a low balance or a dispute holds once, and while it is so", `
		select account_id, format('%s warnings of a low balance hold, low since %s', count(*), low_since)
		from warnings join wallets using (account_id) where kind = 'balance.low' and cleared_at is null
		group by account_id, low_since having count(*) > 1 or low_since is null
		union all select x.account_id, format('is warned of dispute %s, which is resolved', d.ref)
			from warnings x join disputes d on d.id::text = x.about and d.account_id = x.account_id
			where x.kind = 'dispute.opened' and x.cleared_at is null and d.resolved_at is not null
		union all select d.account_id, format('is not warned of dispute %s', d.ref)
			from disputes d join warnings x on x.about = d.id::text and x.account_id = d.account_id and x.kind = 'dispute.opened'
			where d.resolved_at is null and x.cleared_at is not null`},
}
