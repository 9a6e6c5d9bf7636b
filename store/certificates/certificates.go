// Package certificates keeps what the nodes of a server share of a certificate that an authority
// issues over ACME (RFC 8555): their account there, the certificate and the order for it, and the
// answers to the challenges by which the authority checks that a name is theirs. One node at a time
// orders. The server's master key seals all keys.
package certificates

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/store"
	"parley/store/people"
)

// Lease is how long a node has for an order before another one takes it for dead. It counts by the
// database's clock.
const Lease = 5 * time.Minute

// readAgain is how old a certificate is at least, that this server's master key does not open, when
// another is ordered: nodes with different keys would use up what the authority grants in a week.
const readAgain = 24 * time.Hour

// Store keeps accounts, certificates and answers. Several goroutines may use it.
type Store struct {
	db   *store.DB
	seal *people.Vault
}

// New returns the certificates in a database, whose keys a vault seals.
func New(db *store.DB, seal *people.Vault) *Store { return &Store{db, seal} }

// owner is the account under which keys are sealed. No account of a user has such a name.
const owner = "acme"

// Account is who an authority knows the server as.
type Account struct {
	Key     string // PEM
	URI     string // empty: the key is not registered yet
	Contact string // as the authority has it; empty: none
}

// Account returns the account at an authority. ErrNotFound: there is none yet; ErrUnsealed: another
// master key has sealed its key.
func (s *Store) Account(ctx context.Context, directory string) (a Account, err error) {
	var sealed []byte
	if err = s.db.One(ctx, "read the ACME account", "select sealed_key, uri, contact from acme_accounts where directory = $1", []any{directory}, &sealed, &a.URI, &a.Contact); err != nil {
		return a, err
	}
	a.Key, err = s.seal.Open(owner, "account "+directory, sealed)
	return a, err
}

// PutAccount stores the account at an authority, in place of the one before.
func (s *Store) PutAccount(ctx context.Context, directory string, a Account) error {
	return s.db.Do(ctx, "store the ACME account", `insert into acme_accounts (directory, sealed_key, uri, contact, created_at) values ($1, $2, $3, $4, $5)
		on conflict (directory) do update set sealed_key = excluded.sealed_key, uri = excluded.uri, contact = excluded.contact`,
		directory, s.seal.Seal(owner, "account "+directory, a.Key), a.URI, a.Contact, s.db.Time(ctx))
}

// ForgetAccount forgets an account that its authority does not know any more.
func (s *Store) ForgetAccount(ctx context.Context, directory string) error {
	return s.db.Do(ctx, "forget the ACME account", "delete from acme_accounts where directory = $1", directory)
}

// ID says which certificate is meant.
type ID struct {
	Directory string // the URL of the authority
	Domains   string // in order, separated by commas
}

// Certificate is one that was issued.
type Certificate struct {
	Chain               string // PEM, the server's own first
	Key                 string // PEM
	NotBefore, NotAfter time.Time
	Issued              time.Time // when it was stored
}

// Newer returns the certificate that was issued last, when that was after a moment; ErrNotFound:
// there is none. ErrUnsealed comes with all but its key.
func (s *Store) Newer(ctx context.Context, id ID, than time.Time) (c Certificate, err error) {
	var sealed []byte
	err = s.db.One(ctx, "read a certificate", "select chain, sealed_key, not_before, not_after, issued_at from acme_certificates where directory = $1 and domains = $2 and issued_at > $3",
		[]any{id.Directory, id.Domains, than}, &c.Chain, &sealed, &c.NotBefore, &c.NotAfter, &c.Issued)
	if err == nil {
		c.Key, err = s.seal.Open(owner, "certificate "+id.Domains, sealed)
	}
	return c, err
}

// Work is an order that is to be placed, or to be brought to its end.
type Work struct {
	Failures int    // orders that failed since the last certificate
	URI      string // of an order in progress; empty: there is none
	Key      string // PEM, for that order
}

// Claim hands a node the work on a certificate for the length of Lease: when there is none yet, or a
// third of its lifetime is left, no other node works on it, and the wait after a failure is over. A
// certificate that the master key does not open (unreadable) counts as none a day after it was issued.
// ErrNotFound: there is nothing to do.
func (s *Store) Claim(ctx context.Context, id ID, me store.Node, unreadable bool) (w Work, err error) {
	var sealed []byte
	err = s.db.One(ctx, "claim an order", `insert into acme_certificates as c (directory, domains, held_by, held_epoch, held_until) values ($1, $2, $3, $4, $5::timestamptz + $6::interval)
		on conflict (directory, domains) do update set held_by = excluded.held_by, held_epoch = excluded.held_epoch, held_until = excluded.held_until
		where (c.held_until <= $5 or c.held_by = $3 and c.held_epoch < $4)
			and (c.next_try is null or c.next_try <= $5)
			and (c.not_after is null or c.not_after - (c.not_after - c.not_before) / 3 <= $5 or $7 and c.issued_at <= $5 - $8::interval)
		returning failures, order_uri, sealed_order_key`,
		[]any{id.Directory, id.Domains, me.ID, me.Epoch, s.db.Time(ctx), Lease, unreadable, readAgain}, &w.Failures, &w.URI, &sealed)
	if err == nil && w.URI != "" {
		if w.Key, err = s.seal.Open(owner, "order "+id.Domains, sealed); errors.Is(err, store.ErrUnsealed) {
			w.URI, err = "", nil
		}
	}
	return w, err
}

