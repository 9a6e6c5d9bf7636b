package callcenter

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"parley/api"
	"parley/api/socket"
	"parley/api/wire"
	"parley/store"
	"parley/store/people"
)

// The events of a call that is followed, each the JSON of one data: line.
type (
	// SnapshotEvent comes first.
	SnapshotEvent struct {
		Type string `json:"type" doc:"snapshot." enum:"snapshot"`
		wire.CallState
	}
	// StatusEvent tells of a change.
	StatusEvent struct {
		Type       string `json:"type" doc:"status." enum:"status"`
		Status     string `json:"status" doc:"Status of the call." enum:"ringing,connected"`
		Duration   int64  `json:"duration" doc:"Whole seconds since the answer."`
		AnsweredBy string `json:"answered_by,omitempty" doc:"Who answered, once it is known." enum:"human,machine,screening,unknown"`
	}
	// LineEvent adds one line.
	LineEvent struct {
		Type string `json:"type" doc:"transcript." enum:"transcript"`
		wire.SpokenLine
	}
	// SpeakingEvent tells what the agent has begun to say of a reply so far. It is in no log.
	SpeakingEvent struct {
		Type string `json:"type" doc:"speaking." enum:"speaking"`
		wire.SpokenLine
	}
	// SyncEvent replaces all lines: an earlier one was corrected.
	SyncEvent struct {
		Type       string            `json:"type" doc:"transcript_sync." enum:"transcript_sync"`
		Transcript []wire.SpokenLine `json:"transcript" doc:"All that was said." nullable:"false"`
	}
	// FunctionEvent tells of a function that was called, and with an outcome of its result.
	FunctionEvent struct {
		Type string `json:"type" doc:"function." enum:"function"`
		wire.CallFunction
	}
	// EndEvent comes last.
	EndEvent struct {
		Type string `json:"type" doc:"ended." enum:"ended"`
		wire.CallState
	}
)

// writePatience is how long a client may take to read one event; then it has gone.
const writePatience = 10 * time.Second

// streamRoute describes the stream: huma knows no event streams without names.
func streamRoute() api.Route {
	r := callRoutes.Get("/callcenter/sse/call-monitor", "follow-call", "Follow a call",
		"Server-sent events without names, each a `data:` line with a JSON object whose `type` is `snapshot` (first: the fields of the monitor), "+
			"`status` (`status`, `duration`, and `answered_by` once it is known, with a second `connected`), `transcript` (one new line: `role`, `text`, `at`), `transcript_sync` (`transcript`: all lines, after a correction) "+
			"or `ended` (last: the fields of the monitor with `end_reason`). A comment comes every 15 seconds when nothing happens. The stream closes after `ended`: "+
			"close the EventSource then, or it connects again. A browser sends a ticket as `api_key`.")
	r.OwnPagesOnly = false // a page may follow a call with a ticket
	r.Parameters = []*huma.Param{{Name: "call_id", In: "query", Required: true, Description: "The call's identifier, as dial answered.",
		Schema: &huma.Schema{Type: huma.TypeString}, Example: "ses_06er5bt0v9k1o7m2q3s4t5u6v0"}}
	r.Responses = map[string]*huma.Response{"200": {Description: "The events, as they happen",
		Content: map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{Type: huma.TypeString}}}}}
	return r
}

// eventsRoute is the stream for API keys: any call of the account; a call of another
// account is not found.
func eventsRoute() api.Route {
	r := streamRoute()
	r.Access, r.OwnPagesOnly = api.Management, true
	r.Path, r.OperationID, r.Tags, r.Summary = "/v1/calls/{id}/events", "follow-any-call", []string{"Calls"}, "Follow any call"
	r.Description = "What `GET /callcenter/sse/call-monitor` sends, for calls of every direction, and `function`: a function of the agent is called, with `outcome` null, or has its result; " +
		"its fields are those of `functions` in `GET /v1/calls/{id}`. While the agent speaks it also sends `speaking` (`role`, `text`, `at`) as each sentence begins: what it says of its reply so far, " +
		"of which a `transcript` has what was heard, if anything. Of a call that is over it sends all that happened, from its " +
		"beginning, and closes. With `Accept: application/json` it answers with a list instead: `data` has objects with `at`, the time, and `event`, an object as in the stream. " +
		"It is `complete` once the call is over; before, it has the one `snapshot` of now. At most 2,000 events and 512 kB are kept of a call: `omitted` earlier ones are not, and the " +
		"`snapshot` has the transcript until then. A call that the account does not have is not found."
	r.Responses["200"].Content["application/json"] = &huma.MediaType{Schema: logSchema()}
	r.Parameters = []*huma.Param{{Name: "id", In: "path", Required: true, Description: "The call's identifier.",
		Schema: &huma.Schema{Type: huma.TypeString}, Example: "ses_06er5bt0v9k1o7m2q3s4t5u6v0"}}
	r.Errors = []int{http.StatusNotFound}
	return r
}

