package wsagent

import (
	"encoding/json"

	"parley/api"
	"parley/inference"
)

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

// fault is the data of an error frame.
type fault struct {
	Code      string `json:"code"`
	Message   string `json:"message"`
	Detail    string `json:"detail"`
	Retryable bool   `json:"retryable"`
}

// incoming is one JSON frame of the client. Data is kept as it came: its form
// depends on the type.
type incoming struct {
	Type string          `json:"type"`
	Data json.RawMessage `json:"data"`
	MS   *float64        `json:"ms"`
}

// Status tells what the agent does; generation 0 is left out.
func (l *Leg) Status(status string, generation int) {
	if status == "speaking" {
		l.replyAt = l.written
		l.report.Store(-1)
	}
	l.sock.send(message{Type: "status", Data: status, Generation: generation})
}

// Transcript is one finished line of "user" or "agent".
func (l *Leg) Transcript(role, text string) {
	l.sock.send(message{Type: "transcript", Role: role, Data: text})
}

// Correction replaces a line that was sent before.
func (l *Leg) Correction(role, text, replaces string) {
	l.sock.send(message{Type: "transcript_update", Role: role, Data: text, Replaces: replaces})
}

// Caption is text that is not finished: it shows what is being said.
func (l *Leg) Caption(role, text string) {
	l.sock.send(message{Type: "transcript_partial", Role: role, Data: text})
}

// ToolCall asks the client to run a function. Clients parse the arguments, so
// there always are some.
func (l *Leg) ToolCall(c inference.ToolCall, generation int) {
	if c.Arguments == "" {
		c.Arguments = "{}"
	}
	l.sock.send(message{Type: "tool_call", Name: c.Name, Arguments: c.Arguments, CallID: c.ID, Generation: generation})
}

// Viseme is one mouth shape: the character V of the text, the reduced phoneme C,
// its time T in seconds from the start of the reply's audio, and the index of C in
// the alphabet.
type Viseme struct {
	V  int     `json:"v"`
	C  string  `json:"c"`
	T  float64 `json:"t"`
	ID int     `json:"id"`
}

// WantsVisemes says whether the client asked for mouth shapes.
func (l *Leg) WantsVisemes() bool { return l.visemes.Load() }

// Visemes are the mouth shapes of the audio that follows; none are sent as none.
func (l *Leg) Visemes(v []Viseme, generation int) {
	if v == nil {
		v = []Viseme{}
	}
	l.sock.send(message{Type: "visemes", Data: v, Generation: generation})
}

// Error tells of an error that does not end the conversation. detail may be empty.
func (l *Leg) Error(err error, detail string) { l.sock.error(err, detail) }

func (s *socket) error(err error, detail string) {
	p := api.ProblemOf(err)
	s.send(message{Type: "error", Data: fault{Code: p.Code, Message: p.Message, Detail: detail, Retryable: p.Retryable}})
}

// malformed answers a message that cannot be read. Over HTTP the same request
// would fail again; here the client may go on.
func (s *socket) malformed(detail string) {
	p := api.ProblemOf(api.ErrBadRequest)
	s.send(message{Type: "error", Data: fault{Code: p.Code, Message: p.Message, Detail: detail, Retryable: true}})
}

// toolFrame is a function in OpenAI's form.
type toolFrame struct {
	Type     string `json:"type"`
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"function"`
}

// maxTools bounds the functions of one conversation.
const maxTools = 64

// ParseTools reads functions in OpenAI's form; entries without a name are skipped.
func ParseTools(data json.RawMessage) ([]inference.Tool, error) {
	var frames []toolFrame
	if err := json.Unmarshal(data, &frames); err != nil || len(frames) > maxTools {
		return nil, api.ErrBadRequest
	}
	var tools []inference.Tool
	for _, f := range frames {
		if f.Function.Name != "" {
			tools = append(tools, inference.Tool{Name: f.Function.Name, Description: f.Function.Description, Parameters: f.Function.Parameters})
		}
	}
	return tools, nil
}
