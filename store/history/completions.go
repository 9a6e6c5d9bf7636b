package history

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/store"
)

// Completion is what the language model of a call was asked once, and what it answered.
type Completion struct {
	No      int
	Request CompletionRequest
	Answer  *CompletionAnswer // nil: none yet, or its node was lost before
}

// CompletionRequest is a request. It is stored as what it has beyond the one before, for most of a
// history is there again in each: see Completions.
type CompletionRequest struct {
	AtMS     int64               `json:"at_ms"`            // since the start of the session's clock
	System   *string             `json:"system,omitempty"` // nil: as before
	Tools    []CompletionTool    `json:"tools"`            // nil: as before
	Same     int                 `json:"same,omitempty"`   // so many messages of the one before are its first
	Messages []CompletionMessage `json:"messages,omitempty"`
}

// CompletionTool is a function that the model might call.
type CompletionTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"` // JSON Schema; nil: none
}

// CompletionMessage is an entry of the history that the model sees.
type CompletionMessage struct {
	Role        string           `json:"role"` // user, agent or tool
	Text        string           `json:"text,omitempty"`
	Interrupted bool             `json:"interrupted,omitempty"` // the agent was cut off; Text is what was heard
	Calls       []CompletionCall `json:"calls,omitempty"`
	CallID      string           `json:"call_id,omitempty"` // of a tool's: the call that it answers
}

// CompletionCall is the model's wish to run a function.
type CompletionCall struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments,omitempty"` // as the model wrote them
}

// CompletionAnswer is an answer.
type CompletionAnswer struct {
	Engine  string            `json:"engine,omitempty"`   // empty: not known
	FirstMS *int64            `json:"first_ms,omitempty"` // from the request to its first words or function; nil: there were none
	TookMS  int64             `json:"took_ms"`            // to its end
	Outcome CompletionOutcome `json:"outcome"`
	Finish  string            `json:"finish,omitempty"`  // why the model stopped, in its word for it; empty: it does not say
	Failure string            `json:"failure,omitempty"` // why it failed, in a word
	Text    string            `json:"text,omitempty"`
	Calls   []CompletionCall  `json:"calls,omitempty"`
}

// CompletionOutcome is how a completion ended.
type CompletionOutcome string

// Outcomes of completions.
const (
	CompletionDone   CompletionOutcome = "done"
	CompletionCut    CompletionOutcome = "cut" // nobody wanted the rest: the caller went on, or interrupted
	CompletionFailed CompletionOutcome = "failed"
)

// queueCompletion stores a completion of a call of the account: its request, or with an Answer that.
func queueCompletion(b *pgx.Batch, account, id string, c *Completion) error {
	request, err := storableJSON(c.Request)
	if err != nil {
		return err
	}
	var answer *string
	if c.Answer != nil {
		text, err := storableJSON(c.Answer)
		if err != nil {
			return err
		}
		answer = &text
	}
	b.Queue(`insert into call_completions (session_id, no, request, answer) select session_id, $3, $4::jsonb, $5::jsonb from calls
		where account_id = $1 and session_id = $2
		on conflict (session_id, no) do update set answer = excluded.answer where call_completions.answer is null`, account, id, c.No, request, answer)
	return nil
}

// storableJSON is v as jsonb can hold it: without NUL, which stands in it as an escape. Of what is no
// text Go makes text.
func storableJSON(v any) (string, error) {
	text, err := json.Marshal(v)
	if err != nil || !bytes.Contains(text, []byte(nul)) {
		return string(text), err
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		switch {
		case text[i] != '\\':
			b.WriteByte(text[i])
			i++
		case bytes.HasPrefix(text[i:], []byte(nul)):
			i += len(nul)
		default:
			b.Write(text[i : i+2]) // an escape, such as that of a backslash before u0000
			i += 2
		}
	}
	return b.String(), nil
}

const nul = `\u0000`

// completionsFor is how long completions are kept.
const completionsFor = 30 * 24 * time.Hour

// ExpireCompletions deletes those that are older than 30 days, 10,000 at most, and returns how many.
func (h *Store) ExpireCompletions(ctx context.Context) (int64, error) {
	return h.db.Exec(ctx, "expire completions", `delete from call_completions where (session_id, no) in
		(select session_id, no from call_completions where session_id < $1 order by session_id, no limit $2)`,
		store.FloorID(store.SessionID, h.db.Time(ctx).Add(-completionsFor)), 10*sweep)
}

// Completions are those of a call of the account, the first one first, each request whole. ErrNotFound: there is no such call.
func (h *Store) Completions(ctx context.Context, account, id string) ([]Completion, error) {
	if _, err := store.First[string](ctx, h.db, "read call", "select session_id from calls where account_id = $1 and session_id = $2", account, id); err != nil {
		return nil, err
	}
	list, err := store.List[Completion](ctx, h.db, "read completions", `select p.no, p.request, p.answer from call_completions p join calls c on c.session_id = p.session_id
		where c.account_id = $1 and c.session_id = $2 order by p.no`, account, id)
	if err != nil {
		return nil, err
	}
	for i := range list {
		before := &CompletionRequest{}
		if i > 0 && list[i-1].No == list[i].No-1 { // else it could not be stored: there is no more than what follows
			before = &list[i-1].Request
		}
		list[i].Request.wholeAfter(before)
	}
	return list, nil
}

// wholeAfter completes a request from the one before.
func (r *CompletionRequest) wholeAfter(before *CompletionRequest) {
	if r.System == nil {
		r.System = before.System
	}
	if r.Tools == nil {
		r.Tools = before.Tools
	}
	if same := min(r.Same, len(before.Messages)); same > 0 {
		r.Messages = append(before.Messages[:same:same], r.Messages...)
	}
}
