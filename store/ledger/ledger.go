// Package ledger keeps the money of accounts: wallets and credit that expires, sessions with
// their checkpoints and postings, and limits of spending. What is paid into a wallet, and for
// numbers, tasks, messages and work after calls, is in packages above it: payments, numbers, tasks,
// messages, aftercall. Package verify proves that all is right, and package statement reads what an
// account paid for.
//
// The ledger is double entry and only grows. Sessions in progress do not write to it: they
// accrue on their own row and their wallet, by cumulative checkpoints, and are posted when
// they close. Every transaction that moves money locks the wallet row first, then sessions,
// then lots, each by ascending identifier, at READ COMMITTED. Other packages get such a
// transaction from Ledger.Locked: by a Tx they read what the wallet has and whether it is frozen,
// hold and post its money, start and end work that it pays for, and conclude.
//
// Read in this order: wallet.go, tx.go, sessions.go, checkpoint.go, minutes.go, close.go, post.go, lots.go.
package ledger

import "parley/store"

// Ledger is the money of the accounts in a database. Several goroutines may use it.
type Ledger struct{ db *store.DB }

// New returns the ledger in a database.
func New(db *store.DB) *Ledger { return &Ledger{db} }
