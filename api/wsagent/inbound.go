package wsagent

import (
	"encoding/json"
	"strings"

	"parley/api"
)

// text takes a JSON frame of the client. It runs on the reader. What cannot be
// read is answered with one error frame; types nobody knows are ignored.
func (s *session) text(p []byte) {
	var in incoming
	if err := json.Unmarshal(p, &in); err != nil {
		s.sock.malformed("the frame is not a JSON object with a type")
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
	case "played":
		if in.MS != nil && *in.MS >= 0 && *in.MS < 1e9 {
			s.leg.report.Store(int64(*in.MS))
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
func (s *session) conversation() Conversation {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live
}

// typed takes a typed turn. One that comes before the conversation has begun
// holds the reader until it has, after the quiet gap, so that it is neither lost
// nor overtaken.
func (s *session) typed(in incoming) {
	var text string
	if json.Unmarshal(in.Data, &text) != nil {
		s.bad(in.Type, "a string")
		return
	}
	if strings.TrimSpace(text) == "" {
		return
	}
	s.changed()
	select {
	case <-s.begun:
	case <-s.sock.gone:
	}
	if live := s.conversation(); live != nil {
		live.Type(text)
	}
}

func (s *session) toolResult(in incoming) {
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
	if live := s.conversation(); live != nil {
		live.ToolResult(r.CallID, text)
	}
}

func (s *session) bad(kind, want string) {
	s.sock.malformed("the data of " + kind + " must be " + want)
}

// configure takes a frame that sets something: before the conversation into its
// setup, later as a change of the agent.
func (s *session) configure(in incoming) {
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

// skipped takes a frame that would set something which the client may not: all
// that it does is to tell that the configuration goes on, as it always does.
func (s *session) skipped(in incoming) {
	s.mu.Lock()
	s.prompted = s.prompted || in.Type == "prompt"
	early := s.live == nil
	s.mu.Unlock()
	if early {
		s.changed()
	}
}

// change is what a frame asks of the agent; what it asks of the socket is done.
// It is false when the frame cannot be read, which the client has been told.
func (s *session) change(in incoming) (c Change, ok bool) {
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
			c.Voice = s.valid(text, Voice(text), api.ErrVoice)
		}
	case "language":
		if !absent {
			c.Language = s.valid(text, Language(text), api.ErrLanguage)
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
		s.leg.visemes.Store(string(in.Data) == "true")
	}
	return c, true
}

// valid is the canonical form of a name, or nil after an error frame.
func (s *session) valid(text, canonical string, err error) *string {
	if canonical == "" {
		s.sock.error(err, text)
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
}

func (s *session) features(data json.RawMessage) {
	var names []string
	if json.Unmarshal(data, &names) != nil {
		s.bad("features", "a list of strings")
		return
	}
	for _, n := range names {
		switch n {
		case "duck":
			s.leg.features.Or(featureDuck)
		case "played":
			s.leg.features.Or(featurePlayed)
		}
	}
}

// Voices and languages as clients may write them.
var (
	voices    = []string{"F1", "F2", "F3", "F4", "F5", "M1", "M2", "M3", "M4", "M5"}
	languages = []string{"en", "es", "ca", "gl", "eu", "pt", "fr", "it", "de"}
)

// Voice is the canonical form of a voice's name, "" when there is none such. The
// longer names of newer clients, such as en_f1, mean the same ten.
func Voice(name string) string {
	name = strings.ToUpper(name)
	for _, prefix := range []string{"EN_", "ESCA_"} {
		name = strings.TrimPrefix(name, prefix)
	}
	for _, v := range voices {
		if v == name {
			return v
		}
	}
	return ""
}

// Language is the two-letter code of a language tag such as en-US, "" when it is
// none of the nine.
func Language(tag string) string {
	code, _, _ := strings.Cut(strings.ReplaceAll(strings.ToLower(tag), "_", "-"), "-")
	for _, l := range languages {
		if l == code {
			return l
		}
	}
	return ""
}
