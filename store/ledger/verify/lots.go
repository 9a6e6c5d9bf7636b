package verify

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/billing"
	"parley/store/ledger"
)

const nameLots = "bonus credit is used before money, what ends first is used first, and it ends when it ends"

// bonus is the ledger account of an account's bonus credit.
const bonus = "bonus"

// bonusLot is a lot with what is left of it as far as the transfers were read.
type bonusLot struct {
	id, source            string
	granted, stored, left billing.Money
	expires               time.Time
}

// bonusMove is a transfer that bonus credit takes part in, or could have: the paid share of
// a session that may use it.
type bonusMove struct {
	Account      string
	Seq          int64
	Idem, Debit  string
	Credit, Kind string
	Amount       billing.Money
	At           time.Time
}

// lots goes through the transfers of bonus credit and carries them out on the lots
// once more.
func (p *portion) lots(ctx context.Context) error {
	lots, err := p.readLots(ctx)
	if err != nil {
		return err
	}
	rows, err := p.tx.Query(ctx, scope+`select t.account_id, t.seq, t.idem, t.debit, t.credit, t.kind, t.amount_nano, t.created_at
		from new_transfers t left join all_sessions s on s.id = t.session_id
		where 'bonus' in (t.debit, t.credit) or t.debit = 'paid' and s.kind not in ('outbound', 'message_out') order by t.account_id, t.seq`, p.accounts, p.Whole)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		m, err := pgx.RowToStructByPos[bonusMove](rows)
		if err != nil {
			return err
		}
		if wrong := m.apply(lots[m.Account]); wrong != "" {
			p.add(27, nameLots, m.Account, "transfer %d: %s", m.Seq, wrong)
		}
	}
	for _, account := range slices.Sorted(maps.Keys(lots)) {
		for _, l := range lots[account] {
			if l.left != l.stored {
				p.add(27, nameLots, account, "%s are left of lot %s, by the transfers %s", l.stored, l.id, l.left)
			}
		}
	}
	return rows.Err()
}

// readLots returns each account's lots in the order in which they are used, with what was
// left of them when the account was last found in order.
func (p *portion) readLots(ctx context.Context) (map[string][]*bonusLot, error) {
	rows, err := p.tx.Query(ctx, scope+`select l.account_id, b.lots, l.id, l.source, l.granted_nano, l.remaining_nano, l.expires_at
		from credit_lots l join base b on b.account_id = l.account_id order by l.account_id, l.expires_at, l.id`, p.accounts, p.Whole)
	if err != nil {
		return nil, err
	}
	lots := map[string][]*bonusLot{}
	var account string
	var base []byte
	var l bonusLot
	_, err = pgx.ForEachRow(rows, []any{&account, &base, &l.id, &l.source, &l.granted, &l.stored, &l.expires}, func() error {
		left := map[string]int64{} // and not Money, whose JSON is dollars
		if err := json.Unmarshal(base, &left); err != nil {
			return err
		}
		l.left = billing.Money(left[l.id])
		of := l
		lots[account] = append(lots[account], &of)
		return nil
	})
	return lots, err
}

// apply carries the transfer out on the account's lots and says what is wrong with it.
func (m *bonusMove) apply(lots []*bonusLot) string {
	switch {
	case m.Credit == bonus:
		i := slices.IndexFunc(lots, func(l *bonusLot) bool { return l.source == m.Idem })
		if i < 0 || lots[i].granted != m.Amount {
			return "grants credit that has no lot of its amount"
		}
		lots[i].left += m.Amount
	case m.Kind == string(ledger.Expiry):
		id := strings.TrimSuffix(strings.TrimPrefix(m.Idem, "lot:"), ":exp")
		i := slices.IndexFunc(lots, func(l *bonusLot) bool { return l.id == id })
		if i < 0 || lots[i].left != m.Amount {
			return "ends credit that is not there"
		}
		lots[i].left = 0
		if m.At.Before(lots[i].expires) {
			return fmt.Sprintf("ends lot %s at %s, which ends %s", id, m.At.Format(time.RFC3339), lots[i].expires.Format(time.RFC3339))
		}
	case m.Debit == bonus:
		due := m.Amount
		for _, l := range lots {
			take := min(due, l.left)
			l.left -= take
			due -= take
		}
		if due > 0 {
			return "uses more credit than there is"
		}
	default:
		var left billing.Money
		for _, l := range lots {
			left += l.left
		}
		if left > 0 {
			return fmt.Sprintf("takes %s of what was paid while %s of credit are left", m.Amount, left)
		}
	}
	return ""
}
