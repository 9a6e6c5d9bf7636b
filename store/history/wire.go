package history

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/media/quality"
	"parley/store"
)

// Wire is how a call went on the wire, or goes by now. The zero Wire is that of a call
// without one.
type Wire struct {
	Quality *quality.Report // nil: there is no media so far
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

// CallWire is the Wire of one call of an account.
type CallWire struct {
	Account, Call string
	Wire          Wire
}

// SaveWire replaces what is stored of how a call of the account went. Of one that was
// deleted the messages are not kept.
func (h *Store) SaveWire(ctx context.Context, account, id string, w Wire) error {
	return h.db.Tx(ctx, "save wire", func(tx pgx.Tx) error { return saveWires(ctx, tx, true, CallWire{account, id, w}) })
}

// SaveWires is SaveWire for calls in progress, in one statement. What is no call of its account is left out. Lists
// have the score of a call when it is over: until then it is in its Wire alone.
func (h *Store) SaveWires(ctx context.Context, list []CallWire) error {
	return h.db.Tx(ctx, "save wires", func(tx pgx.Tx) error {
		if err := saveWires(ctx, tx, false, list...); !errors.Is(err, store.ErrNotFound) {
			return err
		}
		return nil
	})
}

// saveWires stores wires; scored: with the scores for lists. ErrNotFound: there is none of the calls.
func saveWires(ctx context.Context, tx pgx.Tx, scored bool, list ...CallWire) error {
	var accounts, calls, messages []string
	var reports []*string
	var scores []*float64
	var dropped []int
	for _, c := range list {
		var report *string
		var mos *float64
		if q := c.Wire.Quality; q != nil {
			b, err := json.Marshal(q)
			if err != nil {
				return fmt.Errorf("save wire: %w", err)
			}
			report = new(string(b))
			if scored && q.MOS > 0 {
				mos = &q.MOS
			}
		}
		kept := append([]SIPMessage{}, c.Wire.SIP...)
		for i := range kept { // a far end may send it, but no text of PostgreSQL holds it
			kept[i].Text = strings.ReplaceAll(kept[i].Text, "\x00", "")
		}
		b, err := json.Marshal(kept)
		if err != nil {
			return fmt.Errorf("save wire: %w", err)
		}
		accounts, calls, messages = append(accounts, c.Account), append(calls, c.Call), append(messages, string(b))
		reports, scores, dropped = append(reports, report), append(scores, mos), append(dropped, c.Wire.Dropped)
	}
	return store.ErrNotFound.IfUnchanged(tx.Exec(ctx, `insert into call_wire (session_id, quality, mos, sip, sip_dropped)
		select c.session_id, w.quality::jsonb, w.mos, case when c.deleted_at is null then w.sip::jsonb else '[]' end, case when c.deleted_at is null then w.dropped else 0 end
		from unnest($1::text[] collate "C", $2::text[] collate "C", $3::text[], $4::float8[], $5::text[], $6::int[]) as w (account, call, quality, mos, sip, dropped)
		join calls c on c.session_id = w.call and c.account_id = w.account order by c.session_id for share of c
		on conflict (session_id) do update set quality = excluded.quality, mos = excluded.mos, sip = excluded.sip, sip_dropped = excluded.sip_dropped`,
		accounts, calls, reports, scores, messages, dropped))
}

// Wire returns how a call of the account went, the zero Wire when nothing is
// stored of that, as with calls over a WebSocket.
func (h *Store) Wire(ctx context.Context, account, id string) (*Wire, error) {
	return store.First[Wire](ctx, h.db, "read wire", `select w.quality, coalesce(w.sip, '[]'), coalesce(w.sip_dropped, 0)
		from calls c left join call_wire w on w.session_id = c.session_id where c.account_id = $1 and c.session_id = $2`, account, id)
}
