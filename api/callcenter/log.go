package callcenter

import (
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"parley/api"
	"parley/api/wire"
)

// CallLog is what happened in a call that is over.
type CallLog struct {
	// Omitted are older events that were not kept: the Snapshot is of after them.
	Omitted int
	// Events are a Snapshot of the beginning, each change with its time, and Over.
	Events iter.Seq2[time.Time, Change]
}

// LoggedEvent is an event of a call with its time.
type LoggedEvent struct {
	At    time.Time `json:"at"`
	Event any       `json:"event"` // as in the stream
}

// events is GET /v1/calls/{id}/events.
func (s *calls) events(w http.ResponseWriter, r *http.Request) error {
	ctx, id := r.Context(), r.PathValue("id")
	account := api.AccountOf(ctx)
	out := &events{w: w, c: http.NewResponseController(w)}
	log, err := s.Log(ctx, account, id)
	asJSON := wantsJSON(r)
	switch {
	case err != nil:
	case log == nil && !asJSON:
		err = s.follow(ctx, id, out.tell)
	case log == nil:
		var now *wire.CallState
		if now, err = s.Look(ctx, account, id); err == nil {
			err = out.list(&CallLog{Events: func(yield func(time.Time, Change) bool) {
				yield(s.db.Now(), Change{Kind: Snapshot, State: *now})
			}})
		}
	case asJSON:
		err = out.list(log)
	default:
		err = out.replay(log)
	}
	return out.refused(err)
}

// wantsJSON says that a client asks for a list and not for a stream.
func wantsJSON(r *http.Request) bool {
	accept := strings.Join(r.Header.Values("Accept"), ",")
	return strings.Contains(accept, "application/json") && !strings.Contains(accept, "text/event-stream")
}

// replay sends a log as the stream of its call would have been, all at once.
func (e *events) replay(log *CallLog) error {
	if log.Omitted > 0 {
		if err := e.send(fmt.Appendf(nil, ": %d older events were not kept\n\n", log.Omitted)); err != nil {
			return err
		}
	}
	for _, c := range log.Events {
		if err := e.tell(c); err != nil {
			return err
		}
	}
	return nil
}

// list sends a log as JSON, piece by piece: a correction shows all that was said.
func (e *events) list(log *CallLog) error {
	e.kind = "application/json"
	comma, complete := "", false
	if err := e.send([]byte(`{"data":[`)); err != nil {
		return err
	}
	for at, c := range log.Events {
		text, err := json.Marshal(LoggedEvent{at, eventOf(c)})
		if err != nil {
			return err
		}
		if err := e.send(append([]byte(comma), text...)); err != nil {
			return err
		}
		comma, complete = ",", c.Kind == Over
	}
	return e.send(fmt.Appendf(nil, `],"omitted":%d,"complete":%t}`+"\n", log.Omitted, complete))
}

// logSchema describes a list of events.
func logSchema() *huma.Schema {
	entry := &huma.Schema{Type: huma.TypeObject, Required: []string{"at", "event"}, Properties: map[string]*huma.Schema{
		"at":    {Type: huma.TypeString, Format: "date-time", Description: "When it happened."},
		"event": {Type: huma.TypeObject, Description: "As in the stream; `type` says which.", AdditionalProperties: true},
	}}
	return &huma.Schema{Type: huma.TypeObject, Required: []string{"data", "omitted", "complete"}, Properties: map[string]*huma.Schema{
		"data":     {Type: huma.TypeArray, Items: entry, Description: "What happened, oldest first."},
		"omitted":  {Type: huma.TypeInteger, Description: "Older events that were not kept."},
		"complete": {Type: huma.TypeBoolean, Description: "Whether the call is over."},
	}}
}
