package talk

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"parley/api"
	"parley/api/tts"
	"parley/api/wire"
	"parley/inference"
)

// Bounds of typed turns. Each may be a completion that is charged with all that was said
// before, and strangers type: people do not type faster than this, programs do. After
// typedBurst at once one passes each typedEvery.
const (
	MaxTurn    = 4000 // Unicode code points
	typedEvery = 700 * time.Millisecond
	typedBurst = 3
)

// Text takes a JSON message of the client. What cannot be
// read is answered with one error frame; unknown types are ignored.
func (s *Session) Text(p []byte) {
	var in incoming
	if err := json.Unmarshal(p, &in); err != nil {
		s.client.malformed("the frame is not a JSON object with a type")
		return
	}
	switch in.Type {
	case "voice", "language", "prompt", "tools":
		if s.fixed {
			s.skipped(in)
			return
		}
		s.configure(in)
	case "visemes", "rates", "features":
		s.configure(in)
	case "variables", "metadata":
		s.pairs(in)
	case "played":
		if in.MS != nil && *in.MS >= 0 && *in.MS < 1e9 {
			s.client.played.Store(int64(*in.MS))
		}
	case "text":
		s.typed(in)
	case "interrupt":
		if live := s.conversation(); live != nil {
			live.Interrupt()
		}
	case "tool_result":
		s.toolResult(in)
	}
}

// conversation is the one in progress; nil before and when it was refused.
func (s *Session) conversation() Conversation {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live
}

// typed takes a typed turn, or refuses it with an error frame. One that comes before the conversation has begun
// holds the reader until it has, after the quiet gap, so that it is neither lost
// nor overtaken.
func (s *Session) typed(in incoming) {
	var text string
	if json.Unmarshal(in.Data, &text) != nil {
		s.bad(in.Type, "a string")
		return
	}
	switch {
	case strings.TrimSpace(text) == "":
		return
	case utf8.RuneCountInString(text) > MaxTurn:
		s.client.Error(api.ErrTextLength, fmt.Sprintf("a turn has %d characters at most", MaxTurn))
		return
	case !s.pace.Allow():
		s.client.Error(api.ErrRateLimited, "the turn was not taken: it came too soon after the last ones")
		return
	}
	s.changed()
	select {
	case <-s.begun:
	case <-s.gone:
	}
	if live := s.conversation(); live != nil {
		live.Type(text)
	}
}

func (s *Session) toolResult(in incoming) {
	var r struct {
		CallID string `json:"call_id"`
		Result any    `json:"result"`
	}
	if json.Unmarshal(in.Data, &r) != nil {
		s.bad(in.Type, "an object with call_id and result")
		return
	}
	text, ok := r.Result.(string)
	if !ok {
		b, err := json.Marshal(r.Result)
		if err != nil {
			return
		}
		text = string(b)
	}
	id, ok := s.client.answered(r.CallID)
	if !ok {
		return // some clients send a result twice
	}
	if live := s.conversation(); live != nil {
		live.ToolResult(id, text)
	}
}

func (s *Session) bad(kind, want string) {
	s.client.malformed("the data of " + kind + " must be " + want)
}

// configure takes a frame that sets something: before the conversation into its
// setup, later as a change of the agent.
func (s *Session) configure(in incoming) {
	c, ok := s.change(in)
	if !ok {
		return
	}
	s.mu.Lock()
	s.prompted = s.prompted || in.Type == "prompt"
	live := s.live
	if live == nil {
		s.asked.merge(c)
	}
	s.mu.Unlock()
	switch {
	case live == nil:
		s.changed()
	case c.Voice != nil || c.Language != nil || c.Prompt != nil || c.ToolsSet:
		live.Update(c)
	}
}

// pairs takes names and values, which a conversation takes only before it begins. Metadata of
// strangers is left out: their ticket has what there is.
func (s *Session) pairs(in incoming) {
	var given map[string]string
	if json.Unmarshal(in.Data, &given) != nil {
		s.bad(in.Type, "an object of strings")
		return
	}
	c := Change{Variables: given}
	if in.Type == "metadata" {
		if s.fixed {
			s.skipped(in)
			return
		}
		if wrong := wire.Metadata(given).Check(); wrong != "" {
			s.client.malformed(wrong)
			return
		}
		c = Change{Metadata: given}
	}
	s.mu.Lock()
	early := s.live == nil
	if early {
		s.asked.merge(c)
	}
	s.mu.Unlock()
	if !early {
		s.client.malformed(in.Type + " are for the beginning of a conversation")
		return
	}
	s.changed()
}

// skipped takes a frame that would set something which the client may not: all
// that it does is to tell that the configuration goes on, as it always does.
func (s *Session) skipped(in incoming) {
	s.mu.Lock()
	s.prompted = s.prompted || in.Type == "prompt"
	early := s.live == nil
	s.mu.Unlock()
	if early {
		s.changed()
	}
}

// change is what a frame asks of the agent; what it asks of the socket is done.
// It is false when the frame cannot be read, which the client knows by then.
func (s *Session) change(in incoming) (c Change, ok bool) {
	var text string
	switch in.Type {
	case "voice", "language", "prompt":
		if len(in.Data) > 0 && json.Unmarshal(in.Data, &text) != nil {
			s.bad(in.Type, "a string")
			return c, false
		}
	}
	absent := len(in.Data) == 0 || string(in.Data) == "null"
	switch in.Type {
	case "voice":
		if !absent {
			c.Voice = s.valid(text, tts.Voice(text), api.ErrVoice)
		}
	case "language":
		if !absent {
			c.Language = s.valid(text, tts.Language(text), api.ErrLanguage)
		}
	case "prompt":
		c.Prompt = &text
	case "tools":
		tools, err := ParseTools(in.Data)
		if err != nil {
			s.bad(in.Type, "a list of functions")
			return c, false
		}
		c.Tools, c.ToolsSet = tools, true
	case "features":
		s.features(in.Data)
	case "visemes":
		s.client.visemes.Store(string(in.Data) == "true")
	}
	return c, true
}

// valid is the canonical form of a name, or nil after an error frame.
func (s *Session) valid(text, canonical string, err error) *string {
	if canonical == "" {
		s.client.Error(err, text)
		return nil
	}
	return &canonical
}

func (c *Change) merge(d Change) {
	if d.Voice != nil {
		c.Voice = d.Voice
	}
	if d.Language != nil {
		c.Language = d.Language
	}
	if d.Prompt != nil {
		c.Prompt = d.Prompt
	}
	if d.ToolsSet {
		c.Tools, c.ToolsSet = d.Tools, true
	}
	if d.Variables != nil {
		c.Variables = d.Variables
	}
	if d.Metadata != nil {
		c.Metadata = d.Metadata
	}
}

func (s *Session) features(data json.RawMessage) {
	var names []string
	if json.Unmarshal(data, &names) != nil {
		s.bad("features", "a list of strings")
		return
	}
	for _, n := range names {
		switch n {
		case "duck":
			s.client.features.Or(featureDuck)
		case "played":
			s.client.features.Or(featurePlayed)
		case "insight":
			s.client.features.Or(featureInsight)
		case "resume":
			s.client.features.Or(featureResume)
		}
	}
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
