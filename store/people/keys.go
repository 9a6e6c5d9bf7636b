package people

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"hash/crc32"
	"math/big"
	"strings"
	"time"

	"parley/store"
)

// Key is an API key as its owner sees it; the secret itself is shown once.
type Key struct {
	ID         string
	Role       string // RoleMember, RoleOwner, or RoleOperator of an operator's key
	Name       string
	Last4      string // the secret's last characters
	CreatedAt  time.Time
	LastUsedAt *time.Time // whole minutes; nil: never
	RevokedAt  *time.Time
	Money      bool   // it may change what is paid: see Principal
	Listens    bool   // it may listen in on calls
	Speaks     bool   // and speak in them
	Maker      string // identifier of the user or key that made it; empty: the server's commands, or not known
	MakerEmail string // the user's address; empty when it was no user, or they are gone
}

// NewKey is what a key of an account is made of.
type NewKey struct {
	Account, Name string
	Role          string // RoleMember or RoleOwner
	Money         bool
	Listens       bool
	Speaks        bool
	Maker         string // as Key has it
}

// Principal is whom a credential speaks for.
type Principal struct {
	Account string // empty: none, which only an operator's credential may have
	Key     string // identifier of the key, or of a user and their session: see Browser.Principal
	User    string // who it is; empty: it is a key of the account's
	// Owner says that it may change who belongs to the account.
	Owner bool
	// Money says that it may change what is paid: automatic recharge, limits of spending.
	Money bool
	// Listens says that it may listen in on calls, Speaks that it may speak in them.
	Listens, Speaks bool
	// Operator says that it may look after the server's accounts.
	Operator bool
}

// The shape of a secret: a prefix, 32 random bytes, a CRC-32 of what precedes it.
// The checksum tells scanners for leaked secrets that this is one, and turns a
// typing error away without asking the database.
const (
	secretPrefix   = "sk_" // of an account's key
	operatorPrefix = "op_" // of an operator's
	secretRandom   = 43    // characters that hold 32 bytes in base 62
	secretCheck    = 6     // that hold 32 bits
)

func newSecret(prefix string) string {
	var b [32]byte
	rand.Read(b[:])
	s := prefix + base62(new(big.Int).SetBytes(b[:]), secretRandom)
	return s + secretSum(s)
}

func secretSum(s string) string {
	return base62(big.NewInt(int64(crc32.ChecksumIEEE([]byte(s)))), secretCheck)
}

// base62 writes n with digits, capitals and small letters, padded to width.
func base62(n *big.Int, width int) string {
	// big.Int writes 10 to 35 small and 36 to 61 capital; any fixed alphabet will do.
	s := n.Text(62)
	return strings.Repeat("0", width-len(s)) + s
}

func wellFormed(secret, prefix string) bool {
	n := len(secret) - secretCheck
	return n == len(prefix)+secretRandom && strings.HasPrefix(secret, prefix) && secretSum(secret[:n]) == secret[n:]
}

// FirstKey makes the key that an account begins with: an owner's, which may change what
// is paid.
func (s *Store) FirstKey(ctx context.Context, account, name, maker string) (k Key, secret string, err error) {
	return s.MakeKey(ctx, NewKey{Account: account, Name: name, Role: RoleOwner, Money: true, Maker: maker})
}

// MakeKey makes a key of the account, and returns its secret, which is stored only as a
// hash: a random secret of 256 bits needs no slow one.
func (s *Store) MakeKey(ctx context.Context, n NewKey) (k Key, secret string, err error) {
	now := s.db.Time(ctx)
	if n.Role != RoleOwner && n.Role != RoleMember {
		return Key{}, "", store.Invalid("a key of an account is an owner's or a member's")
	}
	secret = newSecret(secretPrefix)
	k = Key{ID: store.NewID(store.KeyID, now), Role: n.Role, Name: n.Name, Last4: secret[len(secret)-4:], CreatedAt: now, Money: n.Money, Listens: n.Listens, Speaks: n.Speaks, Maker: n.Maker}
	err = s.db.One(ctx, "create key", `with k as (insert into api_keys (id, account_id, role, name, hash, last4, created_at, money, maker, listens, speaks)
			select $1, id, $3, $4, $5, $6, $7, $8, nullif($9, ''), $10, $11 from accounts where id = $2 returning maker)
		select coalesce(u.email, '') from k left join users u on u.id = k.maker`,
		[]any{k.ID, n.Account, n.Role, n.Name, hashOf(secret), k.Last4, now, n.Money, n.Maker, n.Listens, n.Speaks}, &k.MakerEmail)
	if err != nil {
		return Key{}, "", err
	}
	return k, secret, nil
}

