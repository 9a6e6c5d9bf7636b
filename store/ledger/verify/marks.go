package verify

import (
	"context"

	"github.com/jackc/pgx/v5"

	"parley/store"
)

// mark is how far an account was found in order: its transfers up to seq, with what was in
// the pots and the lots then, its sessions up to admission, all closed, and its evidence
// of consent.
type mark struct {
	Account          string
	Seq, Paid, Bonus int64
	Admission        int64
	Lots             []byte // remaining nano-dollars by identifier, JSON
	ConsentNo        int64
	ConsentSeal      []byte
}

func (p *portion) marks(ctx context.Context) ([]mark, error) {
	return store.Rows[mark](ctx, p.tx, `select w.account_id, w.last_seq, w.paid_nano, w.bonus_nano,
			coalesce((select min(s.admission) - 1 from sessions s where s.account_id = w.account_id and s.state = 'live'), w.admissions),
			coalesce((select jsonb_object_agg(l.id, l.remaining_nano) from credit_lots l where l.account_id = w.account_id and l.remaining_nano > 0), '{}'),
			coalesce(c.no, 0), c.seal
		from wallets w left join lateral (select no, seal from consent_audit a where a.account_id = w.account_id order by no desc limit 1) c on true
		where w.account_id = any($1)`, p.accounts)
}

func (v *verification) mark(ctx context.Context, reached []mark) error {
	b := &pgx.Batch{}
	for _, m := range reached {
		b.Queue(`insert into verified as v (account_id, seq, paid_nano, bonus_nano, admission, lots, consent_no, consent_seal)
			values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (account_id) do update set seq = $2, paid_nano = $3, bonus_nano = $4,
				admission = $5, lots = $6, consent_no = $7, consent_seal = $8 where v.seq <= $2`,
			m.Account, m.Seq, m.Paid, m.Bonus, m.Admission, m.Lots, m.ConsentNo, m.ConsentSeal)
	}
	return v.db.Pool().SendBatch(ctx, b).Close()
}
