package people

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"parley/store"
)

// View is a filter of the history of calls that a user keeps in an account, for themselves.
type View struct {
	ID    string
	Name  string
	Query string // of the page's address, without a question mark
}

// Bounds of views.
const (
	MaxViews     = 20 // of a user in an account
	maxViewName  = 60 // characters
	maxViewQuery = 2000
)

// ErrViewName: another view of the user has the name.
const ErrViewName store.Error = "there is a view of this name already"

// viewName is the name of a view without spaces around it.
func viewName(name string) (string, error) {
	name = strings.TrimSpace(name)
	if n := utf8.RuneCountInString(name); n == 0 || n > maxViewName || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		return "", store.Invalid("name: 1 to %d characters, in one line", maxViewName)
	}
	return name, nil
}

// Views lists what a user keeps in an account, by name.
func (s *Store) Views(ctx context.Context, user, account string) ([]View, error) {
	return store.List[View](ctx, s.db, "list views", "select id, name, query from call_views where user_id = $1 and account_id = $2 order by lower(name), id", user, account)
}

// SaveView keeps a view; one of the same name becomes it. ErrNotFound: the user does not belong to the account.
func (s *Store) SaveView(ctx context.Context, user, account, name, query string) error {
	name, err := viewName(name)
	if err != nil {
		return err
	}
	if len(query) > maxViewQuery || strings.ContainsRune(query, 0) || !utf8.ValidString(query) {
		return store.Invalid("query: more than %d bytes", maxViewQuery)
	}
	return s.db.Tx(ctx, "save view", func(tx pgx.Tx) error {
		// The lock has others wait who save another, so that all are counted.
		err := store.ErrNotFound.IfUnchanged(tx.Exec(ctx, "select from memberships where user_id = $1 and account_id = $2 for no key update", user, account))
		if err != nil {
			return err
		}
		others, err := store.Scalar[int](ctx, tx, "select count(*) from call_views where user_id = $1 and account_id = $2 and name <> $3", user, account, name)
		if err != nil {
			return err
		}
		if others >= MaxViews {
			return store.Invalid("name: you keep %d views already, which is the most; delete one first", MaxViews)
		}
		return store.Do(ctx, tx, `insert into call_views (id, user_id, account_id, name, query) values ($1, $2, $3, $4, $5)
			on conflict (user_id, account_id, name) do update set query = excluded.query`, store.NewID(store.ViewID, s.db.Time(ctx)), user, account, name, query)
	})
}

// RenameView gives a view of the user another name. ErrViewName: another view has it.
func (s *Store) RenameView(ctx context.Context, user, account, id, name string) error {
	name, err := viewName(name)
	if err != nil {
		return err
	}
	err = s.db.Must(ctx, "rename view", "update call_views set name = $4 where id = $3 and user_id = $1 and account_id = $2", user, account, id, name)
	if store.Violates(err, "call_views_user_id_account_id_name_key") {
		err = ErrViewName
	}
	return err
}

// DeleteView removes a view of the user.
func (s *Store) DeleteView(ctx context.Context, user, account, id string) error {
	return s.db.Must(ctx, "delete view", "delete from call_views where id = $3 and user_id = $1 and account_id = $2", user, account, id)
}
