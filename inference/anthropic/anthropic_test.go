package anthropic_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/inference"
	"parley/inference/anthropic"
	"parley/inference/anthropic/anthropictest"
	"parley/inference/enginetest"
	"parley/inference/enginetest/loopbacktest"
	"parley/inference/remote"
)

func engine(t *testing.T, s *anthropictest.Server) *anthropic.LLM {
	t.Helper()
	l, err := anthropic.NewLLM(remote.Engine{BaseURL: s.URL, APIKey: s.Key, Timeout: 500 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// answer collects a reply.
func answer(t *testing.T, l *anthropic.LLM, r inference.Request) (m inference.Message, last inference.Delta, err error) {
	t.Helper()
	m.Role = inference.RoleAgent
	for d, e := range l.Complete(t.Context(), r) {
		if e != nil {
			return m, last, e
		}
		m.Text += d.Text
		if d.ToolCall != nil {
			m.ToolCalls = append(m.ToolCalls, *d.ToolCall)
		}
		if d.Part != nil {
			m.Parts = append(m.Parts, *d.Part)
		}
		last = d
	}
	return m, last, nil
}

func user(text string) inference.Message {
	return inference.Message{Role: inference.RoleUser, Text: text}
}

var look = inference.Tool{Name: "look_up", Description: "Looks for a table.", Parameters: []byte(`{"type":"object","properties":{"day":{"type":"string"}}}`)}

func TestConformance(t *testing.T) {
	s := anthropictest.New(t, anthropictest.Script{Answer: func(_ int, r anthropictest.Request) anthropictest.Reply {
		long := anthropictest.Reply{Text: strings.Repeat("We are open from nine to six. ", 40)}
		if len(r.Tools) > 0 && (r.ToolChoice == nil || r.ToolChoice.Type != "none") {
			return anthropictest.Reply{Tools: []anthropictest.ToolUse{{Name: r.Tools[0].Name, Input: `{"day":"fri"}`}}}
		}
		return long
	}})
	enginetest.TestLLM(t, engine(t, s), enginetest.LLMOptions{Busy: s.Busy})
}

// TestTextThenCall: text comes as it is written, a call when it is complete, and usage is all that Anthropic bills.
func TestTextThenCall(t *testing.T) {
	s := anthropictest.New(t, anthropictest.Script{Replies: []anthropictest.Reply{{Text: "Let me look.", Tools: []anthropictest.ToolUse{{ID: "toolu_1", Name: "look_up",
		Input: `{"day":"fri"}`, Pieces: []string{"", `{"day":`, `"fri"}`}}}, In: 12, CacheRead: 2048, CacheWrite: 100, Out: 41}}})
	m, last, err := answer(t, engine(t, s), inference.Request{System: "You help.", Messages: []inference.Message{user("Friday?")}, Tools: []inference.Tool{look}})
	if err != nil || m.Text != "Let me look." || len(m.ToolCalls) != 1 || m.ToolCalls[0] != (inference.ToolCall{ID: "toolu_1", Name: "look_up", Arguments: `{"day":"fri"}`}) {
		t.Fatalf("%+v, %v", m, err)
	}
	if u := last.Usage; last.Finish != inference.FinishTools || u == nil || u.In != 2160 || u.Cached != 2048 || u.Out != 41 || u.Source != inference.UsageProvider {
		t.Errorf("finish %q, usage %+v", last.Finish, u)
	}
}

// TestThinkingGoesBack: the blocks that came with calls are sent again as they came, and only to the engine that wrote them.
func TestThinkingGoesBack(t *testing.T) {
	s := anthropictest.New(t, anthropictest.Script{Replies: []anthropictest.Reply{
		{Thinking: "They want Friday.", Tools: []anthropictest.ToolUse{{Name: "look_up"}}}, {Text: "There is one."}}})
	l := engine(t, s)
	r := inference.Request{Messages: []inference.Message{user("Friday?")}, Tools: []inference.Tool{look}}
	m, _, err := answer(t, l, r)
	if err != nil || len(m.Parts) != 1 || m.Parts[0].Engine != l.Info().Name {
		t.Fatalf("%+v, %v", m, err)
	}
	m.Parts = append(m.Parts, inference.Part{Engine: "other", Provider: []byte(`{"type":"mystery"}`)})
	r.Messages = append(r.Messages, m, inference.Message{Role: inference.RoleTool, ToolCallID: m.ToolCalls[0].ID, Text: `{"free":true}`})
	if m, _, err := answer(t, l, r); err != nil || m.Text != "There is one." {
		t.Errorf("%+v, %v", m, err)
	}
}

// TestHistories: whatever a conversation was, Anthropic takes it.
func TestHistories(t *testing.T) {
	call := func(id string) inference.Message {
		return inference.Message{Role: inference.RoleAgent, Text: "One moment.", ToolCalls: []inference.ToolCall{{ID: id, Name: "look_up", Arguments: "{}"}}}
	}
	result := func(id string) inference.Message {
		return inference.Message{Role: inference.RoleTool, ToolCallID: id, Text: "{}"}
	}
	agent := inference.Message{Role: inference.RoleAgent, Text: "Hello!"}
	for name, messages := range map[string][]inference.Message{
		"nothing":                  nil,
		"the agent begins":         {agent, user("Hi.")},
		"the agent ends":           {user("Hi."), agent},
		"two turns of the caller":  {user("Hi."), user("Anybody?")},
		"two replies":              {user("Hi."), agent, agent},
		"an empty reply":           {user("Hi."), {Role: inference.RoleAgent}, user("Hello?")},
		"an empty turn":            {user(""), agent, user("Hello?")},
		"interrupted":              {user("Hi."), {Role: inference.RoleAgent, Text: "We are", Interrupted: true}, user("When?")},
		"an unanswered call":       {user("Hi."), call("a"), user("Hello?")},
		"one of two is answered":   {user("Hi."), {Role: inference.RoleAgent, ToolCalls: []inference.ToolCall{{ID: "a", Name: "look_up"}, {ID: "b", Name: "look_up"}}}, result("b"), user("Hello?")},
		"a call at the end":        {user("Hi."), call("a")},
		"a result without a call":  {user("Hi."), result("z"), user("Hello?")},
		"a result that comes late": {user("Hi."), call("a"), user("Hello?"), result("a")},
		"two in a row":             {user("Hi."), call("a"), result("a"), call("b"), result("b")},
		"arguments that are none":  {user("Hi."), {Role: inference.RoleAgent, ToolCalls: []inference.ToolCall{{ID: "a", Name: "look_up", Arguments: `{"day`}}}, result("a")},
	} {
		s := anthropictest.New(t, anthropictest.Script{Replies: []anthropictest.Reply{{Text: "Yes."}}})
		if m, _, err := answer(t, engine(t, s), inference.Request{System: "You help.", Messages: messages, Tools: []inference.Tool{look}}); err != nil || m.Text != "Yes." {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
	}
}

// TestCacheMarks: tools and prompt are marked, and all up to the latest turn.
func TestCacheMarks(t *testing.T) {
	s := anthropictest.New(t, anthropictest.Script{})
	if _, _, err := answer(t, engine(t, s), inference.Request{System: "You help.", Messages: []inference.Message{user("Hi.")}, Tools: []inference.Tool{look}}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(s.Books().Body), `"cache_control":{"type":"ephemeral"}`); n != 2 {
		t.Errorf("%d marks in %s", n, s.Books().Body)
	}
}

func TestStops(t *testing.T) {
	for stop, want := range map[string]inference.Finish{"end_turn": inference.FinishStop, "max_tokens": inference.FinishLength, "refusal": inference.FinishFiltered} {
		s := anthropictest.New(t, anthropictest.Script{Replies: []anthropictest.Reply{{Text: "Yes.", Stop: stop}}})
		if _, last, err := answer(t, engine(t, s), inference.Request{Messages: []inference.Message{user("Hi.")}}); err != nil || last.Finish != want {
			t.Errorf("%s: %q, %v", stop, last.Finish, err)
		}
	}
}

// TestRefusals: every status has its fault, and says when to come back.
func TestRefusals(t *testing.T) {
	for status, want := range map[int]inference.Fault{
		http.StatusBadRequest: inference.ErrRefused, http.StatusUnauthorized: inference.ErrRefused, http.StatusForbidden: inference.ErrRefused,
		http.StatusTooManyRequests: inference.ErrUnavailable, http.StatusInternalServerError: inference.ErrFailed, 529: inference.ErrUnavailable,
	} {
		s := anthropictest.New(t, anthropictest.Script{Faults: []loopbacktest.Fault{{Status: status, RetryAfter: 5 * time.Second}}})
		_, _, err := answer(t, engine(t, s), inference.Request{Messages: []inference.Message{user("Hi.")}})
		var e *inference.Error
		if inference.FaultOf(err) != want || strings.Contains(err.Error(), s.Key) || !errors.As(err, &e) || e.RetryAfter != 5*time.Second {
			t.Errorf("status %d: %v", status, err)
		}
	}
}

// TestFaults: a reply that breaks ends with one error, and what was said before stays.
func TestFaults(t *testing.T) {
	for what, tt := range map[string]struct {
		fault loopbacktest.Fault
		want  inference.Fault
	}{
		"cut":        {loopbacktest.Fault{AfterMessages: 4, Then: loopbacktest.Cut}, inference.ErrFailed},
		"ended":      {loopbacktest.Fault{AfterMessages: 4, Then: loopbacktest.Close}, inference.ErrFailed},
		"stalled":    {loopbacktest.Fault{AfterMessages: 4, Then: loopbacktest.Stall}, inference.ErrFailed},
		"invalid":    {loopbacktest.Fault{AfterMessages: 4, Then: loopbacktest.Invalid}, inference.ErrFailed},
		"huge":       {loopbacktest.Fault{AfterMessages: 4, Then: loopbacktest.Huge}, inference.ErrFailed},
		"overloaded": {loopbacktest.Fault{AfterMessages: 4, Then: loopbacktest.Fail, Reason: "overloaded_error"}, inference.ErrUnavailable},
	} {
		s := anthropictest.New(t, anthropictest.Script{Replies: []anthropictest.Reply{{Text: strings.Repeat("Good morning to you. ", 20)}}, Faults: []loopbacktest.Fault{tt.fault}})
		m, last, err := answer(t, engine(t, s), inference.Request{Messages: []inference.Message{user("Hi.")}})
		if inference.FaultOf(err) != tt.want || strings.Contains(err.Error(), "Good") || strings.Contains(err.Error(), s.Key) {
			t.Errorf("%s: %v", what, err)
		}
		if m.Text == "" || last.Usage == nil || last.Usage.Out == 0 {
			t.Errorf("%s: %q, usage %+v", what, m.Text, last.Usage)
		}
	}
}

// TestCutAnywhere: at whatever byte a reply breaks off, what came is a beginning of it, and one error ends it.
func TestCutAnywhere(t *testing.T) {
	whole := anthropictest.Reply{Text: "Let me look. ", Tools: []anthropictest.ToolUse{{Name: "look_up", Input: `{"day":"fri"}`}}}
	for cut := 100; cut < 2600; cut += 97 {
		s := anthropictest.New(t, anthropictest.Script{Replies: []anthropictest.Reply{whole}, Faults: []loopbacktest.Fault{{AfterBytes: cut}}})
		m, _, err := answer(t, engine(t, s), inference.Request{Messages: []inference.Message{user("Hi.")}, Tools: []inference.Tool{look}})
		if !strings.HasPrefix(whole.Text, m.Text) || len(m.ToolCalls) > 1 || err == nil && m.Text != whole.Text {
			t.Errorf("after %d bytes: %+v, %v", cut, m, err)
		}
	}
}

// TestOddEvents: what is unknown, or lacks fields, is passed over.
func TestOddEvents(t *testing.T) {
	for what, then := range map[string]loopbacktest.Action{"unknown": loopbacktest.Unknown, "nulls": loopbacktest.Nulls} {
		s := anthropictest.New(t, anthropictest.Script{Replies: []anthropictest.Reply{{Text: "Good morning."}}, Faults: []loopbacktest.Fault{{AfterMessages: 1, Then: then}}})
		if m, _, err := answer(t, engine(t, s), inference.Request{Messages: []inference.Message{user("Hi.")}}); err != nil || m.Text != "Good morning." {
			t.Errorf("%s: %q, %v", what, m.Text, err)
		}
	}
}

// TestWarm: to connect asks for nothing that is charged.
func TestWarm(t *testing.T) {
	s := anthropictest.New(t, anthropictest.Script{})
	l := engine(t, s)
	l.Warm(t.Context())
	if b := s.Books(); b.Requests != 0 {
		t.Errorf("%d requests", b.Requests)
	}
}

func TestConfig(t *testing.T) {
	for want, options := range map[string]string{"temperature": `{"temperature": 2}`, "cache_ttl": `{"cache_ttl": "2h"}`, "colour": `{"colour": 1}`} {
		if _, err := anthropic.NewLLM(remote.Engine{APIKey: "k", Options: inference.Options(options)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", options, err)
		}
	}
	if _, err := anthropic.NewLLM(remote.Engine{}); err == nil {
		t.Error("it is taken without a key")
	}
	if l, err := anthropic.NewLLM(remote.Engine{APIKey: "k"}); err != nil || !slices.Contains(l.Info().Languages, "en") {
		t.Errorf("%v", err)
	}
}
