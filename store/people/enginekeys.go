package people

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/store"
)

// EngineKey is an account's own key for an engine of a vendor, as its owner sees it: the key itself
// is never shown.
type EngineKey struct {
	Engine    string // as the server's settings call it
	Last4     string // the key's last characters
	SetBy     string // identifier of the user or key of the account
	CreatedAt time.Time
	UpdatedAt time.Time  // when the key was set
	RefusedAt *time.Time // when the vendor refused it; nil: it has not
	Refusal   string     // what the vendor said, without the key
}

// EngineKeys keeps keys of accounts for engines, sealed by a Vault. Several goroutines may use it.
type EngineKeys struct {
	db   *store.DB
	seal *Vault
}

// Bounds of an engine's key, in bytes. Four of them are shown.
const (
	minEngineKey = 8
	maxEngineKey = 4 << 10
)

// maxRefusal bounds what is kept of a vendor's refusal, in bytes.
const maxRefusal = 200

// NewEngineKeys returns the keys that v seals, of its database.
func NewEngineKeys(v *Vault) *EngineKeys { return &EngineKeys{v.db, v} }

// sealedFor is the name under which a key is sealed. No secret of an account can have it.
func sealedFor(engine string) string { return "engine:" + engine }

const engineKeyColumns = "engine, last4, set_by, created_at, updated_at, refused_at, refusal"

// List lists an account's keys by engine. A page begins after an engine.
func (k *EngineKeys) List(ctx context.Context, account string, p store.Page) ([]EngineKey, error) {
	sql, args := p.Bound("select "+engineKeyColumns+" from engine_keys where account_id = $1 and engine > $2 order by engine", []any{account, p.After})
	return store.List[EngineKey](ctx, k.db, "list engine keys", sql, args...)
}

// Put sets the key of an engine, which the caller knows to take one, in place of the one before. ErrNotFound: no such
// account; ErrInvalid says what is wrong with the key.
func (k *EngineKeys) Put(ctx context.Context, account, engine, key, by string) (out *EngineKey, err error) {
	if len(key) < minEngineKey || len(key) > maxEngineKey || strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return nil, store.Invalid("key: from %d to %d letters, digits and signs, without spaces", minEngineKey, maxEngineKey)
	}
	now, sealed := k.db.Time(ctx), k.seal.Seal(account, sealedFor(engine), key)
	err = k.db.Tx(ctx, "put engine key", func(tx pgx.Tx) error {
		out, err = store.Row[EngineKey](ctx, tx, `insert into engine_keys (account_id, engine, sealed, last4, set_by, created_at, updated_at)
			select id, $2, $3, $4, $5, $6, $6 from accounts where id = $1
			on conflict (account_id, engine) do update set sealed = excluded.sealed, last4 = excluded.last4, set_by = excluded.set_by,
				updated_at = excluded.updated_at, refused_at = null, refusal = ''
			returning `+engineKeyColumns, account, engine, sealed, key[len(key)-4:], by, now)
		if err != nil {
			return err
		}
		return clearRefusal(ctx, tx, account, engine, now)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Delete forgets the key of an engine. ErrNotFound: there is none.
func (k *EngineKeys) Delete(ctx context.Context, account, engine string) error {
	now := k.db.Time(ctx)
	return k.db.Tx(ctx, "delete engine key", func(tx pgx.Tx) error {
		if err := store.ErrNotFound.IfUnchanged(tx.Exec(ctx, "delete from engine_keys where account_id = $1 and engine = $2", account, engine)); err != nil {
			return err
		}
		return clearRefusal(ctx, tx, account, engine, now)
	})
}

// Key opens the key of an engine, refused or not. ErrNotFound: there is none.
func (k *EngineKeys) Key(ctx context.Context, account, engine string) (string, error) {
	sealed, err := store.Value[[]byte](ctx, k.db, "read engine key", "select sealed from engine_keys where account_id = $1 and engine = $2", account, engine)
	if err != nil {
		return "", err
	}
	return k.seal.Open(account, sealedFor(engine), sealed)
}

// Keys opens the keys of an account that were not refused, by engine. Those that do not open are missing; the error
// comes with all others.
func (k *EngineKeys) Keys(ctx context.Context, account string) (map[string]string, error) {
	type row struct {
		Engine string
		Sealed []byte
	}
	rows, err := store.List[row](ctx, k.db, "read engine keys", "select engine, sealed from engine_keys where account_id = $1 and refused_at is null", account)
	if err != nil {
		return nil, err
	}
	keys := make(map[string]string, len(rows))
	for _, r := range rows {
		key, failure := k.seal.Open(account, sealedFor(r.Engine), r.Sealed)
		if failure != nil {
			err = errors.Join(err, fmt.Errorf("key of the engine %s: %w", r.Engine, failure))
			continue
		}
		keys[r.Engine] = key
	}
	return keys, err
}

// Refused notes that a vendor has refused a key, for which it says why, and warns the account, once for each key that it
// sets. A key that was replaced meanwhile stays as it is.
func (k *EngineKeys) Refused(ctx context.Context, account, engine, key, why string) error {
	now := k.db.Time(ctx)
	why = strings.ToValidUTF8(why[:min(len(why), maxRefusal)], "")
	return k.change(ctx, "note a refused engine key", account, engine, key, func(tx pgx.Tx) error {
		changed, err := tx.Exec(ctx, "update engine_keys set refused_at = $3, refusal = $4 where account_id = $1 and engine = $2 and refused_at is null",
			account, engine, now, why)
		if err != nil || changed.RowsAffected() == 0 {
			return err
		}
		return k.db.Warn(ctx, tx, account, store.Warning{Kind: store.WarnEngineKey, Data: store.WarningData{Engine: engine, Reason: why}, CreatedAt: now})
	})
}

// Accepted notes that a vendor has taken a key: it is used again if it was refused.
func (k *EngineKeys) Accepted(ctx context.Context, account, engine, key string) error {
	now := k.db.Time(ctx)
	return k.change(ctx, "note an accepted engine key", account, engine, key, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "update engine_keys set refused_at = null, refusal = '' where account_id = $1 and engine = $2", account, engine); err != nil {
			return err
		}
		return clearRefusal(ctx, tx, account, engine, now)
	})
}

// change runs f in a transaction that holds the key of an engine, if it is still this one.
func (k *EngineKeys) change(ctx context.Context, op, account, engine, key string, f func(pgx.Tx) error) error {
	return k.db.Tx(ctx, op, func(tx pgx.Tx) error {
		sealed, err := store.Scalar[[]byte](ctx, tx, "select sealed from engine_keys where account_id = $1 and engine = $2 for update", account, engine)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		if is, err := k.seal.Open(account, sealedFor(engine), sealed); err != nil || is != key {
			return err
		}
		return f(tx)
	})
}

// clearRefusal ends what the account was warned of about the key of an engine.
func clearRefusal(ctx context.Context, tx pgx.Tx, account, engine string, now time.Time) error {
	return store.Do(ctx, tx, `update warnings set cleared_at = $4 where account_id = $1 and kind = $2 and data->>'engine' = $3 and cleared_at is null`,
		account, store.WarnEngineKey, engine, now)
}
