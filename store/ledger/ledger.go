// Package ledger keeps the money of accounts: wallets and credit that expires, sessions with
// their checkpoints and postings, payments, refunds and disputes, automatic recharge, numbers
// paid by the month, limits of spending, and the verification of it all.
//
// The ledger is double entry and only grows. Sessions in progress do not write to it: they
// accrue on their own row and their wallet, by cumulative checkpoints, and are posted when
// they close. Every transaction that moves money locks the wallet row first, then sessions,
// then lots, each by ascending identifier, at READ COMMITTED. Other packages get such a
// transaction from Ledger.Locked.
//
// Verify recomputes balances and prices and compares them with what is known otherwise: how
// long calls lasted, what models used, which card a node had in force. It takes a hundred
// accounts at a time, each on a short snapshot, and notes how far they were in order;
// VerifyNew begins there.
//
// Read in this order: wallet.go, sessions.go, checkpoint.go, close.go, post.go, lots.go.
package ledger

import "parley/store"

// Ledger is the money of the accounts in a database. Several goroutines may use it.
type Ledger struct{ db *store.DB }

// New returns the ledger in a database.
func New(db *store.DB) *Ledger { return &Ledger{db} }
