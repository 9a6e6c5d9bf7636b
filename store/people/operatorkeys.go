package people

import (
	"context"

	"parley/store"
)

// CreateOperatorKey makes a key of an operator and returns its secret,
// which is stored only as a hash. It looks after accounts and belongs to none. A user
// who is no operator, or disabled, is ErrNotFound.
func (s *Store) CreateOperatorKey(ctx context.Context, user, name string) (k Key, secret string, err error) {
	now := s.db.Time(ctx)
	secret = newSecret(operatorPrefix)
	k = Key{ID: store.NewID(store.OperatorID, now), Role: RoleOperator, Name: name, Last4: secret[len(secret)-4:], CreatedAt: now}
	err = s.db.Must(ctx, "create operator key", `insert into operator_keys (id, user_id, name, hash, last4, created_at)
		select $1, id, $3, $4, $5, $6 from users where id = $2 and role = 'operator' and disabled_at is null`, k.ID, user, name, hashOf(secret), k.Last4, now)
	if err != nil {
		return Key{}, "", err
	}
	return k, secret, nil
}

// OperatorKeys lists the keys with which a user looks after accounts, newest first,
// revoked ones too.
func (s *Store) OperatorKeys(ctx context.Context, user string, p store.Page) ([]Key, error) {
	return store.ListPage[Key](ctx, s.db, "list operator keys", p, "id",
		"select id, 'operator', name, last4, created_at, last_used_at, revoked_at, false, false, false, '', '' from operator_keys where user_id = $1", user)
}

// RevokeOperatorKey ends a key of the user's for good; revoking it again changes nothing.
func (s *Store) RevokeOperatorKey(ctx context.Context, user, id string) error {
	return s.db.Must(ctx, "revoke operator key", `update operator_keys set revoked_at = coalesce(revoked_at, $3)
		where id = $1 and user_id = $2`, id, user, s.db.Time(ctx))
}
