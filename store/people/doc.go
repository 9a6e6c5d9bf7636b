// Package people keeps the users of a server and what they may do: users with their
// passwords and roles, memberships in accounts, sign-ins of browsers, links and
// invitations, the keys of programs, the secrets of accounts (Vault), and their keys for
// engines (EngineKeys); and what users keep for themselves (View).
//
// Store has the methods. Secrets of links, browsers and keys are stored as hashes alone. A
// Principal is what a credential allows; the edge reads one with each request.
package people

import "parley/store"

// Store keeps people in a database. Several goroutines may use it.
type Store struct{ db *store.DB }

// New returns the people of a database.
func New(db *store.DB) *Store { return &Store{db} }