// PutOrder stores an order in progress and the key that it is for, so that another node can bring it
// to its end. ErrFenced: another node has the work.
func (s *Store) PutOrder(ctx context.Context, id ID, me store.Node, uri, key string) error {
	return s.held(ctx, "store an order", "order_uri = $5, sealed_order_key = $6", id, me, uri, s.seal.Seal(owner, "order "+id.Domains, key))
}

// Issued stores a certificate and ends the work. Certificates that have expired are deleted, with
// their keys. ErrFenced: another node has the work.
func (s *Store) Issued(ctx context.Context, id ID, me store.Node, c Certificate) error {
	now := s.db.Time(ctx)
	err := s.held(ctx, "store a certificate", `chain = $5, sealed_key = $6, not_before = $7, not_after = $8, issued_at = $9, held_until = $9,
		failures = 0, next_try = null, order_uri = '', sealed_order_key = null`, id, me, c.Chain, s.seal.Seal(owner, "certificate "+id.Domains, c.Key), c.NotBefore, c.NotAfter, now)
	if err != nil {
		return err
	}
	return s.db.Do(ctx, "delete certificates that have expired", "delete from acme_certificates where not_after < $1 and (directory, domains) <> ($2, $3)", now, id.Directory, id.Domains)
}

// Failed ends the work without a certificate. No node orders again within wait.
func (s *Store) Failed(ctx context.Context, id ID, me store.Node, wait time.Duration) error {
	now := s.db.Time(ctx)
	return s.held(ctx, "store a failed order", "held_until = $5, next_try = $6, failures = failures + 1, order_uri = '', sealed_order_key = null", id, me, now, now.Add(wait))
}

// Release lets another node go on with the work.
func (s *Store) Release(ctx context.Context, id ID, me store.Node) error {
	return s.held(ctx, "release an order", "held_until = $5", id, me, s.db.Time(ctx))
}

// held changes the row of the node that has the work.
func (s *Store) held(ctx context.Context, op, set string, id ID, me store.Node, values ...any) error {
	err := s.db.Must(ctx, op, "update acme_certificates set "+set+" where directory = $1 and domains = $2 and held_by = $3 and held_epoch = $4",
		append([]any{id.Directory, id.Domains, me.ID, me.Epoch}, values...)...)
	if errors.Is(err, store.ErrNotFound) {
		err = store.Fail(op, store.ErrFenced)
	}
	return err
}

// Again ends the wait after a failure.
func (s *Store) Again(ctx context.Context, id ID) error {
	return s.db.Do(ctx, "end a wait", "update acme_certificates set next_try = null where directory = $1 and domains = $2", id.Directory, id.Domains)
}

// Challenge names what an authority asks for.
type Challenge struct {
	Kind    string // tls-alpn-01 or http-01
	Subject string // the name that it is about, or the token
}

// PutAnswer stores the answer to a challenge, for every node to give, and deletes those that are over.
func (s *Store) PutAnswer(ctx context.Context, c Challenge, answer string) error {
	now := s.db.Time(ctx)
	return s.db.Tx(ctx, "store an answer", func(tx pgx.Tx) error {
		if err := store.Do(ctx, tx, "delete from acme_challenges where until < $1", now); err != nil {
			return err
		}
		return store.Do(ctx, tx, `insert into acme_challenges (kind, subject, sealed, until) values ($1, $2, $3, $4)
			on conflict (kind, subject) do update set sealed = excluded.sealed, until = excluded.until`, c.Kind, c.Subject, s.seal.Seal(owner, c.Kind+" "+c.Subject, answer), now.Add(Lease))
	})
}

// Answer returns the answer to a challenge. ErrNotFound: no order is in progress that has it.
func (s *Store) Answer(ctx context.Context, c Challenge) (string, error) {
	sealed, err := store.Value[[]byte](ctx, s.db, "read an answer", "select sealed from acme_challenges where kind = $1 and subject = $2 and until >= $3", c.Kind, c.Subject, s.db.Time(ctx))
	if err != nil {
		return "", err
	}
	return s.seal.Open(owner, c.Kind+" "+c.Subject, sealed)
}

// DropAnswer deletes the answer to a challenge that is over.
func (s *Store) DropAnswer(ctx context.Context, c Challenge) error {
	return s.db.Do(ctx, "delete an answer", "delete from acme_challenges where kind = $1 and subject = $2", c.Kind, c.Subject)
}
