// Package passports keeps what nodes need to take over the calls of one that has died: for each call a document, which its node writes
// again whenever the call is further. They are written often and are lost with the database's process, which then has its own troubles.
package passports

import (
	"context"
	"time"

	"parley/store"
)

// MostTaken is how often in a row a call is taken over. One that ends its nodes ends none after that.
const MostTaken = 2

// settled is how long a call goes on after it was taken over before that counts no more.
const settled = time.Minute

// Store keeps passports.
type Store struct{ db *store.DB }

// New returns a store.
func New(db *store.DB) *Store { return &Store{db} }

// Passport is one of a session.
type Passport struct {
	Account, Session string
	Text             []byte
}

// Save stores passports of sessions that a life of a node has, in place of what was there. Of others nothing is stored.
func (s *Store) Save(ctx context.Context, me store.Node, list []Passport) error {
	accounts, sessions, texts := make([]string, len(list)), make([]string, len(list)), make([][]byte, len(list))
	for i, p := range list {
		accounts[i], sessions[i], texts[i] = p.Account, p.Session, p.Text
	}
	return s.db.Do(ctx, "save passports", `insert into call_passports as old (session_id, account_id, passport)
		select p.session, p.account, p.passport from unnest($2::text[] collate "C", $3::text[] collate "C", $4::bytea[]) as p (account, session, passport)
			join session_usage u on u.session_id = p.session and u.account_id = p.account where u.open and u.node_epoch = $1
		order by p.session
		on conflict (session_id) do update set passport = excluded.passport, taken = case when old.taken_at < now() - $5::interval then 0 else old.taken end`,
		me.Epoch, accounts, sessions, texts, settled)
}

// Take reads the passport of a session of the account, for a node that takes the session over, and counts that. store.ErrNotFound: there
// is none, or the session has been taken over too often.
func (s *Store) Take(ctx context.Context, account, session string) (text []byte, err error) {
	err = s.db.One(ctx, "take passport", `update call_passports set taken = taken + 1, taken_at = now()
		where session_id = $2 and account_id = $1 and taken < $3 returning passport`, []any{account, session, MostTaken}, &text)
	return text, err
}

// Has says which sessions have a passport with which they can be taken over.
func (s *Store) Has(ctx context.Context, sessions []string) (map[string]bool, error) {
	found, err := store.List[string](ctx, s.db, "look for passports", "select session_id from call_passports where session_id = any($1) and taken < $2", sessions, MostTaken)
	has := make(map[string]bool, len(found))
	for _, id := range found {
		has[id] = true
	}
	return has, err
}

// Drop deletes the passports of sessions.
func (s *Store) Drop(ctx context.Context, sessions []string) error {
	return s.db.Do(ctx, "drop passports", "delete from call_passports where session_id = any($1)", sessions)
}

// Sweep deletes the passports of sessions that are over, which their nodes have not dropped.
func (s *Store) Sweep(ctx context.Context) error {
	return s.db.Do(ctx, "sweep passports", "delete from call_passports p using sessions s where s.id = p.session_id and s.state <> 'live'")
}
