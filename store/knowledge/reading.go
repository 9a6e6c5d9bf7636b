package knowledge

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"github.com/jackc/pgx/v5"

	"parley/store"
)

// Taken is a document that is being read.
type Taken struct {
	Document
	Account string
	Body    []byte // of a file; nil: it is fetched from its address
	asked   int
}

// errAskedAgain: reading was asked for again meanwhile, or the document is gone.
var errAskedAgain = errors.New("asked for again")

// Take hands a document to its reader. It is nil where there is nothing to do: the document is gone, or read already.
// What another reader began and did not finish is handed out again.
func (s *Store) Take(ctx context.Context, account, id string) (*Taken, error) {
	var r *Taken
	err := s.db.Tx(ctx, "take document", func(tx pgx.Tx) error {
		type taken struct {
			Document
			Asked int
		}
		t, err := store.Row[taken](ctx, tx, `update knowledge_documents set state = 'reading', updated_at = $3
			where account_id = $1 and id = $2 and state in ('queued', 'reading') returning `+columns+", asked", account, id, s.db.Time(ctx))
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		r = &Taken{Document: t.Document, Account: account, asked: t.Asked}
		if t.Web {
			return nil
		}
		r.Body, err = store.Scalar[[]byte](ctx, tx, "select body from knowledge_files where document_id = $1", id)
		return err
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Text is what a reader made of a document.
type Text struct {
	MediaType string
	Title     string // the document's own; empty: the one that it has stays
	Body      []byte // of an address, as it was fetched; else nil
	Pages     int
	Passages  []Passage
}

// Passage is a part of a document.
type Passage struct {
	Page    int    // the first that it is on, from 1; 0: there are none
	Heading string // the one that it stands under, or empty
	Text    string
}

// Finish replaces the passages of a document. It does nothing where reading was asked for again since Take, or the
// document is gone. An account that has no room for what an address has become has the document fail.
func (s *Store) Finish(ctx context.Context, r *Taken, t Text) error {
	err := s.db.Tx(ctx, "finish document", func(tx pgx.Tx) error {
		now := s.db.Time(ctx)
		bytes, hash, title := r.Bytes, r.Hash, r.Title
		if r.Web {
			sum := sha256.Sum256(t.Body)
			bytes, hash = int64(len(t.Body)), hex.EncodeToString(sum[:])
			if clean, err := oneLine("title", t.Title); err == nil && r.Title == firstTitle(r.Source) {
				title = clean
			}
			others, err := store.Scalar[int64](ctx, tx, "select coalesce(sum(bytes), 0)::bigint from knowledge_documents where account_id = $1 and id <> $2", r.Account, r.ID)
			if err != nil {
				return err
			}
			if others+bytes > MaxTotal {
				return full()
			}
		}
		language, err := store.Scalar[string](ctx, tx, "select language from knowledge_bases where id = $1 and account_id = $2", r.Base, r.Account)
		if errors.Is(err, pgx.ErrNoRows) {
			return errAskedAgain
		}
		if err != nil {
			return err
		}
		tag, err := tx.Exec(ctx, `update knowledge_documents set state = 'ready', reason = '', title = $4, media_type = $5, bytes = $6, hash = $7, pages = $8, passages = $9, read_at = $10, updated_at = $10
			where account_id = $1 and id = $2 and asked = $3`, r.Account, r.ID, r.asked, title, t.MediaType, bytes, hash, t.Pages, len(t.Passages), now)
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			return errAskedAgain
		}
		if err := s.replace(ctx, tx, r, configuration(language), t.Passages); err != nil || s.nearest == nil {
			return err
		}
		return s.db.Enqueue(ctx, tx, store.EmbedDocuments, "", "")
	})
	if errors.Is(err, errAskedAgain) {
		return nil
	}
	return err
}

// replace stores passages in the place of those that there are, and lets the file go.
func (s *Store) replace(ctx context.Context, tx pgx.Tx, r *Taken, language string, passages []Passage) error {
	if err := store.Do(ctx, tx, "delete from knowledge_passages where document_id = $1", r.ID); err != nil {
		return err
	}
	if err := store.Do(ctx, tx, "delete from knowledge_files where document_id = $1", r.ID); err != nil {
		return err
	}
	_, err := tx.CopyFrom(ctx, pgx.Identifier{"knowledge_passages"}, []string{"document_id", "no", "base_id", "account_id", "page", "heading", "language", "text"},
		pgx.CopyFromSlice(len(passages), func(i int) ([]any, error) {
			p := &passages[i]
			return []any{r.ID, i, r.Base, r.Account, p.Page, p.Heading, language, p.Text}, nil
		}))
	return err
}

// Fail notes why a document cannot be read, in a sentence for its owner. Passages of the last time stay.
func (s *Store) Fail(ctx context.Context, r *Taken, reason string) error {
	return s.db.Tx(ctx, "fail document", func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, "update knowledge_documents set state = 'failed', reason = $4, updated_at = $5 where account_id = $1 and id = $2 and asked = $3",
			r.Account, r.ID, r.asked, reason, s.db.Time(ctx))
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		return store.Do(ctx, tx, "delete from knowledge_files where document_id = $1", r.ID)
	})
}

// GiveUp has a document fail that its readers took and neither finished nor failed. One that is to be read again stays
// in line. Passages of the last time stay.
func (s *Store) GiveUp(ctx context.Context, account, id, reason string) error {
	return s.db.Tx(ctx, "give document up", func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, "update knowledge_documents set state = 'failed', reason = $3, updated_at = $4 where account_id = $1 and id = $2 and state = 'reading'",
			account, id, reason, s.db.Time(ctx))
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		return store.Do(ctx, tx, "delete from knowledge_files where document_id = $1", id)
	})
}
