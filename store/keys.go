package store

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
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
	Name       string
	Last4      string // the secret's last characters
	CreatedAt  time.Time
	LastUsedAt *time.Time // whole minutes; nil: never
	RevokedAt  *time.Time
}

// Principal is whom a credential speaks for.
type Principal struct {
	Account string
	Key     string // identifier of the key, or of a user and their session: see Browser.Principal
}

// The shape of a secret: "sk_", 32 random bytes, a CRC-32 of what precedes it.
// The checksum tells scanners for leaked secrets that this is one, and turns a
// typing error away without asking the database.
const (
	secretPrefix = "sk_"
	secretRandom = 43 // characters that hold 32 bytes in base 62
	secretCheck  = 6  // that hold 32 bits
)

func newSecret() string {
	var b [32]byte
	rand.Read(b[:])
	s := secretPrefix + base62(new(big.Int).SetBytes(b[:]), secretRandom)
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

func wellFormed(secret string) bool {
	n := len(secret) - secretCheck
	return n == len(secretPrefix)+secretRandom && strings.HasPrefix(secret, secretPrefix) && secretSum(secret[:n]) == secret[n:]
}

// CreateKey makes a key of the account and returns its secret, which is stored
// only as a hash: a random secret of 256 bits needs no slow one.
func (db *DB) CreateKey(ctx context.Context, account, name string, now time.Time) (k Key, secret string, err error) {
	secret = newSecret()
	sum := sha256.Sum256([]byte(secret))
	k = Key{ID: newID(keyID, now), Name: name, Last4: secret[len(secret)-4:], CreatedAt: now}
	err = db.must(ctx, "create key", `insert into api_keys (id, account_id, name, hash, last4, created_at)
		select $1, id, $3, $4, $5, $6 from accounts where id = $2`, k.ID, account, name, sum[:], k.Last4, now)
	if err != nil {
		return Key{}, "", err
	}
	return k, secret, nil
}

// Keys lists the account's keys, newest first, revoked ones too.
func (db *DB) Keys(ctx context.Context, account string, p Page) ([]Key, error) {
	where, args := p.clause("id", []any{account})
	return list(ctx, db, "list keys", pgx.RowToStructByPos[Key],
		"select id, name, last4, created_at, last_used_at, revoked_at from api_keys where account_id = $1"+where, args...)
}

// RevokeKey ends a key of the account for good; revoking it again changes nothing.
func (db *DB) RevokeKey(ctx context.Context, account, id string, now time.Time) error {
	return db.must(ctx, "revoke key", `update api_keys set revoked_at = coalesce(revoked_at, $3)
		where id = $1 and account_id = $2`, id, account, now)
}

// Authenticate finds whose secret it is; ErrUnauthorized when it is nobody's. It
// notes the use, once a minute.
func (db *DB) Authenticate(ctx context.Context, secret string, now time.Time) (Principal, error) {
	if !wellFormed(secret) {
		return Principal{}, fmt.Errorf("authenticate: %w", ErrUnauthorized)
	}
	sum := sha256.Sum256([]byte(secret))
	var p Principal
	var used *time.Time
	err := db.one(ctx, "authenticate", "select account_id, id, last_used_at from api_keys where hash = $1 and revoked_at is null",
		[]any{sum[:]}, &p.Account, &p.Key, &used)
	if errors.Is(err, ErrNotFound) {
		return Principal{}, fmt.Errorf("authenticate: %w", ErrUnauthorized)
	}
	if err != nil {
		return Principal{}, err
	}
	minute := now.Truncate(time.Minute)
	if used == nil || used.Before(minute) {
		_, err := db.pool.Exec(ctx, `update api_keys set last_used_at = $2
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
