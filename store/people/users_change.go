package people

import (
	"context"

	"github.com/jackc/pgx/v5"

	"parley/store"
)

// User reads a user.
func (s *Store) User(ctx context.Context, id string) (*User, error) {
	return store.First[User](ctx, s.db, "read user", selectUser+"id = $1", id)
}

// ChangeRole makes a user an operator, or takes that away: their operator's keys stop at
// once, and open sign-ins see no accounts but their own.
func (s *Store) ChangeRole(ctx context.Context, user, role string) error {
	if err := checkUserRole(role); err != nil {
		return err
	}
	return s.db.Must(ctx, "change role", "update users set role = $2 where id = $1", user, role)
}

// DisableUser keeps a user from signing in, ends their sign-ins, links and invitations, and
// stops their operator's keys, until EnableUser. It returns the keys of accounts that they made and
// that were good; with endKeys these end.
func (s *Store) DisableUser(ctx context.Context, user string, endKeys bool) (keys []Key, err error) {
	now := s.db.Time(ctx)
	err = s.db.Tx(ctx, "disable user", func(tx pgx.Tx) error {
		if err := store.ErrNotFound.IfUnchanged(tx.Exec(ctx, "update users set disabled_at = coalesce(disabled_at, $2) where id = $1", user, now)); err != nil {
			return err
		}
		for _, what := range []string{"browser_sessions where user_id", "sign_in_links where user_id", "invitations where invited_by"} {
			if _, err := tx.Exec(ctx, "delete from "+what+" = $1", user); err != nil {
				return err
			}
		}
		keys, err = keysOf(ctx, tx, "true", endKeys, now, user)
		return err
	})
	return keys, err
}

// EnableUser lets a disabled user sign in again, with the password that they had.
func (s *Store) EnableUser(ctx context.Context, user string) error {
	return s.db.Must(ctx, "enable user", "update users set disabled_at = null where id = $1", user)
}

// DeleteUser takes a user out of the world, with their sign-ins, operator's keys,
// invitations and memberships. The last owner of an account that has other people cannot go. It returns
// the keys as DisableUser does.
func (s *Store) DeleteUser(ctx context.Context, user string, endKeys bool) (keys []Key, err error) {
	err = s.db.Tx(ctx, "delete user", func(tx pgx.Tx) error {
		// The people of these accounts do not change meanwhile.
		if _, err := tx.Exec(ctx, `select from memberships where account_id in (select account_id from memberships where user_id = $1)
			order by account_id, user_id for update`, user); err != nil {
			return err
		}
		orphans, err := store.Rows[string](ctx, tx, `select m.account_id from memberships m where m.user_id = $1 and m.role = 'owner'
			and exists (select from memberships o where o.account_id = m.account_id and o.user_id <> $1)
			and not exists (select from memberships o where o.account_id = m.account_id and o.user_id <> $1 and o.role = 'owner')`, user)
		if err != nil {
			return err
		}
		if len(orphans) > 0 {
			return store.Invalid("they are the last owner of %s: make somebody else one first", orphans[0])
		}
		if keys, err = keysOf(ctx, tx, "true", endKeys, s.db.Time(ctx), user); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "delete from invitations where invited_by = $1", user); err != nil {
			return err
		}
		return store.ErrNotFound.IfUnchanged(tx.Exec(ctx, "delete from users where id = $1", user))
	})
	return keys, err
}
