package people

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/store"
)

// Secret is a secret of an account as its owner sees it: its value is never shown.
type Secret struct {
	Name      string
	Hosts     []string // where it may be sent; none: wherever a function sends it
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Vault keeps the secrets of accounts, such as keys of services that their agents
// use, sealed by the server's master key: AES-256-GCM with a key derived by HKDF (RFC
// 5869), account and name as associated data, so that a row moved to another account or
// name does not open.
type Vault struct {
	db   *store.DB
	seal cipher.AEAD
}

// Bounds of secrets.
const (
	MaxSecrets     = 100     // of one account
	MaxSecretValue = 8 << 10 // bytes
	MaxSecretHosts = 20
	vaultForm      = 1 // first byte of what is sealed
)

var secretName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,63}$`)

// NewVault returns the vault of a master key. The error says that the key is too short
// for the cryptography in use.
func NewVault(db *store.DB, master string) (*Vault, error) {
	key, err := hkdf.Key(sha256.New, []byte(master), nil, "parley secrets of accounts", 32)
	if err != nil {
		return nil, fmt.Errorf("vault: %w", err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("vault: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, fmt.Errorf("vault: %w", err)
	}
	return &Vault{db, aead}, nil
}

// bound is what a sealed value belongs to. Neither part can hold a zero.
func bound(account, name string) []byte { return []byte(account + "\x00" + name) }

// secretHost is a host's name, or all below one: *.example.com.
var secretHost = regexp.MustCompile(`^(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*$`)

// checkHosts is hosts as they are kept and compared: in small letters, without a final dot.
func checkHosts(hosts []string) ([]string, error) {
	if len(hosts) > MaxSecretHosts {
		return nil, store.Invalid("hosts: at most %d", MaxSecretHosts)
	}
	var out []string
	for i, h := range hosts {
		h = strings.ToLower(strings.TrimSuffix(h, "."))
		if _, err := netip.ParseAddr(h); err != nil && (len(h) > 253 || !secretHost.MatchString(h)) {
			return nil, store.Invalid("hosts[%d]: a host's name or address, or *.example.com for all below it", i)
		}
		out = append(out, h)
	}
	return out, nil
}

// Put stores a secret or replaces its value. Its hosts replace those that it was bound
// to; without any, it stays bound as it is. Binding it to others needs a value of
// their own, so what was stored goes nowhere else. ErrInvalid also when
// there are MaxSecrets of others; ErrNotFound: no such account.
func (v *Vault) Put(ctx context.Context, account, name, value string, hosts []string) (*Secret, error) {
	now := v.db.Time(ctx)
	hosts, wrong := checkHosts(hosts)
	switch {
	case !secretName.MatchString(name):
		return nil, store.Invalid("name: a letter, then up to 63 letters, digits and _")
	case value == "" || len(value) > MaxSecretValue:
		return nil, store.Invalid("value: from 1 to %d bytes", MaxSecretValue)
	case strings.ContainsAny(value, "\x00\r\n"):
		return nil, store.Invalid("value: one line")
	case wrong != nil:
		return nil, wrong
	}
	sealed := v.Seal(account, name, value)
	s := &Secret{Name: name, UpdatedAt: now}
	err := v.db.Tx(ctx, "put secret", func(tx pgx.Tx) error {
		// The lock on the account makes the count exact.
		if err := store.ErrNotFound.IfUnchanged(tx.Exec(ctx, "select from accounts where id = $1 for no key update", account)); err != nil {
			return err
		}
		err := tx.QueryRow(ctx, `insert into secrets (account_id, name, sealed, created_at, updated_at, hosts) values ($1, $2, $3, $4, $4, $5)
			on conflict (account_id, name) do update set sealed = excluded.sealed, updated_at = excluded.updated_at,
				hosts = coalesce(excluded.hosts, secrets.hosts) returning created_at, hosts`,
			account, name, sealed, now, hosts).Scan(&s.CreatedAt, &s.Hosts)
		if err != nil {
			return err
		}
		n, err := store.Scalar[int](ctx, tx, "select count(*) from secrets where account_id = $1", account)
		if err == nil && n > MaxSecrets {
			err = store.Invalid("name: an account keeps at most %d secrets", MaxSecrets)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// List lists an account's secrets by name, without their values; there are MaxSecrets
// at most. A page begins after a name.
func (v *Vault) List(ctx context.Context, account string, p store.Page) ([]Secret, error) {
	sql, args := p.Bound("select name, hosts, created_at, updated_at from secrets where account_id = $1 and name > $2 order by name", []any{account, p.After})
	return store.List[Secret](ctx, v.db, "list secrets", sql, args...)
}

// Delete forgets a secret. ErrNotFound: there is none of that name.
func (v *Vault) Delete(ctx context.Context, account, name string) error {
	return v.db.Must(ctx, "delete secret", "delete from secrets where account_id = $1 and name = $2", account, name)
}

// SecretValue is an opened secret.
type SecretValue struct {
	Value string
	Hosts []string // as those of Secret
}

// Values opens secrets of an account. Those that it does not have, or that do not
// open, are missing; the error, which is of the latter, comes with all others.
func (v *Vault) Values(ctx context.Context, account string, names []string) (map[string]SecretValue, error) {
	type row struct {
		Name   string
		Sealed []byte
		Hosts  []string
	}
	rows, err := store.List[row](ctx, v.db, "read secrets",
		"select name, sealed, hosts from secrets where account_id = $1 and name = any($2)", account, names)
	if err != nil {
		return nil, err
	}
	values := make(map[string]SecretValue, len(rows))
	for _, r := range rows {
		value, failure := v.Open(account, r.Name, r.Sealed)
		if failure != nil {
			err = errors.Join(err, fmt.Errorf("secret %s: %w", r.Name, failure))
			continue
		}
		values[r.Name] = SecretValue{value, r.Hosts}
	}
	return values, err
}

// Seal seals a secret of an account.
func (v *Vault) Seal(account, name, secret string) []byte {
	return v.seal.Seal([]byte{vaultForm}, nil, []byte(secret), bound(account, name))
}

// Open opens what Seal has sealed under the same name. ErrUnsealed: the master key was another.
func (v *Vault) Open(account, name string, sealed []byte) (string, error) {
	if len(sealed) == 0 || sealed[0] != vaultForm {
		return "", store.ErrUnsealed
	}
	value, err := v.seal.Open(nil, nil, sealed[1:], bound(account, name))
	if err != nil {
		return "", store.ErrUnsealed
	}
	return string(value), nil
}