// selectKey reads keys of accounts as k; of their makers those are known that are users.
const selectKey = `select k.id, k.role, k.name, k.last4, k.created_at, k.last_used_at, k.revoked_at, k.money, k.listens, k.speaks, coalesce(k.maker, ''), coalesce(u.email, '')
	from api_keys k left join users u on u.id = k.maker where `

// Keys lists the account's keys, newest first, revoked ones too.
func (s *Store) Keys(ctx context.Context, account string, p store.Page) ([]Key, error) {
	return store.ListPage[Key](ctx, s.db, "list keys", p, "k.id", selectKey+"k.account_id = $1", account)
}

// Key reads a key of the account.
func (s *Store) Key(ctx context.Context, account, id string) (*Key, error) {
	return store.First[Key](ctx, s.db, "read key", selectKey+"k.account_id = $1 and k.id = $2", account, id)
}

// RevokeKey ends a key of the account for good; revoking it again changes nothing.
func (s *Store) RevokeKey(ctx context.Context, account, id string) error {
	return s.db.Must(ctx, "revoke key", `update api_keys set revoked_at = coalesce(revoked_at, $3)
		where id = $1 and account_id = $2`, id, account, s.db.Time(ctx))
}

// Authenticate finds the principal of a secret; ErrUnauthorized when there is none. It
// notes the use, once a minute.
func (s *Store) Authenticate(ctx context.Context, secret string) (Principal, error) {
	const ofAccount, ofOperator = "api_keys", "operator_keys"
	var p Principal
	var used *time.Time
	var err error
	table := ofAccount
	switch {
	case wellFormed(secret, secretPrefix):
		err = s.db.One(ctx, "authenticate", "select account_id, id, role = 'owner', money, listens, speaks, last_used_at from api_keys where hash = $1 and revoked_at is null",
			[]any{hashOf(secret)}, &p.Account, &p.Key, &p.Owner, &p.Money, &p.Listens, &p.Speaks, &used)
	case wellFormed(secret, operatorPrefix):
		// It is good for as long as its user is an operator.
		table, p.Operator = ofOperator, true
		err = s.db.One(ctx, "authenticate", `select k.user_id, k.id, k.last_used_at from operator_keys k join users u on u.id = k.user_id
			where k.hash = $1 and k.revoked_at is null and u.role = 'operator' and u.disabled_at is null`, []any{hashOf(secret)}, &p.User, &p.Key, &used)
	default:
		err = store.ErrNotFound
	}
	if errors.Is(err, store.ErrNotFound) {
		return Principal{}, fmt.Errorf("authenticate: %w", store.ErrUnauthorized)
	}
	if err != nil {
		return Principal{}, err
	}
	minute := s.db.Time(ctx).Truncate(time.Minute)
	if used == nil || used.Before(minute) {
		_, err := s.db.Exec(ctx, "authenticate", "update "+table+` set last_used_at = $2
			where id = $1 and (last_used_at is null or last_used_at < $2)`, p.Key, minute)
		if err != nil {
			return Principal{}, err
		}
	}
	return p, nil
}

// CheckKey says whether p's key or sign-in is still good, for credentials that were
// made from it: ErrUnauthorized when it is not.
func (s *Store) CheckKey(ctx context.Context, p Principal) error {
	var ok bool
	var err error
	if strings.HasPrefix(p.Key, store.UserID) {
		ok, err = s.checkBrowser(ctx, p)
	} else {
		ok, err = store.Value[bool](ctx, s.db, "check key", "select exists (select from api_keys where id = $1 and account_id = $2 and revoked_at is null)",
			p.Key, p.Account)
	}
	if err == nil && !ok {
		err = fmt.Errorf("check key: %w", store.ErrUnauthorized)
	}
	return err
}
