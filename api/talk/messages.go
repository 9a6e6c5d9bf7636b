package talk

import (
	"crypto/rand"
	"encoding/json"
	"slices"
	"sync"
	"sync/atomic"

	"parley/api"
	"parley/api/socket"
	"parley/api/tts"
	"parley/api/wire"
	"parley/inference"
	"parley/media"
)

// Client is the messages to one client, and what it has announced about itself. It may be
// used from several goroutines; their order is that of the calls.
type Client struct {
	put      func([]byte)
	features atomic.Int32
	visemes  atomic.Bool  // the client wants them
	played   atomic.Int64 // ms of the current reply played, as the client says; -1: not yet

	mu    sync.Mutex
	asked []asked // functions without a result yet, oldest first
}

// asked is a function call that the client was asked for. The client knows it by a name
// that cannot be guessed, so clients answer only what they were asked.
type asked struct{ name, id string }

// maxAsked bounds the calls that wait for the client; of more the oldest is forgotten, and
// ends by its timeout.
const maxAsked = 64

// Features a client may announce.
const (
	featureDuck = 1 << iota
	featurePlayed
	featureInsight
	featureResume
)

// NewClient returns a client whose messages are given to put, which does not block.
func NewClient(put func([]byte)) *Client {
	c := &Client{put: put}
	c.played.Store(-1)
	return c
}

func (c *Client) send(m message) {
	b, err := json.Marshal(m)
	if err != nil {
		return // our own types always marshal
	}
	c.put(b)
}

// Rates tells the client the rates of audio that is not negotiated otherwise.
func (c *Client) Rates(playback, input media.Rate) {
	c.send(message{Type: "server_rates", Playback: int(playback), Input: int(input)})
}

// Closed tells a client whose connection has no close frame what that would have said.
func (c *Client) Closed(code int, why string) {
	c.send(message{Type: "closed", Data: goodbye{Code: code, Reason: why}})
}

type goodbye struct {
	Code   int    `json:"code"`
	Reason string `json:"reason"`
}

// Duck implements media.Ducker for clients that lower the voice themselves.
func (c *Client) Duck(on bool) bool {
	if c.features.Load()&featureDuck == 0 {
		return false
	}
	c.send(message{Type: "duck", Data: on})
	return true
}

// Played is how much of the reply in progress the client has played, in milliseconds;
// false when it does not tell, or has not told yet.
func (c *Client) Played() (ms int64, ok bool) {
	ms = c.played.Load()
	return ms, ms >= 0 && c.features.Load()&featurePlayed != 0
}

// Replies says that a reply begins: what the client has said it played was of another.
func (c *Client) Replies() { c.played.Store(-1) }

// message is one JSON frame to the client.
type message struct {
	Type       string `json:"type"`
	Data       any    `json:"data,omitempty"`
	Role       string `json:"role,omitempty"`
	Replaces   string `json:"replaces,omitempty"`
	Generation int    `json:"generation,omitempty"`
	Name       string `json:"name,omitempty"`
	Arguments  string `json:"arguments,omitempty"`
	CallID     string `json:"call_id,omitempty"`
	Playback   int    `json:"playback,omitempty"`
	Input      int    `json:"input,omitempty"`
}

// incoming is one JSON frame of the client. Data is kept as it came: its form
// depends on the type.
type incoming struct {
	Type string          `json:"type"`
	Data json.RawMessage `json:"data"`
	MS   *float64        `json:"ms"`
}

// Status tells what the agent does; generation 0 is left out.
func (c *Client) Status(status string, generation int) {
	c.send(message{Type: "status", Data: status, Generation: generation})
}

// Transcript is one finished line of "user" or "agent".
func (c *Client) Transcript(role, text string) {
	c.send(message{Type: "transcript", Role: role, Data: text})
}

// Correction replaces a line that was sent before.
func (c *Client) Correction(role, text, replaces string) {
	c.send(message{Type: "transcript_update", Role: role, Data: text, Replaces: replaces})
}

// Caption is text that is not finished: it shows what is being said.
func (c *Client) Caption(role, text string) {
	c.send(message{Type: "transcript_partial", Role: role, Data: text})
}

