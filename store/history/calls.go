package history

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/billing"
	"parley/store"
)

// Call is a conversation as history shows it.
type Call struct {
	ID    string // of its session
	Agent *string
	// AgentVersion is the agent's that it ran with; nil: not known, or of none.
	AgentVersion *int64
	Direction    billing.Kind // billing.Web, Inbound or Outbound
	From, To     string
	OpenedAt     time.Time
	RangAt       *time.Time // outbound: the callee was alerted; nil: not known to be
	StartedAt    *time.Time // answered, or the first prompt of a web session; nil: never
	EndedAt      *time.Time // nil while it lasts
	EndReason    *string
	EndDetail    *string
	Cost         billing.Money // so far, posted or not
	MOS          *float64      // how a telephone call sounded, 1 to 4.4; nil: not known
	// Wait is what half of its turns did not exceed, from the caller's last word to the first audio, in milliseconds; nil: it has
	// none, or is not counted yet.
	Wait *int64
	// Verstat is what the carrier of a call that came in said of the caller's number, in the
	// words of ATIS-1000074; nil: nothing.
	Verstat *string
	// Attestation is how well the carrier where it began knows the caller: A, B or C; nil: nobody says.
	Attestation *string
	// DeletedAt is when what was said in it was deleted; nil: it was not.
	DeletedAt *time.Time
	// Demonstration says that it came with the demonstration: there was no such call.
	Demonstration bool
	Asked         *store.Asked      // how a webhook was asked who answers it; nil: none was
	Headers       map[string]string // of a telephone call, that programs of either side use
	Origin        *store.CallOrigin // where a call that came in was before; nil: nothing is known
	Kept
	Uses []store.EngineUse `db:"-"` // what engines used, in it and for it afterwards; none while it lasts
	Conversation
}

// Conversation is what was said and how it went.
type Conversation struct {
	Transcript  []TranscriptLine
	Omitted     int                // lines that followed and were not kept: the transcript is bounded
	Turns       json.RawMessage    // per-turn latencies, a JSON array; its shape is the conversation's business
	Generations []store.Generation `db:"-"`
	Functions   []FunctionCall     `db:"-"` // the first of them: they are bounded
	// Log is written with the rest, unless it is nil, and read by CallLog alone; so is
	// Replay, by CallReplay.
	Log    *CallLog `db:"-"`
	Replay []byte   `db:"-"`
	// Engines are those that served the call; nil: not known, or not stored yet.
	Engines    *store.ServedBy
	AnsweredBy string // outbound: human, machine, screening or unknown; empty: it was not detected, or is not stored yet
}

// TranscriptLine is one thing that was said.
type TranscriptLine struct {
	Role string `json:"role"` // "user", "agent" or "supervisor"
	Text string `json:"text"`
	AtMS int64  `json:"at_ms"` // since the start of the session's clock

	Words        []SpokenWord  `json:"words,omitempty"`     // of Text; none: it was typed, or is of before they were kept
	Estimated    bool          `json:"estimated,omitempty"` // an engine gave no times for some of them
	Interruption *Interruption `json:"interrupted,omitempty"`
}

// SpokenWord is a word of a line, with times since the start of the session's clock.
type SpokenWord struct {
	Text    string `json:"text"`
	StartMS int64  `json:"start_ms"`
	EndMS   int64  `json:"end_ms"`
}

// Interruption is where a line of the agent's was cut off, and what of it was not heard.
type Interruption struct {
	AtMS    int64  `json:"at_ms"`
	Unheard string `json:"unheard"`
}

// Plain is the line without the times of its words and without what was not heard.
func (l TranscriptLine) Plain() TranscriptLine {
	return TranscriptLine{Role: l.Role, Text: l.Text, AtMS: l.AtMS}
}

// clean is a text as PostgreSQL can hold it, whatever a recogniser, a model or a function said.
func clean(text string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "\ufffd")
}

// storable is the line as text of PostgreSQL can hold it: without NUL, which a recogniser
// or a model may say. What l points to does not change.
func (l TranscriptLine) storable() TranscriptLine {
	l.Text = clean(l.Text)
	if i := l.Interruption; i != nil {
		l.Interruption = &Interruption{i.AtMS, clean(i.Unheard)}
	}
	words := l.Words
	l.Words = nil
	for _, w := range words {
		w.Text = clean(w.Text)
		l.Words = append(l.Words, w)
	}
	return l
}

// SaveConversation replaces what is stored of a call of the account; it may be
// called while the call lasts and after. Of a call that was deleted no words are stored.
func (h *Store) SaveConversation(ctx context.Context, account, id string, c Conversation) error {
	return h.db.Tx(ctx, "save conversation", func(tx pgx.Tx) error { return saveConversation(ctx, tx, account, id, c) })
}

// Fill writes what is known of a call of the account within a transaction.
func Fill(ctx context.Context, tx pgx.Tx, account, id string, c Conversation, w Wire) error {
	if err := saveConversation(ctx, tx, account, id, c); err != nil {
		return err
	}
	return saveWires(ctx, tx, true, CallWire{account, id, w})
}

