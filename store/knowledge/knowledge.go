// Package knowledge keeps what agents look things up in: collections of an account, documents
// in them, and the passages that documents are cut into, which PostgreSQL searches.
//
// A document is added as a file or an address, and read in the background: Store.Take hands it
// to a reader, which reports by Store.Finish or Store.Fail. Until it is read again the
// passages of the last time are found. Package document reads the formats.
//
// With an Embedder passages get vectors, in the background as well: Store.NextUnembedded hands out the next document. A
// search merges what it finds by words and by vectors, which are compared here, in memory.
package knowledge

import (
	"context"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"parley/store"
)

// Bounds of an account's knowledge.
const (
	MaxBases     = 50  // of an account
	MaxDocuments = 500 // of a collection
	// MaxBytes is the largest document.
	MaxBytes = 20 << 20
	// MaxTotal bounds the bytes of an account's documents together.
	MaxTotal = 200 << 20
	MaxName  = 100 // characters of a collection's name and of a title
	// MaxSource is the longest name of a file, and the longest address, in bytes.
	MaxSource = 2000
)

// simple is PostgreSQL's configuration for any language: words as they are written.
const simple = "simple"

// configurations are PostgreSQL's names of the languages in which all forms of a word are found.
var configurations = map[string]string{"en": "english", "es": "spanish", "fr": "french", "it": "italian", "de": "german", "pt": "portuguese"}

// configuration is PostgreSQL's name for a language such as en or pt-BR.
func configuration(language string) string {
	first, _, _ := strings.Cut(strings.ReplaceAll(strings.ToLower(language), "_", "-"), "-")
	if c, ok := configurations[first]; ok {
		return c
	}
	return simple
}

// Base is a collection of documents.
type Base struct {
	ID   string
	Name string
	// Language is a code such as en; for those that PostgreSQL does not know words are found only as they are written.
	Language  string
	Documents int
	Ready     int   // of them, those that are found
	Passages  int   // of all
	Bytes     int64 // of all
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Store keeps knowledge in a database. Several goroutines may use it.
type Store struct {
	db      *store.DB
	nearest *nearest // nil: documents are found by their words alone
}

// New returns the knowledge in a database.
func New(db *store.DB) *Store { return &Store{db: db} }

// selectBase reads the fields of a Base, in their order.
const selectBase = `select b.id, b.name, b.language, d.documents, d.ready, d.passages, d.bytes, b.created_at, b.updated_at from knowledge_bases b
	cross join lateral (select count(*) documents, count(*) filter (where read_at is not null) ready, coalesce(sum(passages), 0) passages, coalesce(sum(bytes), 0)::bigint bytes
		from knowledge_documents where base_id = b.id) d where b.account_id = $1`

// oneLine is a text of a user in one line, without spaces around it.
func oneLine(field, text string) (string, error) {
	text = strings.TrimSpace(text)
	if n := utf8.RuneCountInString(text); n == 0 || n > MaxName || !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
		return "", store.Invalid("%s: 1 to %d characters, in one line", field, MaxName)
	}
	return text, nil
}

// Create adds a collection. ErrInvalid also when the account has MaxBases.
func (s *Store) Create(ctx context.Context, account, name, language string) (*Base, error) {
	name, err := oneLine("name", name)
	if err != nil {
		return nil, err
	}
	now := s.db.Time(ctx)
	id := store.NewID(store.KnowledgeID, now)
	err = s.db.Tx(ctx, "create collection", func(tx pgx.Tx) error {
		// The lock on the account makes the count exact.
		if err := store.ErrNotFound.IfUnchanged(tx.Exec(ctx, "select from accounts where id = $1 for no key update", account)); err != nil {
			return err
		}
		n, err := store.Scalar[int](ctx, tx, "select count(*) from knowledge_bases where account_id = $1", account)
		if err != nil {
			return err
		}
		if n >= MaxBases {
			return store.Invalid("an account has at most %d collections", MaxBases)
		}
		return store.Do(ctx, tx, "insert into knowledge_bases (id, account_id, name, language, created_at, updated_at) values ($1, $2, $3, $4, $5, $5)", id, account, name, language, now)
	})
	if err != nil {
		return nil, err
	}
	return s.Get(ctx, account, id)
}

// List lists the account's collections, the newest first.
func (s *Store) List(ctx context.Context, account string, p store.Page) ([]Base, error) {
	return store.ListPage[Base](ctx, s.db, "list collections", p, "b.id", selectBase, account)
}

// Get returns a collection of the account.
func (s *Store) Get(ctx context.Context, account, id string) (*Base, error) {
	return store.First[Base](ctx, s.db, "read collection", selectBase+" and b.id = $2", account, id)
}

// Rename gives a collection another name.
func (s *Store) Rename(ctx context.Context, account, id, name string) (*Base, error) {
	name, err := oneLine("name", name)
	if err != nil {
		return nil, err
	}
	if err := s.db.Must(ctx, "rename collection", "update knowledge_bases set name = $3, updated_at = $4 where account_id = $1 and id = $2", account, id, name, s.db.Time(ctx)); err != nil {
		return nil, err
	}
	return s.Get(ctx, account, id)
}

// Delete removes a collection with its documents. Agents that name it find nothing in it any more.
func (s *Store) Delete(ctx context.Context, account, id string) error {
	return s.db.Must(ctx, "delete collection", "delete from knowledge_bases where account_id = $1 and id = $2", account, id)
}

// Missing lists those of ids that are no collections of the account, in their order.
func (s *Store) Missing(ctx context.Context, account string, ids []string) ([]string, error) {
	return store.List[string](ctx, s.db, "find collections", `select id from unnest($2::text[]) with ordinality asked (id, place)
		where not exists (select from knowledge_bases b where b.account_id = $1 and b.id = asked.id collate "C") order by place`, account, ids)
}
