// Package trunks keeps the trunks of accounts: their lines to carriers and exchanges. What their settings
// say is not its business; it keeps secrets sealed, and a source with one account. Of all trunks, the operator's too, it says which
// node registers each (registrars.go).
package trunks

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/store"
)

// Trunk is a line of an account.
type Trunk struct {
	ID        string
	Account   string
	Name      string
	Settings  json.RawMessage // without secrets
	Revision  int64           // higher than that of all changes before, of any trunk
	CreatedAt time.Time
	UpdatedAt time.Time
	Sealed    []byte // its secrets: see Store.Secrets
}

// Secrets are what a trunk's owner writes and nobody is shown.
type Secrets struct {
	Password string `json:"password,omitempty"`         // of ours, for what the trunk challenges
	Inbound  string `json:"inbound_password,omitempty"` // of the far end
	Key      string `json:"key,omitempty"`              // of our certificate, as PEM
}

// Draft is what an owner writes of a trunk.
type Draft struct {
	Name     string
	Settings json.RawMessage
	Secrets  Secrets
	// Sources are where its calls come from, and Digest the user that must identify itself; empty: the source
	// is enough.
	Sources []netip.Prefix
	Digest  string
}

// Max is how many trunks an account may have.
const Max = 20

// Store keeps trunks. Several goroutines may use it.
type Store struct {
	db   *store.DB
	seal Sealer
}

// Sealer seals secrets by the server's master key, for an account and under a name.
type Sealer interface {
	Seal(account, name, secret string) []byte
	Open(account, name string, sealed []byte) (string, error)
}

// New returns the trunks of a database, whose secrets s seals.
func New(db *store.DB, s Sealer) *Store { return &Store{db, s} }

const columns = "id, account_id, name, settings, revision, created_at, updated_at, sealed"

// Create adds a trunk. ErrInvalid: the account has one of that name, or Max; ErrTrunkSource; ErrNotFound: no such account.
func (s *Store) Create(ctx context.Context, account string, d Draft) (t *Trunk, err error) {
	now := s.db.Time(ctx)
	id := store.NewID(store.TrunkID, now)
	err = s.write(ctx, "create trunk", account, id, d, func(tx pgx.Tx) error {
		n, err := store.Scalar[int](ctx, tx, "select count(*) from trunks where account_id = $1", account)
		if err == nil && n >= Max {
			err = store.Invalid("an account has at most %d trunks", Max)
		}
		if err != nil {
			return err
		}
		t, err = store.Row[Trunk](ctx, tx, `insert into trunks (id, account_id, name, settings, sealed, sources, digest, revision, created_at, updated_at)
			select $2, id, $3, $4, $5, $6, $7, nextval('trunk_revisions'), $8, $8 from accounts where id = $1 returning `+columns,
			account, id, d.Name, d.Settings, s.sealed(account, id, d.Secrets), d.Sources, d.Digest, now)
		return err
	})
	return t, err
}

// Replace gives a trunk other settings and secrets. Errors as of Create.
func (s *Store) Replace(ctx context.Context, account, id string, d Draft) (t *Trunk, err error) {
	now := s.db.Time(ctx)
	err = s.write(ctx, "replace trunk", account, id, d, func(tx pgx.Tx) error {
		t, err = store.Row[Trunk](ctx, tx, `update trunks set name = $3, settings = $4, sealed = $5, sources = $6, digest = $7,
				revision = nextval('trunk_revisions'), updated_at = $8
			where account_id = $1 and id = $2 returning `+columns, account, id, d.Name, d.Settings, s.sealed(account, id, d.Secrets), d.Sources, d.Digest, now)
		return err
	})
	return t, err
}

// write runs f in a transaction that no other trunk is written in, once no other account has the sources.
func (s *Store) write(ctx context.Context, op, account, id string, d Draft, f func(pgx.Tx) error) error {
	err := s.db.Tx(ctx, op, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "lock table trunks in share row exclusive mode"); err != nil {
			return err
		}
		// Two accounts behind one carrier differ by the user that identifies itself.
		foreign, err := store.Scalar[bool](ctx, tx, `select exists (select from trunks t, unnest(t.sources) theirs, unnest($2::cidr[]) ours
			where t.account_id <> $1 and theirs && ours and (t.digest = '' or $3 = '' or t.digest = $3))`, account, d.Sources, d.Digest)
		if err == nil && foreign {
			err = store.ErrTrunkSource
		}
		if err != nil {
			return err
		}
		s.db.HintAfter(tx, store.HintTrunks)
		return f(tx)
	})
	if store.Violates(err, "trunks_account_id_name_key") {
		return store.Invalid("name: the account has a trunk %q", d.Name)
	}
	return err
}

