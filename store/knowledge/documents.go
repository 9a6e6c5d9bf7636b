package knowledge

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"parley/store"
)

// State is how far a document is.
type State string

// The states of a document.
const (
	Queued  State = "queued" // to be read
	Reading State = "reading"
	Ready   State = "ready"
	Failed  State = "failed"
)

// Document is a file or an address in a collection.
type Document struct {
	ID        string
	Base      string
	Title     string
	Source    string // the file's name, or the address
	Web       bool   // Source is an address
	MediaType string // empty: not known yet
	Bytes     int64
	State     State
	Reason    string // why it failed, in a sentence for its owner
	Pages     int    // 0: the format has none
	Passages  int
	Hash      string // SHA-256 of its bytes in hexadecimal; empty: none are known yet
	CreatedAt time.Time
	UpdatedAt time.Time
	ReadAt    *time.Time // when its passages were made; nil: it has none
}

// columns are the fields of a Document, in their order.
const columns = "id, base_id, title, source, web, media_type, bytes, state, reason, pages, passages, hash, created_at, updated_at, read_at"

const selectDocument = "select " + columns + " from knowledge_documents where account_id = $1 and base_id = $2"

// NewDocument is a document to be added.
type NewDocument struct {
	Title     string // empty: the source
	Source    string // the file's name, or the address, which nothing here has checked
	Web       bool   // Source is an address
	MediaType string // of a file; may be empty
	Body      []byte // of a file; kept until it is read
}

// valid says what is wrong with a document, and completes it.
func (n *NewDocument) valid() error {
	if len(n.Source) == 0 || len(n.Source) > MaxSource || !utf8.ValidString(n.Source) {
		return store.Invalid("a name or an address of 1 to %d bytes", MaxSource)
	}
	if n.Title == "" {
		n.Title = firstTitle(n.Source)
	}
	if len(n.Body) > MaxBytes {
		return store.Invalid("file: at most %d MB", MaxBytes>>20)
	}
	if !n.Web && len(n.Body) == 0 {
		return store.Invalid("file: it is empty")
	}
	var err error
	n.Title, err = oneLine("title", n.Title)
	return err
}

// firstTitle is the title of a document that was given none.
func firstTitle(source string) string {
	title := []rune(source)
	return string(title[:min(len(title), MaxName)])
}

// Add adds a document, to be read in the background. ErrInvalid also when the collection or the account is full.
func (s *Store) Add(ctx context.Context, account, base string, n NewDocument) (out *Document, err error) {
	if err := n.valid(); err != nil {
		return nil, err
	}
	now, hash := s.db.Time(ctx), ""
	if !n.Web {
		sum := sha256.Sum256(n.Body)
		hash = hex.EncodeToString(sum[:])
	}
	err = s.db.Tx(ctx, "add document", func(tx pgx.Tx) error {
		if err := s.room(ctx, tx, account, base, int64(len(n.Body))); err != nil {
			return err
		}
		out, err = store.Row[Document](ctx, tx, `insert into knowledge_documents (id, base_id, account_id, title, source, web, media_type, bytes, state, hash, created_at, updated_at)
			values ($1, $2, $3, $4, $5, $6, $7, $8, 'queued', $9, $10, $10) returning `+columns,
			store.NewID(store.DocumentID, now), base, account, n.Title, n.Source, n.Web, n.MediaType, len(n.Body), hash, now)
		if err != nil {
			return err
		}
		if !n.Web {
			if err := store.Do(ctx, tx, "insert into knowledge_files (document_id, body) values ($1, $2)", out.ID, n.Body); err != nil {
				return err
			}
		}
		return s.db.Enqueue(ctx, tx, store.ReadDocument, account, out.ID)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// room refuses a document that its collection or its account has no room for. It locks the account's collections,
// so that those who add at once are all counted.
func (s *Store) room(ctx context.Context, tx pgx.Tx, account, base string, bytes int64) error {
	bases, err := store.Rows[string](ctx, tx, "select id from knowledge_bases where account_id = $1 order by id for no key update", account)
	if err != nil {
		return err
	}
	found := false
	for _, id := range bases {
		found = found || id == base
	}
	if !found {
		return store.ErrNotFound
	}
	var documents int
	var used int64
	err = tx.QueryRow(ctx, "select count(*) filter (where base_id = $2), coalesce(sum(bytes), 0)::bigint from knowledge_documents where account_id = $1", account, base).Scan(&documents, &used)
	switch {
	case err != nil:
		return err
	case documents >= MaxDocuments:
		return store.Invalid("a collection has at most %d documents", MaxDocuments)
	case used+bytes > MaxTotal:
		return full()
	}
	return nil
}

// full is the error of an account that has no room left.
func full() error { return store.Invalid("an account has at most %d MB of documents", MaxTotal>>20) }

// Documents lists the documents of a collection, the newest first.
func (s *Store) Documents(ctx context.Context, account, base string, p store.Page) ([]Document, error) {
	if _, err := s.Get(ctx, account, base); err != nil {
		return nil, err
	}
	return store.ListPage[Document](ctx, s.db, "list documents", p, "id", selectDocument, account, base)
}

// Document returns a document of a collection.
func (s *Store) Document(ctx context.Context, account, base, id string) (*Document, error) {
	return store.First[Document](ctx, s.db, "read document", selectDocument+" and id = $3", account, base, id)
}

// DeleteDocument removes a document with its passages.
func (s *Store) DeleteDocument(ctx context.Context, account, base, id string) error {
	return s.db.Must(ctx, "delete document", "delete from knowledge_documents where account_id = $1 and base_id = $2 and id = $3", account, base, id)
}

// Refresh has an address fetched and read again. ErrInvalid: the document is a file.
func (s *Store) Refresh(ctx context.Context, account, base, id string) (out *Document, err error) {
	err = s.db.Tx(ctx, "refresh document", func(tx pgx.Tx) error {
		if out, err = store.Row[Document](ctx, tx, selectDocument+" and id = $3 for no key update", account, base, id); err != nil {
			return err
		}
		if !out.Web {
			return store.Invalid("a file is read once: add it again")
		}
		out, err = store.Row[Document](ctx, tx, `update knowledge_documents set state = 'queued', reason = '', asked = asked + 1, updated_at = $2 where id = $1 returning `+columns,
			id, s.db.Time(ctx))
		if err != nil {
			return err
		}
		return s.db.Enqueue(ctx, tx, store.ReadDocument, account, id)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
