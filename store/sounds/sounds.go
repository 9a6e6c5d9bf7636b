// Package sounds keeps the sounds of accounts, which callers hear while somebody is called for them. They are stored as package
// media/hold plays them, G.722 at 16 kHz, and do not change.
package sounds

import (
	"context"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"parley/store"
)

// Bounds of an account's sounds.
const (
	MaxSounds = 32
	MaxLength = 3 * time.Minute // of one: 1.44 MB
	MaxName   = 100             // characters
)

// bytesPerSecond is what G.722 has.
const bytesPerSecond = 8000

// Sound is a sound without its audio.
type Sound struct {
	ID        string
	Name      string
	Bytes     int // of its audio
	CreatedAt time.Time
}

// Duration is how long it lasts.
func (s *Sound) Duration() time.Duration {
	return time.Duration(s.Bytes) * time.Second / bytesPerSecond
}

// Store keeps sounds in a database. Several goroutines may use it.
type Store struct {
	db    *store.DB
	cache cache
}

// New returns the sounds in a database.
func New(db *store.DB) *Store { return &Store{db: db} }

// selectSound reads the fields of a Sound, in their order.
const selectSound = "select id, name, length(codes), created_at from sounds where account_id = $1"

// Add adds a sound, whose audio is kept as it is. ErrInvalid: the name is none, the audio is longer than MaxLength or there is none, or
// the account has MaxSounds.
func (s *Store) Add(ctx context.Context, account, name string, codes []byte) (*Sound, error) {
	name = strings.TrimSpace(name)
	if n := utf8.RuneCountInString(name); n == 0 || n > MaxName || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		return nil, store.Invalid("name: 1 to %d characters, in one line", MaxName)
	}
	if len(codes) == 0 || len(codes) > int(MaxLength/time.Second)*bytesPerSecond {
		return nil, store.Invalid("a sound may last %d minutes", MaxLength/time.Minute)
	}
	now := s.db.Time(ctx)
	id := store.NewID(store.SoundID, now)
	err := s.db.Tx(ctx, "add sound", func(tx pgx.Tx) error {
		// The lock on the account makes the count exact.
		if err := store.ErrNotFound.IfUnchanged(tx.Exec(ctx, "select from accounts where id = $1 for no key update", account)); err != nil {
			return err
		}
		n, err := store.Scalar[int](ctx, tx, "select count(*) from sounds where account_id = $1", account)
		if err != nil {
			return err
		}
		if n >= MaxSounds {
			return store.Invalid("an account has at most %d sounds", MaxSounds)
		}
		return store.Do(ctx, tx, "insert into sounds (id, account_id, name, codes, created_at) values ($1, $2, $3, $4, $5)", id, account, name, codes, now)
	})
	if err != nil {
		return nil, err
	}
	return s.Get(ctx, account, id)
}

// List lists the account's sounds, the newest first.
func (s *Store) List(ctx context.Context, account string, p store.Page) ([]Sound, error) {
	return store.ListPage[Sound](ctx, s.db, "list sounds", p, "id", selectSound, account)
}

// Get returns a sound of the account.
func (s *Store) Get(ctx context.Context, account, id string) (*Sound, error) {
	return store.First[Sound](ctx, s.db, "read sound", selectSound+" and id = $2", account, id)
}

// Delete removes a sound. Calls in which it plays keep it; after them callers of agents that name it hear the ringing tone.
func (s *Store) Delete(ctx context.Context, account, id string) error {
	return s.db.Must(ctx, "delete sound", "delete from sounds where account_id = $1 and id = $2", account, id)
}

// Audio is the audio of a sound of the account.
func (s *Store) Audio(ctx context.Context, account, id string) ([]byte, error) {
	return store.Value[[]byte](ctx, s.db, "read audio", "select codes from sounds where account_id = $1 and id = $2", account, id)
}

// Codes is Audio for those who play it. They share what is in the Store's cache, and do not change it.
func (s *Store) Codes(ctx context.Context, account, id string) ([]byte, error) {
	cached := s.cache.find(id)
	codes, err := store.Value[[]byte](ctx, s.db, "read audio", "select case when $3 then null else codes end from sounds where account_id = $1 and id = $2",
		account, id, cached != nil)
	if err != nil {
		return nil, err
	}
	if cached != nil {
		return cached, nil
	}
	s.cache.add(id, codes)
	return codes, nil
}