func saveConversation(ctx context.Context, tx pgx.Tx, account, id string, c Conversation) error {
	if c.Turns == nil {
		c.Turns = json.RawMessage("[]")
	}
	lines := append([]TranscriptLine{}, c.Transcript...) // [] and not null when there are none
	for i, l := range lines {
		lines[i] = l.storable()
	}
	transcript, err := json.Marshal(lines)
	if err != nil {
		return fmt.Errorf("save conversation: %w", err)
	}
	if !json.Valid(c.Turns) {
		return store.Invalid("turns must be JSON")
	}
	err = store.ErrNotFound.IfUnchanged(tx.Exec(ctx,
		`update calls set transcript = $3, turns = $4, answered_by = nullif($5, ''), engines = $6, transcript_omitted = $7, saved_at = coalesce(saved_at, now())
		where session_id = $1 and account_id = $2`, id, account, string(transcript), string(c.Turns), c.AnsweredBy, c.Engines, c.Omitted))
	if err != nil {
		return err
	}
	b := &pgx.Batch{}
	if c.Log != nil {
		if err := saveLog(b, id, c.Log); err != nil {
			return err
		}
	}
	if c.Replay != nil {
		saveReplay(b, id, c.Replay)
	}
	b.Queue("delete from call_events where session_id = $1", id)
	b.Queue("delete from call_generations where session_id = $1 and ordinal < $2", id, store.AfterCall)
	queueWords(b, account, id, lines)
	// In case its call is counted by now: it was stored by a node that was taken for dead.
	b.Queue("insert into calls_to_count (session_id, account_id) select session_id, account_id from calls where account_id = $1 and session_id = $2", account, id)
	for i := range c.Functions {
		queueFunction(b, account, id, &c.Functions[i])
	}
	for i, g := range c.Generations {
		b.Queue(`insert into call_generations (session_id, ordinal, gen, turn, kind, outcome, in_tokens, out_tokens, source, engine, own)
			values ($1, $2, $3, $4, $5, $6, $7, $8, $9, nullif($10, ''), $11)`,
			id, i, g.Gen, g.Turn, g.Kind, g.Outcome, g.InTokens, g.OutTokens, g.Source, g.Engine, g.Own)
	}
	return store.Send(ctx, tx, b)
}

// selectCalls and selectCall read calls, the second with what was said: that is long, and
// lists do without it.
const (
	selectCalls = callColumns + "null::jsonb, 0, null::jsonb" + fromCalls
	selectCall  = callColumns + "c.transcript, c.transcript_omitted, c.turns" + fromCalls + ofAccount
	callColumns = `select c.session_id, c.agent_id, c.agent_version, s.kind, c.from_number, c.to_number, s.opened_at, c.rang_at, u.started_at,
	` + store.EndedAt + `, s.end_reason, s.end_detail, u.amount_nano, w.mos, k.wait_ms, c.verstat, c.attestation, c.deleted_at, c.demonstration is not null, c.asked, c.headers, c.origin, c.metadata, c.tags, c.note, `
	fromCalls = `, c.engines, coalesce(c.answered_by, '')
	from calls c join sessions s on s.id = c.session_id join session_usage u on u.session_id = c.session_id
	left join call_wire w on w.session_id = c.session_id left join call_counts k on k.session_id = c.session_id`
	ofAccount = " where c.account_id = $1"
)

// Call returns a call of the account: of one that lasts, or was lost with its node, what was stored of
// it as it happened.
func (h *Store) Call(ctx context.Context, account, id string) (*Call, error) {
	c, err := store.First[Call](ctx, h.db, "read call", selectCall+" and c.session_id = $2", account, id)
	if err != nil {
		return nil, err
	}
	c.Generations, err = store.List[store.Generation](ctx, h.db, "read generations",
		`select gen, turn, kind, outcome, in_tokens, out_tokens, source, coalesce(engine, ''), own from call_generations where session_id = $1 order by ordinal`, id)
	if err != nil {
		return nil, err
	}
	if c.Functions, err = h.functions(ctx, id); err != nil {
		return nil, err
	}
	c.Uses, err = store.List[store.EngineUse](ctx, h.db, "read usage of engines",
		`select stage, engine, model, own, unit, quantity, source, cost_nano, price_nano from call_engine_usage where session_id = $1 order by ordinal`, id)
	if err != nil {
		return nil, err
	}
	if err := h.happening(ctx, account, c); err != nil {
		return nil, err
	}
	return c, nil
}

// CallRings notes that the callee of an outbound call is being alerted. The first
// time stays.
func (h *Store) CallRings(ctx context.Context, account, id string) error {
	return h.db.Must(ctx, "note ringing", "update calls set rang_at = coalesce(rang_at, $3) where session_id = $2 and account_id = $1", account, id, h.db.Time(ctx))
}
