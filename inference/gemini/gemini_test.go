package gemini_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/inference"
	"parley/inference/enginetest"
	"parley/inference/enginetest/loopbacktest"
	"parley/inference/gemini"
	"parley/inference/gemini/geminitest"
	"parley/inference/remote"
)

// engine is a model at a fake; change may be nil.
func engine(t *testing.T, s *geminitest.Server, change func(*remote.Engine)) *gemini.LLM {
	t.Helper()
	c := remote.Engine{BaseURL: s.URL, APIKey: s.Key, Timeout: 500 * time.Millisecond}
	if change != nil {
		change(&c)
	}
	l, err := gemini.NewLLM(c)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// thinks has a model that signs its calls.
func thinks(c *remote.Engine) { c.Model = "gemini-3-flash" }

// answer collects a reply.
func answer(t *testing.T, l *gemini.LLM, r inference.Request) (m inference.Message, last inference.Delta, err error) {
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

func result(id, text string) inference.Message {
	return inference.Message{Role: inference.RoleTool, ToolCallID: id, Text: text}
}

var (
	look  = inference.Tool{Name: "look_up", Description: "Looks for a table.", Parameters: []byte(`{"type":"object","properties":{"day":{"type":"string"}},"additionalProperties":false}`)}
	hello = inference.Request{System: "You help.", Messages: []inference.Message{user("Hi.")}}
)

func TestConformance(t *testing.T) {
	s := geminitest.New(t, geminitest.Script{Answer: func(_ int, r geminitest.Request) geminitest.Reply {
		if len(r.Tools) > 0 && r.ToolConfig == nil {
			return geminitest.Reply{Tools: []geminitest.ToolUse{{Name: r.Tools[0].Functions[0].Name, Input: `{"day":"fri"}`}}}
		}
		return geminitest.Reply{Text: strings.Repeat("We are open from nine to six. ", 40)}
	}})
	tools := hello
	tools.Tools = []inference.Tool{look, {Name: "end_call"}}
	enginetest.TestLLM(t, engine(t, s, nil), enginetest.LLMOptions{Request: hello, ToolRequest: tools, Busy: s.Busy})
}

// TestTextThenCall: text comes as it is written, a call without an identifier gets one, and usage is what Google bills: thoughts
// count as output, what was cached is part of the input.
func TestTextThenCall(t *testing.T) {
	s := geminitest.New(t, geminitest.Script{Replies: []geminitest.Reply{{Thinking: "They want Friday.", Text: "Let me look.",
		Tools: []geminitest.ToolUse{{Name: "look_up", Input: `{"day":"fri"}`}, {Name: "end_call"}}, In: 112, CacheRead: 2048, Out: 41}}})
	m, last, err := answer(t, engine(t, s, nil), inference.Request{System: "You help.", Messages: []inference.Message{user("Friday?")}, Tools: []inference.Tool{look, {Name: "end_call"}}})
	if err != nil || m.Text != "Let me look." || !slices.Equal(m.ToolCalls, []inference.ToolCall{{ID: "call_1_0", Name: "look_up", Arguments: `{"day":"fri"}`}, {ID: "call_1_1", Name: "end_call", Arguments: "{}"}}) {
		t.Fatalf("%+v, %v", m, err)
	}
	if u := last.Usage; last.Finish != inference.FinishTools || u == nil || u.In != 2160 || u.Cached != 2048 || u.Out != 41 || u.Reasoning == 0 || u.Source != inference.UsageProvider {
		t.Errorf("finish %q, usage %+v", last.Finish, u)
	}
}

// TestSignaturesGoBack: a call goes back with its signature, whatever its identifier has become, and only to the engine that signed
// it; the calls of another have Google's word for that.
func TestSignaturesGoBack(t *testing.T) {
	s := geminitest.New(t, geminitest.Script{Replies: []geminitest.Reply{
		{Tools: []geminitest.ToolUse{{Name: "look_up", Input: `{"day": "fri"}`}, {Name: "look_up", Input: `{"day": "sat"}`}}}, {Tools: []geminitest.ToolUse{{Name: "look_up"}}}, {Text: "There is one."}}})
	l := engine(t, s, thinks)
	r := inference.Request{Messages: []inference.Message{user("Friday?")}, Tools: []inference.Tool{look}}
	for i := range 2 {
		m, _, err := answer(t, l, r)
		if err != nil || len(m.Parts) != 1 || m.Parts[0].Engine != l.Info().Name || len(m.ToolCalls) != 2-i {
			t.Fatalf("%+v, %v", m, err)
		}
		m.Parts = append(m.Parts, inference.Part{Engine: "other", Provider: []byte(`{"type":"mystery"}`)})
		var results []inference.Message
		for j := range m.ToolCalls {
			m.ToolCalls[j].ID = "call_" + string(rune('a'+2*i+j))
			results = append(results, result(m.ToolCalls[j].ID, `{"free":true}`))
		}
		r.Messages = append(append(r.Messages, m), results...)
	}
	if m, _, err := answer(t, l, r); err != nil || m.Text != "There is one." {
		t.Errorf("%+v, %v", m, err)
	}
	for i := range r.Messages {
		r.Messages[i].Parts = nil
	}
	if m, _, err := answer(t, l, r); err != nil || m.Text != "There is one." {
		t.Errorf("without signatures: %+v, %v", m, err)
	}
}

// TestHistories: whatever a conversation was, Gemini takes it.
func TestHistories(t *testing.T) {
	call := func(ids ...string) inference.Message {
		m := inference.Message{Role: inference.RoleAgent, Text: "One moment."}
		for _, id := range ids {
			m.ToolCalls = append(m.ToolCalls, inference.ToolCall{ID: id, Name: "look_up", Arguments: `{"day":"` + id + `"}`})
		}
		return m
	}
	agent := inference.Message{Role: inference.RoleAgent, Text: "Hello!"}
	for name, messages := range map[string][]inference.Message{
		"nothing":                   nil,
		"the agent begins":          {agent, user("Hi.")},
		"the agent begins by calls": {call("a"), result("a", "{}")},
		"the agent ends":            {user("Hi."), agent},
		"two turns of the caller":   {user("Hi."), user("Anybody?")},
		"two replies":               {user("Hi."), agent, agent},
		"an empty reply":            {user("Hi."), {Role: inference.RoleAgent}, user("Hello?")},
		"interrupted":               {user("Hi."), {Role: inference.RoleAgent, Text: "We are", Interrupted: true}, user("When?")},
		"an unanswered call":        {user("Hi."), call("a"), user("Hello?")},
		"one of two is answered":    {user("Hi."), call("a", "b"), result("b", "{}"), user("Hello?")},
		"a call at the end":         {user("Hi."), call("a")},
		"a result without a call":   {user("Hi."), result("z", "{}"), user("Hello?")},
		"two in a row":              {user("Hi."), call("a"), result("a", "free"), call("b"), result("b", `["free"]`)},
		"arguments that are none":   {user("Hi."), {Role: inference.RoleAgent, ToolCalls: []inference.ToolCall{{ID: "a", Name: "look_up", Arguments: `{"day`}}}, result("a", "null")},
	} {
		s := geminitest.New(t, geminitest.Script{Replies: []geminitest.Reply{{Text: "Yes."}}})
		for _, model := range []func(*remote.Engine){nil, thinks} {
			if m, _, err := answer(t, engine(t, s, model), inference.Request{System: "You help.", Messages: messages, Tools: []inference.Tool{look}}); err != nil || m.Text != "Yes." {
				t.Errorf("%s: %+v, %v", name, m, err)
			}
		}
	}
}

// TestRequest: options, a request's own wishes, which count more, and what the model may think besides.
func TestRequest(t *testing.T) {
	hot := 1.5
	for options, c := range map[string]struct {
		model   string
		request inference.Request
		want    string
	}{
		``:                                {"", hello, `{"thinkingConfig":{"thinkingBudget":0}}`},
		`{}`:                              {"gemini-3-pro", hello, `{"thinkingConfig":{"thinkingLevel":"LOW"}}`},
		`{"temperature":0.2}`:             {"gemini-2.0-flash", hello, `{"temperature":0.2}`},
		`{"temperature":0.2,"top_p":0.5}`: {"gemini-2.0-flash", inference.Request{Temperature: &hot}, `{"temperature":1.5,"topP":0.5}`},
		`{"max_tokens":90}`:               {"", inference.Request{MaxTokens: 80}, `{"maxOutputTokens":80,"thinkingConfig":{"thinkingBudget":0}}`},
		`{"max_tokens":91}`:               {"gemini-2.5-pro", hello, `{"maxOutputTokens":219,"thinkingConfig":{"thinkingBudget":128}}`},
		`{"thinking_level":"high"}`:       {"gemini-3-pro", inference.Request{MaxTokens: 80}, `{"maxOutputTokens":2128,"thinkingConfig":{"thinkingLevel":"HIGH"}}`},
		`{"thinking_budget":-1}`:          {"", hello, `{"thinkingConfig":{"thinkingBudget":-1}}`},
		`{"top_p":1}`:                     {"gemini-2.0-flash", inference.Request{Schema: []byte(`{"type":"object"}`)}, `{"topP":1,"responseMimeType":"application/json","responseJsonSchema":{"type":"object"}}`},
	} {
		s := geminitest.New(t, geminitest.Script{})
		l := engine(t, s, func(g *remote.Engine) { g.Model, g.Options = c.model, inference.Options(options) })
		if _, _, err := answer(t, l, c.request); err != nil {
			t.Errorf("%s: %v", options, err)
		}
		if body := string(s.Books().Body); !strings.Contains(body, `"generationConfig":`+c.want+`}`) {
			t.Errorf("%s: %s", options, body)
		}
	}
}

func TestStops(t *testing.T) {
	for stop, want := range map[string]inference.Finish{"STOP": inference.FinishStop, "MAX_TOKENS": inference.FinishLength, "SAFETY": inference.FinishFiltered, "OTHER": ""} {
		s := geminitest.New(t, geminitest.Script{Replies: []geminitest.Reply{{Text: "Yes.", Stop: stop}}})
		if _, last, err := answer(t, engine(t, s, nil), hello); err != nil || last.Finish != want {
			t.Errorf("%s: %q, %v", stop, last.Finish, err)
		}
	}
	s := geminitest.New(t, geminitest.Script{Replies: []geminitest.Reply{{Block: "PROHIBITED_CONTENT"}}})
	if m, last, err := answer(t, engine(t, s, nil), hello); err != nil || m.Text != "" || last.Finish != inference.FinishFiltered {
		t.Errorf("a refused prompt: %q, %v", last.Finish, err)
	}
	s = geminitest.New(t, geminitest.Script{Replies: []geminitest.Reply{{Stop: "MALFORMED_FUNCTION_CALL"}}})
	if _, _, err := answer(t, engine(t, s, nil), hello); inference.FaultOf(err) != inference.ErrFailed {
		t.Errorf("a call that is broken: %v", err)
	}
}

// TestRefusals: every status has its fault, and says when to come back.
func TestRefusals(t *testing.T) {
	for status, want := range map[int]inference.Fault{
		http.StatusBadRequest: inference.ErrRefused, http.StatusForbidden: inference.ErrRefused, http.StatusNotFound: inference.ErrRefused,
		http.StatusTooManyRequests: inference.ErrUnavailable, http.StatusServiceUnavailable: inference.ErrUnavailable,
		http.StatusInternalServerError: inference.ErrFailed, http.StatusGatewayTimeout: inference.ErrFailed,
	} {
		s := geminitest.New(t, geminitest.Script{Faults: []loopbacktest.Fault{{Status: status, RetryAfter: 5 * time.Second}}})
		_, _, err := answer(t, engine(t, s, nil), hello)
		e, ok := errors.AsType[*inference.Error](err)
		if inference.FaultOf(err) != want || !ok || e.RetryAfter != 5*time.Second || strings.Contains(err.Error(), s.Key) {
			t.Errorf("status %d: %v", status, err)
		}
	}
	s := geminitest.New(t, geminitest.Script{})
	_, _, err := answer(t, engine(t, s, func(c *remote.Engine) { c.APIKey = "wrong-key" }), hello)
	if inference.FaultOf(err) != inference.ErrRefused || strings.Contains(err.Error(), "wrong-key") {
		t.Errorf("another key: %v", err)
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
		"overloaded": {loopbacktest.Fault{AfterMessages: 4, Then: loopbacktest.Fail}, inference.ErrUnavailable},
		"broken":     {loopbacktest.Fault{AfterMessages: 4, Then: loopbacktest.Fail, Reason: "INTERNAL"}, inference.ErrFailed},
	} {
		s := geminitest.New(t, geminitest.Script{Replies: []geminitest.Reply{{Text: strings.Repeat("Good morning to you. ", 20)}}, Faults: []loopbacktest.Fault{tt.fault}})
		m, last, err := answer(t, engine(t, s, nil), hello)
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
	whole := geminitest.Reply{Text: "Let me look. ", Tools: []geminitest.ToolUse{{Name: "look_up", Input: `{"day":"fri"}`}}}
	r := hello
	r.Tools = []inference.Tool{look}
	for cut := 100; cut < 2600; cut += 97 {
		s := geminitest.New(t, geminitest.Script{Replies: []geminitest.Reply{whole}, Faults: []loopbacktest.Fault{{AfterBytes: cut}}})
		m, _, err := answer(t, engine(t, s, nil), r)
		if !strings.HasPrefix(whole.Text, m.Text) || len(m.ToolCalls) > 1 || err == nil && m.Text != whole.Text {
			t.Errorf("after %d bytes: %+v, %v", cut, m, err)
		}
	}
}

// TestOddEvents: what is unknown, or lacks fields, is passed over.
func TestOddEvents(t *testing.T) {
	for what, then := range map[string]loopbacktest.Action{"unknown": loopbacktest.Unknown, "nulls": loopbacktest.Nulls} {
		s := geminitest.New(t, geminitest.Script{Replies: []geminitest.Reply{{Text: "Good morning."}}, Faults: []loopbacktest.Fault{{AfterMessages: 1, Then: then}}})
		if m, _, err := answer(t, engine(t, s, nil), hello); err != nil || m.Text != "Good morning." {
			t.Errorf("%s: %q, %v", what, m.Text, err)
		}
	}
}

// TestWarm: to connect asks for nothing that is charged.
func TestWarm(t *testing.T) {
	s := geminitest.New(t, geminitest.Script{})
	engine(t, s, nil).Warm(t.Context())
	if b := s.Books(); b.Requests != 0 {
		t.Errorf("%d requests", b.Requests)
	}
}

func TestConfig(t *testing.T) {
	for want, options := range map[string]string{"temperature": `{"temperature": 2.1}`, "top_p": `{"top_p": 2}`, "thinking_level": `{"thinking_level": "much"}`,
		"thinking_budget": `{"thinking_budget": 8, "thinking_level": "low"}`, "colour": `{"colour": 1}`} {
		_, err := gemini.NewLLM(remote.Engine{APIKey: "k", Options: inference.Options(options)})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", options, err)
		}
	}
	if _, err := gemini.NewLLM(remote.Engine{}); err == nil {
		t.Error("it is taken without a key")
	}
	if _, err := gemini.NewLLM(remote.Engine{APIKey: "k", Model: "../../other"}); err == nil {
		t.Error("a model leads to another path")
	}
	if l, err := gemini.NewLLM(remote.Engine{APIKey: "k"}); err != nil || !slices.Contains(l.Info().Languages, "en") {
		t.Errorf("%v", err)
	}
}