// List lists the account's trunks, the newest first.
func (s *Store) List(ctx context.Context, account string, p store.Page) ([]Trunk, error) {
	return store.ListPage[Trunk](ctx, s.db, "list trunks", p, "id", "select "+columns+" from trunks where account_id = $1", account)
}

// Get returns a trunk of the account, by its identifier or its name.
func (s *Store) Get(ctx context.Context, account, id string) (*Trunk, error) {
	return store.First[Trunk](ctx, s.db, "read trunk", "select "+columns+" from trunks where account_id = $1 and $2 in (id, name) order by id = $2 desc", account, id)
}

// Find returns a trunk by its identifier, whosever it is, for a far end that is to prove with its secrets who it is.
func (s *Store) Find(ctx context.Context, id string) (*Trunk, error) {
	return store.First[Trunk](ctx, s.db, "read trunk", "select "+columns+" from trunks where id = $1", id)
}

// Delete ends a trunk. ErrInvalid: numbers are on it.
func (s *Store) Delete(ctx context.Context, account, id string) error {
	err := s.db.Tx(ctx, "delete trunk", func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "update numbers set trunk_id = null where account_id = $1 and trunk_id = $2 and state = 'released'", account, id)
		if err != nil {
			return err
		}
		s.db.HintAfter(tx, store.HintTrunks)
		return store.ErrNotFound.IfUnchanged(tx.Exec(ctx, "delete from trunks where account_id = $1 and id = $2", account, id))
	})
	if store.Violates(err, "numbers_trunk_id_fkey") {
		return store.Invalid("numbers are on the trunk: release them first")
	}
	return err
}

// Mark changes whenever a trunk of any account does.
type Mark string

const selectMark = "select coalesce(max(revision), 0) || ' ' || count(*) from trunks"

// Mark reads it.
func (s *Store) Mark(ctx context.Context) (Mark, error) {
	return store.Value[Mark](ctx, s.db, "look for changed trunks", selectMark)
}

// Follow calls f when a trunk of any account has changed, until ctx ends: when a hint tells of it, and where none does after each
// look that finds a mark for which f has not succeeded. It returns nil.
func (s *Store) Follow(ctx context.Context, f func() error) error {
	var found, followed atomic.Pointer[string]
	hints := s.db.Hints()
	hints.Look(store.Look{Expression: selectMark, Heard: func(mark string) {
		found.Store(&mark)
		if last := followed.Load(); last == nil || *last != mark {
			hints.Hear(store.HintTrunks)
		}
	}})
	return hints.Every(ctx, store.HintTrunks, 0, func() {
		mark := found.Load()
		if f() == nil && mark != nil {
			followed.Store(mark)
		}
	})
}

// All are the trunks of all accounts.
func (s *Store) All(ctx context.Context) ([]Trunk, error) {
	return store.List[Trunk](ctx, s.db, "read trunks", "select "+columns+" from trunks order by id")
}

// sealedAs is the name under which a trunk's secrets are sealed. No secret of an account can have it.
func sealedAs(id string) string { return "trunk:" + id }

func (s *Store) sealed(account, id string, x Secrets) []byte {
	if x == (Secrets{}) {
		return nil
	}
	b, err := json.Marshal(x)
	if err != nil {
		panic(err) // texts
	}
	return s.seal.Seal(account, sealedAs(id), string(b))
}

// Secrets opens those of a trunk.
func (s *Store) Secrets(t *Trunk) (x Secrets, err error) {
	if t.Sealed == nil {
		return x, nil
	}
	text, err := s.seal.Open(t.Account, sealedAs(t.ID), t.Sealed)
	if err == nil {
		err = json.Unmarshal([]byte(text), &x)
	}
	if err != nil {
		return Secrets{}, fmt.Errorf("secrets of the trunk %s: %w", t.ID, err)
	}
	return x, nil
}