// ToolCall asks the client to run a function. Clients parse the arguments, so
// there always are some. The client gets another identifier than t's.
func (c *Client) ToolCall(t inference.ToolCall, generation int) {
	if t.Arguments == "" {
		t.Arguments = "{}"
	}
	a := asked{name: "call_" + rand.Text(), id: t.ID}
	c.mu.Lock()
	if len(c.asked) == maxAsked {
		c.asked = slices.Delete(c.asked, 0, 1)
	}
	c.asked = append(c.asked, a)
	c.mu.Unlock()
	c.send(message{Type: "tool_call", Name: t.Name, Arguments: t.Arguments, CallID: a.name, Generation: generation})
}

// answered is the function call that the client knows by a name, and may answer once.
func (c *Client) answered(name string) (id string, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.asked, func(a asked) bool { return a.name == name })
	if i < 0 {
		return "", false
	}
	id = c.asked[i].id
	c.asked = slices.Delete(c.asked, i, i+1)
	return id, true
}

// WantsVisemes says whether the client asked for mouth shapes.
func (c *Client) WantsVisemes() bool { return c.visemes.Load() }

// Visemes are the mouth shapes of the audio that follows; none are sent as none.
func (c *Client) Visemes(v []tts.Viseme, generation int) {
	if v == nil {
		v = []tts.Viseme{}
	}
	c.send(message{Type: "visemes", Data: v, Generation: generation})
}

// Resumes says whether the client comes back when its connection was lost.
func (c *Client) Resumes() bool { return c.features.Load()&featureResume != 0 }

// Session tells a client that comes back which call its conversation is, and by which token it gets that again. resumed
// says that it has come back.
func (c *Client) Session(call, token string, resumed bool) {
	c.send(message{Type: "session", Data: resumption{ID: call, Resume: token, Resumed: resumed}})
}

type resumption struct {
	ID      string `json:"id"`
	Resume  string `json:"resume"`
	Resumed bool   `json:"resumed"`
}

// WantsInsight says whether the client asked to be shown the inside of the conversation.
// Whether it may be is for others to say.
func (c *Client) WantsInsight() bool { return c.features.Load()&featureInsight != 0 }

// Insight shows the client one thing of the inside of the conversation.
func (c *Client) Insight(name string, generation int, data any) {
	c.send(message{Type: "insight", Name: name, Generation: generation, Data: data})
}

// Error tells of an error that does not end the conversation. detail may be empty.
func (c *Client) Error(err error, detail string) {
	p := api.ProblemOf(err)
	c.send(message{Type: "error", Data: wire.Fault{Code: p.Code, Message: p.Message, Detail: detail, Retryable: p.Retryable}})
}

// malformed answers a message that cannot be read. Over HTTP the same request
// would fail again; here the client may go on.
func (c *Client) malformed(detail string) {
	p := api.ProblemOf(api.ErrBadRequest)
	c.send(message{Type: "error", Data: wire.Fault{Code: p.Code, Message: p.Message, Detail: detail, Retryable: true}})
}

// Goodbye is the close code and the sentence that end a conversation. Sentences are for
// people: which limit the conversation reached, an error frame says first.
func (c *Client) Goodbye(e *media.Ended) (code int, why string) {
	code, why = closing(e)
	if code == socket.Policy {
		p := api.ProblemOf(api.Stopped(e))
		c.send(message{Type: "error", Data: wire.Fault{Code: p.Code, Message: why, Retryable: p.Retryable}})
	}
	return code, why
}

// closing maps the end of a conversation to a close code and a sentence.
func closing(e *media.Ended) (int, string) {
	switch e.Reason {
	case media.AgentHangup, media.UserHangup, media.Completed:
		return socket.Normal, "the conversation has ended"
	case media.BalanceExhausted:
		switch e.Detail {
		case media.Disputed:
			return socket.Policy, "a payment of the account is disputed"
		case media.Spending:
			return socket.Policy, "the day's limit of spending is reached"
		case media.TicketSpent:
			return socket.Policy, "the conversation has cost as much as its ticket allows"
		}
		return socket.Policy, "the balance is exhausted"
	case media.MaxDuration:
		return socket.Policy, "the conversation has reached its longest duration"
	case media.APIHangup:
		if e.Detail == media.Drained {
			return socket.GoingAway, "the server is stopping"
		}
		if e.Detail == media.Suspended {
			return socket.Policy, "the account is suspended"
		}
		return socket.Normal, "the conversation was ended"
	}
	return socket.ServerError, "the conversation has failed"
}
