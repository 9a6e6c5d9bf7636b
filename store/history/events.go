package history

import (
	"context"
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/store"
)

// Event is one thing that happened in a call, as it is stored while the call lasts. One field
// besides At is set. A line has the times of its words here.
type Event struct {
	CallEvent
	Words      *LineWords        `json:"words,omitempty"` // of the line that the correction is of
	Turn       json.RawMessage   `json:"turn,omitempty"`  // where the time of a turn went; see Conversation.Turns
	Generation *store.Generation `json:"generation,omitempty"`
	Served     *store.ServedBy   `json:"served,omitempty"` // the engines that have served it by then
}

// LineWords are when the words of a line were said.
type LineWords struct {
	Words     []SpokenWord `json:"words"`
	Estimated bool         `json:"estimated,omitempty"`
}

// Happened is an event, or a completion, on its way to the store.
type Happened struct {
	Account, Call string
	No            int // of the event in its call, from 0 and without a gap
	Event         Event
	Completion    *Completion // nil: it is an event
}

// SaveEvents stores events of calls, the functions in them as they stand, and completions. What is
// stored stays as it is. Of a call that was deleted none is, and of one whose conversation is stored
// no event.
func (h *Store) SaveEvents(ctx context.Context, events []Happened) error {
	b := &pgx.Batch{}
	var accounts, calls, texts []string
	var numbers []int
	for i := range events {
		e := &events[i]
		if e.Completion != nil {
			if err := queueCompletion(b, e.Account, e.Call, e.Completion); err != nil {
				return store.Invalid("completion of %s: %v", e.Call, err)
			}
			continue
		}
		event := e.Event
		event.CallEvent = event.storable()
		text, err := json.Marshal(event)
		if err != nil {
			return store.Invalid("event of %s: %v", e.Call, err)
		}
		accounts, calls, numbers, texts = append(accounts, e.Account), append(calls, e.Call), append(numbers, e.No), append(texts, string(text))
		if e.Event.Function != nil {
			queueFunction(b, e.Account, e.Call, e.Event.Function)
		}
	}
	if len(calls) > 0 { // in one statement, which those of all calls of a node are
		b.Queue(`insert into call_events (session_id, no, event) select c.session_id, e.no, e.event::jsonb
			from unnest($1::text[], $2::text[] collate "C", $3::int[], $4::text[]) as e (account, call, no, event)
			join calls c on c.session_id = e.call and c.account_id = e.account and c.saved_at is null on conflict do nothing`, accounts, calls, numbers, texts)
	}
	return h.db.Tx(ctx, "save events", func(tx pgx.Tx) error { return store.Send(ctx, tx, b) })
}

// storable is the event as PostgreSQL can hold it: without NUL. What e points to does not change.
func (e CallEvent) storable() CallEvent {
	if e.Line != nil {
		line := e.Line.storable()
		e.Line = &line
	}
	if f := e.Function; f != nil {
		g := *f
		g.Name, g.Arguments, g.Result = clean(f.Name), clean(f.Arguments), clean(f.Result)
		e.Function = &g
	}
	if e.Correction != nil {
		e.Correction = &Correction{e.Correction.Line, clean(e.Correction.Text)}
	}
	return e
}

// selectEvents reads the events of a call whose conversation is not stored.
const selectEvents = `select e.event from call_events e join calls c on c.session_id = e.session_id
	where c.account_id = $1 and c.session_id = $2 and c.saved_at is null order by e.no`

type eventRow struct{ Event Event }

// happening completes a call whose conversation is not stored with what is known of it by now.
func (h *Store) happening(ctx context.Context, account string, c *Call) error {
	if c.EndedAt != nil && (c.EndDetail == nil || *c.EndDetail != store.DetailNodeLost) {
		return nil
	}
	events, err := store.List[eventRow](ctx, h.db, "read events", selectEvents, account, c.ID)
	if err != nil || len(events) == 0 {
		return err
	}
	functions := c.Functions // which are stored by themselves
	c.Conversation = rebuilt(events)
	c.Log, c.Functions = nil, functions
	return nil
}

