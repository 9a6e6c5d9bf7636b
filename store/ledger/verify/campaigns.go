package verify

// campaignInvariants: what was dialled in bulk was dialled once.
var campaignInvariants = []invariant{
	{25, "a row of a batch has one call at most, and a call of a batch has its row", `
		select r.id, format('%s, its call %s to %s is %s', r.status, s.id, c.to_number, s.state)
		from campaign_rows r join sessions s on s.id = r.session_id left join calls c on c.session_id = s.id
		where s.kind <> 'outbound' or s.account_id <> r.account_id or c.to_number <> r.to_number or (r.status = 'dialing') <> (s.state = 'live')
		union all select session_id, format('is the call of %s rows', count(*)) from campaign_rows where session_id is not null
			group by session_id having count(*) > 1
		union all select r.id, format('%s without a call', r.status) from campaign_rows r
			where r.status in ('dialing', 'sent') and r.session_id is null or r.status = 'pending' and r.session_id is not null
		union all select s.id, 'was dialled for row ' || s.row_id || ', which has another call or none'
			from sessions s left join campaign_rows r on r.id = s.row_id
			where s.row_id is not null and r.session_id is distinct from s.id
		union all select r.id, 'its call does not say so' from campaign_rows r join sessions s on s.id = r.session_id where s.row_id is distinct from r.id
		union all select r.id, 'has a summary and no answered call' from campaign_rows r left join session_usage u on u.session_id = r.session_id
			where r.summary is not null and u.started_at is null
		union all select r.id, format('calls again after row %s, which is %s', b.id, b.status) from campaign_rows r join campaign_rows b on b.id = r.retry_of
			where b.session_id is null or b.status not in ('sent', 'failed') or b.to_number <> r.to_number or b.campaign_id <> r.campaign_id or b.attempt + 1 <> r.attempt`},
}
