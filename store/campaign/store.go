// Package campaign keeps batches of calls and their rows: created, listed, paused, resumed,
// cancelled, and rows claimed by the node that dials them. Store has the methods.
//
// It changes no wallet: Store.CreateCampaign asks a ledger.Tx whether the account may call.
// The ledger binds a row to the session that dials it, and ends the row with the session.
package campaign

import "parley/store"

// Store keeps batches of calls in a database. Several goroutines may use it.
type Store struct{ db *store.DB }

// New returns the batches in a database.
func New(db *store.DB) *Store { return &Store{db} }
