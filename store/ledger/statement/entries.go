// Package statement reads what an account paid for: the entries of its ledger, its usage summed up in groups, and the receipts of its
// sessions. It locks no wallet, and several answers that are read in one store.Statement agree.
package statement

import (
	"context"

	"parley/store"
	"parley/store/ledger"
)

// Page is a part of an account's ledger, newest first.
type Page struct {
	store.Range
	Kind   ledger.TransferKind // empty: all
	Before int64               // below this sequence number; 0: from the newest
	Limit  int                 // at most this many; above 0
}

// Entries returns transfers of the account.
func Entries(ctx context.Context, s *store.Statement, p Page) ([]ledger.Transfer, error) {
	from, to := p.Bounds()
	return store.Rows[ledger.Transfer](ctx, s.Tx, `select seq, kind, debit, credit, amount_nano,
		balance_after_nano, session_id, price_version, created_at from ledger_transfers
		where account_id = $1 and created_at >= $2 and created_at < $3 and ($4 = '' or kind = $4) and ($5 = 0 or seq < $5)
		order by seq desc limit $6`, s.Account(), from, to, string(p.Kind), p.Before, p.Limit)
}
