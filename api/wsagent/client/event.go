package client

import (
	"encoding/json"
	"time"

	"github.com/gorilla/websocket"

	"parley/api/wire"
	"parley/media"
)

// Kind says what an Event tells.
type Kind string

// What the agent's side tells. They are the types of its messages; messages of
// other types are reported with theirs.
const (
	Audio      Kind = "audio"              // Samples
	Status     Kind = "status"             // Text, Generation
	Transcript Kind = "transcript"         // Role, Text: a finished line
	Correction Kind = "transcript_update"  // Role, Text, Replaces
	Caption    Kind = "transcript_partial" // Role, Text
	Error      Kind = "error"              // Fault
	ToolCall   Kind = "tool_call"          // Call
	Granted    Kind = "session"            // Grant: for clients with the feature resume
)

// Event is one message of the agent's side. Only the fields its kind names are
// set.
type Event struct {
	Kind       Kind
	At         time.Time
	Samples    []int16 // at RateOut; the receiver's
	Role       string  // "user" or "agent"
	Text       string
	Replaces   string
	Generation int
	Fault      wire.Fault // which does not end the connection
	Call       Call
	Grant      Grant
	Raw        []byte // the message as it came; nil for audio
}

// Call asks for a function to be run and answered with ToolResult.
type Call struct {
	ID, Name, Arguments string
}

// Grant says which call a conversation is, and how to come back to it.
type Grant struct {
	Call    string `json:"id"`
	Token   string `json:"resume"`  // for Options.Resume
	Resumed bool   `json:"resumed"` // the client has come back
}

// frame is a message of the server.
type frame struct {
	Type       Kind            `json:"type"`
	Data       json.RawMessage `json:"data"`
	Role       string          `json:"role"`
	Replaces   string          `json:"replaces"`
	Generation int             `json:"generation"`
	Name       string          `json:"name"`
	Arguments  string          `json:"arguments"`
	CallID     string          `json:"call_id"`
}

// take handles one message. What cannot be read is left out.
func (c *Client) take(kind int, p []byte, now time.Time) {
	e := Event{At: now}
	if kind == websocket.BinaryMessage {
		e.Kind, e.Samples = Audio, media.AppendSamples(make([]int16, 0, len(p)/2), p)
		c.play.add(e.Samples, now)
		if c.o.Played {
			_ = c.Frame(map[string]any{"type": "played", "ms": c.play.reply(now).Milliseconds()}) // the reader learns of a broken connection
		}
	} else {
		var f frame
		if json.Unmarshal(p, &f) != nil {
			return
		}
		e.fill(&f, p)
		c.follow(&e)
	}
	if c.o.OnEvent != nil {
		c.o.OnEvent(e)
	}
}

func (e *Event) fill(f *frame, raw []byte) {
	e.Kind, e.Role, e.Replaces, e.Generation, e.Raw = f.Type, f.Role, f.Replaces, f.Generation, raw
	switch f.Type {
	case Error:
		_ = json.Unmarshal(f.Data, &e.Fault) // what it says is in Raw
	case Granted:
		_ = json.Unmarshal(f.Data, &e.Grant) // without a token there is no way back
	case ToolCall:
		e.Call = Call{ID: f.CallID, Name: f.Name, Arguments: f.Arguments}
	default:
		_ = json.Unmarshal(f.Data, &e.Text) // empty when it is no string
	}
}

// follow keeps the playout as every client does: it stops at once when the agent
// was interrupted, and when a later reply is announced.
func (c *Client) follow(e *Event) {
	if e.Kind != Status {
		return
	}
	switch e.Text {
	case "interrupted":
		c.play.flush(e.At)
	case "thinking":
		c.play.announced(e.Generation, e.At)
	case "speaking":
		c.play.speaking()
	}
}
