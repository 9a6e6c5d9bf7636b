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
}

// Principal is whom a credential speaks for.
type Principal struct {
	Account string // empty: none, which only an operator's credential may have
	Key     string // identifier of the key, or of a user and their session: see Browser.Principal
	User    string // who it is; empty: nobody, a key of the account's
	// Owner says that it may change who belongs to the account.
	Owner bool
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

// CreateKey makes a key of the account that may do what members may, and returns its
// secret, which is stored only as a hash: a random secret of 256 bits needs no slow one.
func (db *DB) CreateKey(ctx context.Context, account, name string, now time.Time) (k Key, secret string, err error) {
	return db.CreateKeyAs(ctx, account, RoleMember, name, now)
}

// CreateKeyAs is CreateKey for a key that may do what a role may: RoleMember or RoleOwner.
func (db *DB) CreateKeyAs(ctx context.Context, account, role, name string, now time.Time) (k Key, secret string, err error) {
	if role != RoleOwner && role != RoleMember {
		return Key{}, "", invalid("a key of an account is an owner's or a member's")
	}
	secret = newSecret(secretPrefix)
	k = Key{ID: newID(keyID, now), Role: role, Name: name, Last4: secret[len(secret)-4:], CreatedAt: now}
	err = db.must(ctx, "create key", `insert into api_keys (id, account_id, role, name, hash, last4, created_at)
		select $1, id, $3, $4, $5, $6, $7 from accounts where id = $2`, k.ID, account, role, name, hashOf(secret), k.Last4, now)
	if err != nil {
		return Key{}, "", err
	}
	return k, secret, nil
}

// Keys lists the account's keys, newest first, revoked ones too.
func (db *DB) Keys(ctx context.Context, account string, p Page) ([]Key, error) {
	where, args := p.clause("id", []any{account})
	return list(ctx, db, "list keys", pgx.RowToStructByPos[Key],
		"select id, role, name, last4, created_at, last_used_at, revoked_at from api_keys where account_id = $1"+where, args...)
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
		err = db.one(ctx, "authenticate", "select account_id, id, role = 'owner', last_used_at from api_keys where hash = $1 and revoked_at is null",
			[]any{hashOf(secret)}, &p.Account, &p.Key, &p.Owner, &used)
	case wellFormed(secret, operatorPrefix):
		// It is good for as long as its user runs the server.
		table, p.Operator = ofOperator, true
		err = db.one(ctx, "authenticate", `select k.user_id, k.id, k.last_used_at from operator_keys k join users u on u.id = k.user_id
			where k.hash = $1 and k.revoked_at is null and u.role = 'operator'`, []any{hashOf(secret)}, &p.User, &p.Key, &used)
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
