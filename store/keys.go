package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"hash/crc32"
	"math/big"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
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
	Maker      string // identifier of the user or key that made it; empty: the server's commands, or not known
	MakerEmail string // the user's address; empty when it was no user, or they are gone
}

// NewKey is what a key of an account is made of.
type NewKey struct {
	Account, Name string
	Role          string // RoleMember or RoleOwner
	Money         bool
	Maker         string // as Key has it
}

// Principal is whom a credential speaks for.
type Principal struct {
	Account string // empty: none, which only an operator's credential may have
	Key     string // identifier of the key, or of a user and their session: see Browser.Principal
	User    string // who it is; empty: nobody, a key of the account's
	// Owner says that it may change who belongs to the account.
	Owner bool
	// Money says that it may change what is paid: automatic recharge, limits of spending.
	Money bool
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
func (db *DB) FirstKey(ctx context.Context, account, name, maker string, now time.Time) (k Key, secret string, err error) {
	return db.MakeKey(ctx, NewKey{Account: account, Name: name, Role: RoleOwner, Money: true, Maker: maker}, now)
}

// MakeKey makes a key of the account, and returns its secret, which is stored only as a
// hash: a random secret of 256 bits needs no slow one.
func (db *DB) MakeKey(ctx context.Context, n NewKey, now time.Time) (k Key, secret string, err error) {
	if n.Role != RoleOwner && n.Role != RoleMember {
		return Key{}, "", invalid("a key of an account is an owner's or a member's")
	}
	secret = newSecret(secretPrefix)
	k = Key{ID: newID(keyID, now), Role: n.Role, Name: n.Name, Last4: secret[len(secret)-4:], CreatedAt: now, Money: n.Money, Maker: n.Maker}
	err = db.one(ctx, "create key", `with k as (insert into api_keys (id, account_id, role, name, hash, last4, created_at, money, maker)
			select $1, id, $3, $4, $5, $6, $7, $8, nullif($9, '') from accounts where id = $2 returning maker)
		select coalesce(u.email, '') from k left join users u on u.id = k.maker`,
		[]any{k.ID, n.Account, n.Role, n.Name, hashOf(secret), k.Last4, now, n.Money, n.Maker}, &k.MakerEmail)
	if err != nil {
		return Key{}, "", err
	}
	return k, secret, nil
}

// selectKey reads keys of accounts as k; of their makers those are known that are users.
const selectKey = `select k.id, k.role, k.name, k.last4, k.created_at, k.last_used_at, k.revoked_at, k.money, coalesce(k.maker, ''), coalesce(u.email, '')
	from api_keys k left join users u on u.id = k.maker where `

// Keys lists the account's keys, newest first, revoked ones too.
func (db *DB) Keys(ctx context.Context, account string, p Page) ([]Key, error) {
	where, args := p.clause("k.id", []any{account})
	return list(ctx, db, "list keys", pgx.RowToStructByPos[Key], selectKey+"k.account_id = $1"+where, args...)
}

// Key reads a key of the account.
func (db *DB) Key(ctx context.Context, account, id string) (*Key, error) {
	return first(ctx, db, "read key", pgx.RowToStructByPos[Key], selectKey+"k.account_id = $1 and k.id = $2", account, id)
}

// RevokeKey ends a key of the account for good; revoking it again changes nothing.
func (db *DB) RevokeKey(ctx context.Context, account, id string, now time.Time) error {
	return db.must(ctx, "revoke key", `update api_keys set revoked_at = coalesce(revoked_at, $3)
		where id = $1 and account_id = $2`, id, account, now)
}

// Authenticate finds whose secret it is; ErrUnauthorized when it is nobody's. It
// notes the use, once a minute.
func (db *DB) Authenticate(ctx context.Context, secret string, now time.Time) (Principal, error) {
	const ofAccount, ofOperator = "api_keys", "operator_keys"
	var p Principal
	var used *time.Time
	var err error
	table := ofAccount
	switch {
	case wellFormed(secret, secretPrefix):
		err = db.one(ctx, "authenticate", "select account_id, id, role = 'owner', money, last_used_at from api_keys where hash = $1 and revoked_at is null",
			[]any{hashOf(secret)}, &p.Account, &p.Key, &p.Owner, &p.Money, &used)
	case wellFormed(secret, operatorPrefix):
		// It is good for as long as its user runs the server.
		table, p.Operator = ofOperator, true
		err = db.one(ctx, "authenticate", `select k.user_id, k.id, k.last_used_at from operator_keys k join users u on u.id = k.user_id
			where k.hash = $1 and k.revoked_at is null and u.role = 'operator' and u.disabled_at is null`, []any{hashOf(secret)}, &p.User, &p.Key, &used)
	default:
		err = ErrNotFound
	}
	if errors.Is(err, ErrNotFound) {
		return Principal{}, fmt.Errorf("authenticate: %w", ErrUnauthorized)
	}
	if err != nil {
		return Principal{}, err
	}
	minute := now.Truncate(time.Minute)
	if used == nil || used.Before(minute) {
		_, err := db.pool.Exec(ctx, "update "+table+` set last_used_at = $2
			where id = $1 and (last_used_at is null or last_used_at < $2)`, p.Key, minute)
		if err != nil {
			return Principal{}, fail("authenticate", err)
		}
	}
	return p, nil
}

// CheckKey says whether p's key or sign-in is still good, for credentials that were
// made from it: ErrUnauthorized when it is not.
func (db *DB) CheckKey(ctx context.Context, p Principal) error {
	var ok bool
	var err error
	if strings.HasPrefix(p.Key, userID) {
		ok, err = db.checkBrowser(ctx, p)
	} else {
		err = db.one(ctx, "check key", `select exists (select from api_keys where id = $1 and account_id = $2 and revoked_at is null)`,
			[]any{p.Key, p.Account}, &ok)
	}
	if err == nil && !ok {
		err = fmt.Errorf("check key: %w", ErrUnauthorized)
	}
	return err
}
