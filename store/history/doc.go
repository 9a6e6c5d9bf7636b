// Package history keeps the calls of accounts after the fact: what was said in them, how
// they went on the wire, their logs, replays and recordings.
//
// Store has the methods. A call's session, its usage and its cost belong to the ledger; here
// they are only read. What was said can be deleted, by request or by an account's own limit
// (Store.ForgetCall, Store.ExpireCalls); that there was the call stays.
package history

import "parley/store"

// Store keeps the history of calls in a database. Several goroutines may use it.
type Store struct{ db *store.DB }

// New returns the history in a database.
func New(db *store.DB) *Store { return &Store{db} }
