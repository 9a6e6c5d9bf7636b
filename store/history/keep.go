package history

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"

	"parley/store"
)

// Kept is what people and programs keep with a call.
type Kept struct {
	Metadata map[string]string
	Tags     []string
	Note     *string // nil: none
}

// Keep changes what is kept with a call of the account, within a transaction that others wait for. What
// change returns an error for stays as it is.
func (h *Store) Keep(ctx context.Context, account, id string, change func(*Kept) error) error {
	return h.db.Tx(ctx, "keep with call", func(tx pgx.Tx) error {
		var k Kept
		err := tx.QueryRow(ctx, "select metadata, tags, note from calls where account_id = $1 and session_id = $2 for no key update", account, id).
			Scan(&k.Metadata, &k.Tags, &k.Note)
		if errors.Is(err, pgx.ErrNoRows) {
			return store.ErrNotFound
		}
		if err != nil {
			return err
		}
		if err := change(&k); err != nil {
			return err
		}
		return store.Do(ctx, tx, "update calls set metadata = $3, tags = $4, note = $5 where account_id = $1 and session_id = $2",
			account, id, store.Pairs(k.Metadata), k.Tags, k.Note)
	})
}

// maxSearched bounds the words by which a call is found, in bytes: those of two hours.
const maxSearched = 128 << 10

// queueWords has a call found by the words of its transcript. The account is one of them, so that an
// index finds an account's calls however many others have said the same.
func queueWords(b *pgx.Batch, account, id string, lines []TranscriptLine) {
	var said strings.Builder
	for _, l := range lines {
		if said.Len()+len(l.Text) > maxSearched {
			break
		}
		said.WriteString(l.Text)
		said.WriteByte(' ')
	}
	b.Queue(`insert into call_words (session_id, words) select session_id, array_to_tsvector(array[account_id]) || to_tsvector('simple', $3)
		from calls where account_id = $1 and session_id = $2 on conflict (session_id) do update set words = excluded.words`, account, id, said.String())
}
