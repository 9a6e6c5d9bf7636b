package history

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/media/quality"
	"parley/store"
)

// Wire is how a telephone call went on the wire. The zero Wire is that of a call
// without one.
type Wire struct {
	Quality *quality.Report // nil: there was no media, or it has not ended
	SIP     []SIPMessage    // oldest first
	Dropped int             // older messages that were not kept
}

// SIPMessage is a message of a call's signalling. It is stored without its
// secrets.
type SIPMessage struct {
	At        time.Time `json:"at"`
	Sent      bool      `json:"sent"` // by us
	Transport string    `json:"transport"`
	From      string    `json:"from"` // addresses with ports
	To        string    `json:"to"`
	Text      string    `json:"text"`
}

// SaveWire replaces what is stored of how a call of the account went. Of one that was
// deleted the messages are not kept.
func (h *Store) SaveWire(ctx context.Context, account, id string, w Wire) error {
	return h.db.Tx(ctx, "save wire", func(tx pgx.Tx) error { return saveWire(ctx, tx, account, id, w) })
}

func saveWire(ctx context.Context, tx pgx.Tx, account, id string, w Wire) error {
	list := append([]SIPMessage{}, w.SIP...)
	for i := range list { // a far end may send it, but no text of PostgreSQL holds it
		list[i].Text = strings.ReplaceAll(list[i].Text, "\x00", "")
	}
	messages, err := json.Marshal(list)
	if err != nil {
		return fmt.Errorf("save wire: %w", err)
	}
	var report *string
	var mos *float64
	if w.Quality != nil {
		b, err := json.Marshal(w.Quality)
		if err != nil {
			return fmt.Errorf("save wire: %w", err)
		}
		text := string(b)
		report = &text
		if w.Quality.MOS > 0 {
			mos = &w.Quality.MOS
		}
	}
	return store.ErrNotFound.IfUnchanged(tx.Exec(ctx, `insert into call_wire (session_id, quality, mos, sip, sip_dropped)
		select session_id, $3, $4, case when deleted_at is null then $5::jsonb else '[]' end, case when deleted_at is null then $6::int else 0 end
		from calls where account_id = $1 and session_id = $2 for share
		on conflict (session_id) do update set quality = excluded.quality, mos = excluded.mos, sip = excluded.sip, sip_dropped = excluded.sip_dropped`,
		account, id, report, mos, string(messages), w.Dropped))
}

// Wire returns how a call of the account went, the zero Wire when nothing is
// stored of that, as with calls over a WebSocket.
func (h *Store) Wire(ctx context.Context, account, id string) (*Wire, error) {
	return store.First[Wire](ctx, h.db, "read wire", `select w.quality, coalesce(w.sip, '[]'), coalesce(w.sip_dropped, 0)
		from calls c left join call_wire w on w.session_id = c.session_id where c.account_id = $1 and c.session_id = $2`, account, id)
}
