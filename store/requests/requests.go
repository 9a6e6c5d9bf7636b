// Package requests keeps what programs of accounts have asked of the API: which request, with which key, and how it
// was answered. Rows are written in batches, and are gone after a week, or when an account has more than it may.
package requests

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/store"
)

// Prefix begins the identifiers of requests.
const Prefix = store.RequestID

// Bounds of what is kept.
const (
	Life = 7 * 24 * time.Hour
	// Most is how many requests of an account are kept; until the next Trim it may have more.
	Most = 10_000
)

// Request is one request with a key or a ticket.
type Request struct {
	ID       string // begins with its time
	Account  string
	At       time.Time
	Key      string  // of a ticket the key that it was made from
	Ticket   *string // nil: the key itself was sent
	Method   string
	Route    string // the pattern that its address fits
	Target   string // path and query, without credentials
	Status   int    // of HTTP; 101: it became a socket
	Code     *string
	TookMS   int64
	BytesIn  int64   // of the body, as far as it was read
	BytesOut int64   // of the answer's body; 0 for sockets
	Client   *string // the client's own name of it; nil: it gave none
	Body     *string // JSON without secrets; nil: it had none, or another, or it is one of a list
	BodyCut  bool    // there was more
	KeyName  *string // nil: there is no such key any more
}

// selectRequest reads the fields of a Request, in their order, with an expression for the body.
func selectRequest(body string) string {
	return "select r.id, r.account_id, r.at, r.key_id, r.ticket, r.method, r.route, r.target, r.status, r.code, r.took_ms, r.bytes_in, r.bytes_out, r.client, " + body +
		", r.body_cut, k.name from requests r left join api_keys k on k.id = r.key_id and k.account_id = r.account_id where r.account_id = $1"
}

// Store keeps requests in a database. Several goroutines may use it.
type Store struct{ db *store.DB }

// New returns the requests of a database.
func New(db *store.DB) *Store { return &Store{db} }

// Write adds requests, in one round trip: all or none.
func (s *Store) Write(ctx context.Context, list []Request) error {
	return s.db.Tx(ctx, "write requests", func(tx pgx.Tx) error {
		_, err := tx.CopyFrom(ctx, pgx.Identifier{"requests"}, []string{"id", "account_id", "at", "key_id", "ticket", "method", "route", "target", "status", "code",
			"took_ms", "bytes_in", "bytes_out", "client", "body", "body_cut"}, pgx.CopyFromSlice(len(list), func(i int) ([]any, error) {
			r := &list[i]
			return []any{r.ID, r.Account, r.At, r.Key, r.Ticket, r.Method, r.Route, r.Target, r.Status, r.Code,
				r.TookMS, r.BytesIn, r.BytesOut, r.Client, r.Body, r.BodyCut}, nil
		}))
		return err
	})
}

// Page is a part of an account's requests, newest first. Zero fields pick all.
type Page struct {
	store.Page
	store.Range
	Method, Route, Key string
	// Least and Below bound the status: the first is included, the second not; 0: no bound.
	Least, Below int
	Code         string
}

// List lists an account's requests.
func (s *Store) List(ctx context.Context, account string, p Page) ([]Request, error) {
	sql, args := selectRequest("null::text"), []any{account}
	add := func(condition string, arg any) {
		args = append(args, arg)
		sql += fmt.Sprintf(condition, len(args))
	}
	if !p.From.IsZero() {
		add(" and r.id >= $%d", store.FloorID(Prefix, p.From)) // identifiers begin with their time: the index has it
		add(" and r.at >= $%d", p.From)
	}
	if !p.To.IsZero() {
		add(" and r.id < $%d", store.FloorID(Prefix, p.To.Add(time.Millisecond)))
		add(" and r.at < $%d", p.To)
	}
	for _, f := range []struct{ condition, value string }{{" and r.method = $%d", p.Method}, {" and r.route = $%d", p.Route}, {" and r.key_id = $%d", p.Key}, {" and r.code = $%d", p.Code}} {
		if f.value != "" {
			add(f.condition, f.value)
		}
	}
	if p.Least > 0 {
		add(" and r.status >= $%d", p.Least)
	}
	if p.Below > 0 {
		add(" and r.status < $%d", p.Below)
	}
	return store.ListPage[Request](ctx, s.db, "list requests", p.Page, "r.id", sql, args...)
}

// Request is one of an account's.
func (s *Store) Request(ctx context.Context, account, id string) (*Request, error) {
	return store.First[Request](ctx, s.db, "read request", selectRequest("r.body")+" and r.id = $2", account, id)
}

// trimmed bounds how many rows one statement deletes, so that none takes long.
const trimmed = 5000

// Trim deletes what is older than Life, and what the accounts have beyond Most. More may be left for the next time: a
// statement deletes 5,000 at most.
func (s *Store) Trim(ctx context.Context, accounts []string) error {
	old := store.FloorID(Prefix, s.db.Time(ctx).Add(-Life))
	if err := s.db.Do(ctx, "forget requests", "delete from requests where id in (select id from requests where id < $1 order by id limit $2)", old, trimmed); err != nil {
		return err
	}
	for _, account := range accounts {
		err := s.db.Do(ctx, "trim requests", `delete from requests where id in (select id from requests where account_id = $1 and id <= (
			select id from requests where account_id = $1 order by id desc offset $2 limit 1) order by id limit $3)`, account, Most, trimmed)
		if err != nil {
			return err
		}
	}
	return nil
}