// stream is GET /callcenter/sse/call-monitor.
func (s *calls) stream(w http.ResponseWriter, r *http.Request) error {
	id := r.URL.Query().Get("call_id")
	if id == "" || len(id) > 100 {
		return api.Bad("call_id: say which call")
	}
	out := &events{w: w, c: http.NewResponseController(w)}
	err := s.follow(r.Context(), id, func(c Change) error {
		if c.Kind == FunctionCalled || c.Kind == Speaking { // not for pages that hold a ticket: arguments and results are the account's; nor what older clients do not know
			return nil
		}
		return out.tell(c)
	})
	if errors.Is(err, store.ErrNotFound) && !out.begun {
		gone := Change{Kind: Snapshot, State: *unknown()}
		if err = out.tell(gone); err == nil {
			gone.Kind = Over
			err = out.tell(gone)
		}
	}
	return out.refused(err)
}

// follow is Follow, counted among the open sockets of the account. Once the key or the sign-in is no longer good it tells
// nothing more, and ends.
func (s *calls) follow(ctx context.Context, id string, tell func(Change) error) error {
	p, begun := api.PrincipalOf(ctx), false
	if s.open != nil {
		if !s.open.Open(p.Account) {
			return socket.ErrTooMany
		}
		defer s.open.Closed(p.Account)
	}
	return s.Follow(ctx, p.Account, id, func(c Change) error {
		if begun {
			err := people.New(s.db).CheckKey(ctx, people.Principal{Account: p.Account, Key: p.Key})
			if errors.Is(err, store.ErrUnauthorized) {
				return err
			}
		}
		begun = true
		return tell(c)
	})
}

// errGone says that the client does not read any more.
var errGone = errors.New("the client has gone")

// events writes what a client follows.
type events struct {
	w     http.ResponseWriter
	c     *http.ResponseController
	kind  string // its media type; empty: text/event-stream
	begun bool
}

// refused is the error to answer with: none once the stream has begun, which just ends then.
func (e *events) refused(err error) error {
	if e.begun || errors.Is(err, errGone) {
		return nil
	}
	return err
}

func (e *events) tell(c Change) error {
	text := []byte(": heartbeat\n\n")
	if event := eventOf(c); event != nil {
		b, err := json.Marshal(event)
		if err != nil {
			return err
		}
		text = append(append([]byte("data: "), b...), "\n\n"...)
	}
	return e.send(text)
}

// send sends a piece of the answer.
func (e *events) send(text []byte) error {
	if !e.begun {
		e.begun = true
		h := e.w.Header()
		h.Set("Content-Type", cmp.Or(e.kind, "text/event-stream"))
		h.Set("Cache-Control", "no-cache")
		h.Set("X-Accel-Buffering", "no") // a proxy that collects the events would spoil them
		e.w.WriteHeader(http.StatusOK)
	}
	_ = e.c.SetWriteDeadline(time.Now().Add(writePatience)) // where it is not supported, the server's own counts
	if _, err := e.w.Write(text); err != nil {
		return errGone
	}
	if err := e.c.Flush(); err != nil {
		return errGone
	}
	return nil
}

// eventOf is what a change looks like on the wire; nil: a comment.
func eventOf(c Change) any {
	switch c.Kind {
	case Snapshot:
		return SnapshotEvent{"snapshot", c.State}
	case StatusChanged:
		return StatusEvent{"status", c.State.Status, c.State.Duration, c.State.AnsweredBy}
	case LineAdded:
		return LineEvent{"transcript", c.Line}
	case Speaking:
		return SpeakingEvent{"speaking", c.Line}
	case FunctionCalled:
		return FunctionEvent{"function", c.Function}
	case Corrected:
		return SyncEvent{"transcript_sync", c.State.Transcript}
	case Over:
		return EndEvent{"ended", c.State}
	}
	return nil
}

// MountFollow adds the routes of calls of every direction, which are there without
// telephony, too: to follow one as it goes, and to end it. open is as for MountCalls.
func MountFollow(a *api.API, db *store.DB, c Calls, open *socket.Limits) {
	s := &calls{Calls: c, db: db, open: open}
	a.Handle(eventsRoute(), api.HandlerFunc(s.events))
	api.Register(a, api.Managed("Calls").Post("/v1/calls/{id}/hangup", "hang-up-any-call", "Hang up any call",
		"Ends a call of any direction at once, as `api_hangup`. One that has ended already answers the same.", http.StatusNotFound), s.hangup)
}
