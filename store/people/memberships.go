package people

import (
	"context"
	"encoding/base64"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/store"
)

// Membership is that a user belongs to an account.
type Membership struct {
	User, Email   string
	Account, Name string // the account's
	Role          string // RoleOwner or RoleMember
	CreatedAt     time.Time
	SignedInAt    *time.Time // nil: never
	Listens       bool       // they may listen in on calls
	Speaks        bool       // and speak in them
}

const selectMembership = `select m.user_id, u.email, m.account_id, a.name, m.role, m.created_at, u.signed_in_at, m.listens, m.speaks
	from memberships m join users u on u.id = m.user_id join accounts a on a.id = m.account_id where `

// MaxMembers bounds how many people belong to an account, invitations counted.
const MaxMembers = 100

// AddMember lets a user into an account, or changes their role in it.
func (s *Store) AddMember(ctx context.Context, account, user, role string) error {
	if err := checkMemberRole(role); err != nil {
		return err
	}
	return s.db.Must(ctx, "add member", `insert into memberships (user_id, account_id, role, created_at)
		select u.id, a.id, $3, $4 from users u, accounts a where u.id = $2 and a.id = $1
		on conflict (user_id, account_id) do update set role = excluded.role`, account, user, role, s.db.Time(ctx))
}

// Place is where a membership is among an account's, for Page.After. It stays when the
// membership goes.
func (m *Membership) Place() string {
	return base64.RawURLEncoding.EncodeToString([]byte(m.Role + " " + m.Email))
}

// Members lists the people of an account, owners first, then by address.
func (s *Store) Members(ctx context.Context, account string, p store.Page) ([]Membership, error) {
	sql, args := selectMembership+"m.account_id = $1", []any{account}
	if p.After != "" {
		place, err := base64.RawURLEncoding.DecodeString(p.After)
		role, email, ok := strings.Cut(string(place), " ")
		if err != nil || !ok {
			return nil, store.Invalid("cursor: send next_cursor of the page before")
		}
		sql += " and (m.role < $2 or m.role = $2 and u.email > $3)"
		args = append(args, role, email)
	}
	sql, args = p.Bound(sql+" order by m.role desc, u.email", args)
	return store.List[Membership](ctx, s.db, "list members", sql, args...)
}

// Memberships lists the accounts that a user belongs to, by name.
func (s *Store) Memberships(ctx context.Context, user string) ([]Membership, error) {
	return store.List[Membership](ctx, s.db, "list memberships", selectMembership+"m.user_id = $1 order by a.name, a.id", user)
}

// ChangeMember gives a member of the account another role; the last owner stays one.
func (s *Store) ChangeMember(ctx context.Context, account, user, role string) error {
	if err := checkMemberRole(role); err != nil {
		return err
	}
	return s.people(ctx, "change member", account, func(tx pgx.Tx) error {
		return store.ErrNotFound.IfUnchanged(tx.Exec(ctx, "update memberships set role = $3 where account_id = $1 and user_id = $2", account, user, role))
	})
}

// LetListen says whether a member of the account may listen in on its calls. Who may not does not speak in them either.
func (s *Store) LetListen(ctx context.Context, account, user string, may bool) error {
	return s.db.Must(ctx, "let listen", "update memberships set listens = $3, speaks = speaks and $3 where account_id = $1 and user_id = $2", account, user, may)
}

// LetSpeak says whether a member of the account may listen in on its calls and speak in them. Who may not may still listen.
func (s *Store) LetSpeak(ctx context.Context, account, user string, may bool) error {
	return s.db.Must(ctx, "let speak", "update memberships set speaks = $3, listens = listens or $3 where account_id = $1 and user_id = $2", account, user, may)
}

// SetMember gives a user a role in an account, whether they belong to it or not; the last
// owner stays one.
func (s *Store) SetMember(ctx context.Context, account, user, role string) error {
	err := s.ChangeMember(ctx, account, user, role)
	if errors.Is(err, store.ErrNotFound) {
		err = s.AddMember(ctx, account, user, role)
	}
	return err
}

// RemoveMember removes a member from the account; the last owner cannot go. Their
// sessions no longer look at it, and whom they invited cannot come. It returns the keys of the account that they made, also
// by a key of theirs, and that were good; with endKeys these end.
func (s *Store) RemoveMember(ctx context.Context, account, user string, endKeys bool) (keys []Key, err error) {
	err = s.people(ctx, "remove member", account, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "update browser_sessions set account_id = null where account_id = $1 and user_id = $2", account, user); err != nil {
			return err
		}
		if err := store.ErrNotFound.IfUnchanged(tx.Exec(ctx, "delete from memberships where account_id = $1 and user_id = $2", account, user)); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "delete from invitations where account_id = $1 and invited_by = $2", account, user); err != nil {
			return err
		}
		keys, err = keysOf(ctx, tx, "k.account_id = $2", endKeys, s.db.Time(ctx), user, account)
		return err
	})
	return keys, err
}

// keysOf lists the good keys that the user $1 has made, also by a key of theirs, and ends
// them if end says so.
func keysOf(ctx context.Context, tx pgx.Tx, where string, end bool, now time.Time, args ...any) ([]Key, error) {
	keys, err := store.Rows[Key](ctx, tx, `with recursive theirs as (select id from api_keys where maker = $1
			union select k.id from api_keys k join theirs t on k.maker = t.id) `+
		selectKey+where+" and k.revoked_at is null and k.id in (select id from theirs) order by k.id desc", args...)
	if err != nil || !end {
		return keys, err
	}
	for i := range keys {
		keys[i].RevokedAt = &now
		if _, err := tx.Exec(ctx, "update api_keys set revoked_at = coalesce(revoked_at, $2) where id = $1", keys[i].ID, now); err != nil {
			return nil, err
		}
	}
	return keys, nil
}

// people changes who belongs to an account, one at a time, and refuses what leaves it
// without an owner.
func (s *Store) people(ctx context.Context, op, account string, change func(pgx.Tx) error) error {
	return s.db.Tx(ctx, op, func(tx pgx.Tx) error {
		const owners = "select count(*) from memberships where account_id = $1 and role = 'owner'"
		if _, err := tx.Exec(ctx, "select from memberships where account_id = $1 order by user_id for update", account); err != nil {
			return err
		}
		before, err := store.Scalar[int](ctx, tx, owners, account)
		if err != nil {
			return err
		}
		if err := change(tx); err != nil {
			return err
		}
		after, err := store.Scalar[int](ctx, tx, owners, account)
		if err == nil && before > 0 && after == 0 {
			err = store.Invalid("an account keeps at least one owner")
		}
		return err
	})
}
