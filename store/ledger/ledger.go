// Package ledger keeps the money of accounts: wallets and credit that expires, sessions with
// their checkpoints and postings, payments, refunds and disputes, automatic recharge, numbers
// paid by the month, and limits of spending. Package verify proves that it is right, and package
// statement reads what an account paid for.
//
// The ledger is double entry and only grows. Sessions in progress do not write to it: they
// accrue on their own row and their wallet, by cumulative checkpoints, and are posted when
// they close. Every transaction that moves money locks the wallet row first, then sessions,
// then lots, each by ascending identifier, at READ COMMITTED. Other packages get such a
// transaction from Ledger.Locked.
//
// Read in this order: wallet.go, sessions.go, checkpoint.go, close.go, post.go, lots.go.
package ledger

import "parley/store"

// Ledger is the money of the accounts in a database. Several goroutines may use it.
type Ledger struct{ db *store.DB }

// New returns the ledger in a database.
func New(db *store.DB) *Ledger { return &Ledger{db} }
