// Package aftercall is what is made of calls that have ended: analyses, summaries of the calls of batches, and notes in customer
// databases. Each is claimed for the length of a lease, stored once, and charged to the call in the same transaction,
// Ledger.Afterwards, whatever the prices are by now.
package aftercall

import (
	"parley/store"
	"parley/store/ledger"
)

// Work is what is made of the calls in a database. Several goroutines may use it.
type Work struct {
	db     *store.DB
	ledger *ledger.Ledger
}

// New returns the work on the calls of a database.
func New(db *store.DB) *Work { return &Work{db, ledger.New(db)} }