// rebuilt is the conversation that events tell of. The first says how the call began.
func rebuilt(events []eventRow) Conversation {
	c := Conversation{Log: &CallLog{}, Turns: json.RawMessage("[]")}
	var turns []json.RawMessage
	for i, r := range events {
		e := r.Event
		switch {
		case i == 0:
			c.Log.At, c.Log.Status = e.At, e.Status
			continue
		case e.Turn != nil:
			turns = append(turns, e.Turn)
			continue
		case e.Generation != nil:
			c.Generations = append(c.Generations, *e.Generation)
			continue
		case e.Served != nil:
			c.Engines = e.Served
			continue
		case e.Line != nil:
			c.Transcript = append(c.Transcript, *e.Line)
			plain := e.Line.Plain()
			e.Line = &plain
		case e.Correction != nil && e.Correction.Line < len(c.Transcript):
			l := &c.Transcript[e.Correction.Line]
			l.Text, l.Words, l.Estimated = e.Correction.Text, nil, false
			if e.Words != nil {
				l.Words, l.Estimated = e.Words.Words, e.Words.Estimated
			}
		case e.AnsweredBy != "":
			c.AnsweredBy = e.AnsweredBy
		}
		c.Log.Events = append(c.Log.Events, e.CallEvent)
	}
	if turns != nil {
		c.Turns, _ = json.Marshal(turns) // they were read as JSON
	}
	return c
}

// Unfinished is what is stored of a call in progress, as it happened.
type Unfinished struct {
	Conversation
	Events      int // how many are stored of it, or were lost before the last of them
	Completions int // likewise
}

// Unfinished reads what is stored of a call of the account that is in progress, for a node that goes on with it.
func (h *Store) Unfinished(ctx context.Context, account, id string) (u Unfinished, err error) {
	events, err := store.List[eventRow](ctx, h.db, "read events", selectEvents, account, id)
	if err != nil || len(events) == 0 {
		return u, err
	}
	u.Conversation = rebuilt(events)
	if u.Functions, err = h.functions(ctx, id); err != nil {
		return u, err
	}
	err = h.db.One(ctx, "count events", `select (select max(no) + 1 from call_events where session_id = $1),
		(select coalesce(max(no), -1) + 1 from call_completions where session_id = $1)`, []any{id}, &u.Events, &u.Completions)
	return u, err
}

// recoverAfter is how long a call has been over before its conversation is made out of its events:
// its node, which may have been taken for dead, stores the whole of it meanwhile.
const recoverAfter = time.Minute

// Recover stores the conversations of calls that ended without their node, as far as it had stored
// what happened in them, a thousand at most, and returns how many there were. It also removes
// events that came after the conversation.
func (h *Store) Recover(ctx context.Context) (int, error) {
	type lost struct {
		Account, Call string
		Saved         bool
	}
	found, err := store.List[lost](ctx, h.db, "list lost calls", `select c.account_id, c.session_id, c.saved_at is not null
		from call_events e join calls c on c.session_id = e.session_id join sessions s on s.id = e.session_id
		where e.no = 0 and s.ended_at <= $1 order by e.session_id limit $2`, h.db.Time(ctx).Add(-recoverAfter), sweep)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, l := range found {
		err := h.db.Tx(ctx, "recover call", func(tx pgx.Tx) error { return recoverCall(ctx, tx, l.Account, l.Call) })
		if err != nil {
			return n, err
		}
		if !l.Saved {
			n++
		}
	}
	return n, nil
}

func recoverCall(ctx context.Context, tx pgx.Tx, account, id string) error {
	// The lock keeps out the node that was taken for dead.
	if err := store.Do(ctx, tx, "select from calls where account_id = $1 and session_id = $2 for no key update", account, id); err != nil {
		return err
	}
	events, err := store.Rows[eventRow](ctx, tx, selectEvents, account, id)
	if err != nil {
		return err
	}
	if len(events) == 0 { // it is stored
		return store.Do(ctx, tx, "delete from call_events where session_id = $1", id)
	}
	return saveConversation(ctx, tx, account, id, rebuilt(events))
}
