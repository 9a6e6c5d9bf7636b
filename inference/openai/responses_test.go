package openai

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
	"parley/inference/openai/responsestest"
	"parley/inference/remote"
)

// responses is a model at a fake, over OpenAI's own API. More options may begin with a comma.
func responses(t *testing.T, s *responsestest.Server, model, options string) *LLM {
	t.Helper()
	l, err := NewLLM(remote.Engine{BaseURL: s.URL + "/v1", APIKey: s.Key, Model: model, Options: inference.Options(`{"api":"responses"` + options + `}`), Timeout: 500 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// booking is a request with functions.
func booking() inference.Request {
	r := hello
	r.Tools = []inference.Tool{{Name: "book", Description: "Books.", Parameters: []byte(`{"type":"object","properties":{"day":{"type":"string"}}}`)}, {Name: "end_call"}}
	return r
}

func TestResponsesConform(t *testing.T) {
	s := responsestest.New(t, responsestest.Script{Answer: func(_ int, r responsestest.Request) responsestest.Reply {
		if len(r.Tools) > 0 && r.ToolChoice.Mode == "" {
			return responsestest.Reply{Tools: []responsestest.ToolUse{{Name: r.Tools[0].Name, Input: `{"day":"fri"}`}}}
		}
		return responsestest.Reply{Text: strings.Repeat("We are open from nine to six. ", 40)}
	}})
	enginetest.TestLLM(t, responses(t, s, "", ""), enginetest.LLMOptions{Request: hello, ToolRequest: booking(), Busy: s.Busy})
}

// TestResponsesTextThenCall: text comes as it is written, a call when it is complete, and usage says what was cached and reasoned.
func TestResponsesTextThenCall(t *testing.T) {
	s := responsestest.New(t, responsestest.Script{Replies: []responsestest.Reply{{Thinking: "They want Friday.", Text: "Let me look.",
		Tools: []responsestest.ToolUse{{ID: "call_1", Name: "book", Input: `{"day":"fri"}`, Pieces: []string{`{"day":`, `"fri"}`}}, {ID: "call_2", Name: "end_call"}}, In: 112, CacheRead: 2048, Out: 41}}})
	a := read(t.Context(), responses(t, s, "gpt-5-mini", ""), booking())
	if a.err != nil || a.text != "Let me look." || a.finish != inference.FinishTools ||
		!slices.Equal(a.calls, []inference.ToolCall{{ID: "call_1", Name: "book", Arguments: `{"day":"fri"}`}, {ID: "call_2", Name: "end_call", Arguments: "{}"}}) {
		t.Fatalf("%+v", a)
	}
	if u := a.usage; u.In != 2160 || u.Cached != 2048 || u.Out != 41 || u.Reasoning == 0 || u.Source != inference.UsageProvider {
		t.Errorf("usage %+v", u)
	}
}

// TestReasoningGoesBack: what was reasoned before calls is sent again as it came, whatever the calls are named, and only to the
// engine that reasoned it.
func TestReasoningGoesBack(t *testing.T) {
	s := responsestest.New(t, responsestest.Script{Replies: []responsestest.Reply{
		{Thinking: "They want Friday.", Text: "Let me look.", Tools: []responsestest.ToolUse{{Name: "book"}, {Name: "book"}}}, {Text: "There is one."}}})
	l := responses(t, s, "gpt-5-mini", "")
	r := booking()
	a := read(t.Context(), l, r)
	if a.err != nil || len(a.calls) != 2 || len(a.parts) != 1 || a.parts[0].Engine != l.Info().Name {
		t.Fatalf("%+v", a)
	}
	a.calls[0].ID, a.calls[1].ID = "a", "b"
	m := inference.Message{Role: inference.RoleAgent, Text: a.text, ToolCalls: a.calls, Parts: append(a.parts, inference.Part{Engine: "other", Provider: []byte(`{"type":"mystery"}`)})}
	r.Messages = append(slices.Clone(r.Messages), m, inference.Message{Role: inference.RoleTool, ToolCallID: "b", Text: "{}"}, inference.Message{Role: inference.RoleTool, ToolCallID: "a", Text: "{}"})
	for _, cut := range []bool{false, true} {
		r.Messages[1].Interrupted = cut
		if a := read(t.Context(), l, r); a.err != nil || a.text != "There is one." {
			t.Errorf("interrupted %v: %+v", cut, a)
		}
	}
	if body := string(s.Books().Body); !strings.Contains(body, `"encrypted_content":"gAAAAA`) || strings.Contains(body, "mystery") {
		t.Error(body)
	}
}

// histories are conversations as they may have gone.
func histories() map[string][]inference.Message {
	agent := inference.Message{Role: inference.RoleAgent, Text: "Hello!"}
	call := inference.Message{Role: inference.RoleAgent, ToolCalls: []inference.ToolCall{{ID: "a", Name: "book"}, {ID: "b", Name: "book", Arguments: `{"day`}}}
	user := hello.Messages[0]
	result := inference.Message{Role: inference.RoleTool, ToolCallID: "a"}
	return map[string][]inference.Message{
		"nothing":                  nil,
		"the agent begins":         {agent, user},
		"an empty reply":           {user, {Role: inference.RoleAgent}, {Role: inference.RoleUser}},
		"interrupted":              {user, {Role: inference.RoleAgent, Text: "We are", Interrupted: true}, user},
		"unanswered calls":         {user, call, user},
		"one of two is answered":   {user, call, result},
		"a result without a call":  {user, result},
		"a result that comes late": {user, call, user, result},
	}
}

// TestResponsesHistories: whatever a conversation was, OpenAI takes it.
func TestResponsesHistories(t *testing.T) {
	for name, messages := range histories() {
		s := responsestest.New(t, responsestest.Script{Replies: []responsestest.Reply{{Text: "Yes."}}})
		r := booking()
		r.Messages = messages
		if a := read(t.Context(), responses(t, s, "", ""), r); a.err != nil || a.text != "Yes." {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

// TestResponsesRequest: options, a request's own wishes, and what a model may reason besides.
func TestResponsesRequest(t *testing.T) {
	const reasons = `"include":["reasoning.encrypted_content"],"`
	schema := hello
	schema.Schema = []byte(`{"type":"object"}`)
	for options, c := range map[string]struct {
		model   string
		request inference.Request
		want    string
	}{
		``:                             {"", hello, `{"model":"gpt-4o-mini","instructions":"Be brief.","input":[{"role":"user","content":"Hello"}],"stream":true,"store":false}`},
		`,"temperature":0.2,"top_p":1`: {"gpt-5-chat-latest", hello, `"store":false,"temperature":0.2,"top_p":1}`},
		`,"max_tokens":90`:             {"gpt-5-mini", hello, reasons + `max_output_tokens":2138,"reasoning":{"effort":"low"}}`},
		`,"reasoning_effort":"high"`:   {"o4-mini", hello, reasons + `reasoning":{"effort":"high"}}`},
		`,"max_tokens":91`:             {"", inference.Request{MaxTokens: 5}, `"max_output_tokens":16}`},
		`,"reasoning_effort":"none"`:   {"gpt-5.1", inference.Request{MaxTokens: 50}, reasons + `max_output_tokens":50,"reasoning":{"effort":"none"}}`},
		`,"max_tokens":92`:             {"", schema, `"text":{"format":{"type":"json_schema","name":"answer","schema":{"type":"object"},"strict":false}}}`},
	} {
		s := responsestest.New(t, responsestest.Script{})
		if a := read(t.Context(), responses(t, s, c.model, options), c.request); a.err != nil {
			t.Errorf("%s: %v", options, a.err)
		}
		if body := string(s.Books().Body); !strings.HasSuffix(body, c.want) {
			t.Errorf("%s: %s", options, body)
		}
	}
}

// TestResponsesEnd: why a response ends, and with what fault it fails.
func TestResponsesEnd(t *testing.T) {
	for stop, want := range map[string]inference.Finish{"": inference.FinishStop, "max_output_tokens": inference.FinishLength, "content_filter": inference.FinishFiltered} {
		s := responsestest.New(t, responsestest.Script{Replies: []responsestest.Reply{{Text: "Yes.", Stop: stop}}})
		if a := read(t.Context(), responses(t, s, "", ""), hello); a.err != nil || a.finish != want || a.usage.Source != inference.UsageProvider {
			t.Errorf("%s: %+v", stop, a)
		}
	}
	for code, want := range map[string]inference.Fault{"server_error": inference.ErrFailed, "rate_limit_exceeded": inference.ErrUnavailable} {
		s := responsestest.New(t, responsestest.Script{Replies: []responsestest.Reply{{Text: "Yes.", Fail: code}}})
		if a := read(t.Context(), responses(t, s, "", ""), hello); inference.FaultOf(a.err) != want || a.text != "Yes." {
			t.Errorf("%s: %+v", code, a)
		}
	}
}

// TestResponsesRefusals: every status has its fault; who has no money is not asked again.
func TestResponsesRefusals(t *testing.T) {
	for _, tt := range []struct {
		fault loopbacktest.Fault
		want  inference.Fault
	}{
		{loopbacktest.Fault{Status: http.StatusBadRequest}, inference.ErrRefused},
		{loopbacktest.Fault{Status: http.StatusUnauthorized}, inference.ErrRefused},
		{loopbacktest.Fault{Status: http.StatusTooManyRequests}, inference.ErrUnavailable},
		{loopbacktest.Fault{Status: http.StatusTooManyRequests, Reason: "insufficient_quota"}, inference.ErrRefused},
		{loopbacktest.Fault{Status: http.StatusInternalServerError}, inference.ErrFailed},
		{loopbacktest.Fault{Status: http.StatusServiceUnavailable}, inference.ErrUnavailable},
	} {
		tt.fault.RetryAfter = 5 * time.Second
		s := responsestest.New(t, responsestest.Script{Faults: []loopbacktest.Fault{tt.fault}})
		a := read(t.Context(), responses(t, s, "", ""), hello)
		if e, ok := errors.AsType[*inference.Error](a.err); !ok || e.Fault != tt.want || e.RetryAfter != 5*time.Second || strings.Contains(e.Error(), s.Key) {
			t.Errorf("%+v: %v", tt.fault, a.err)
		}
	}
}

// TestResponsesFaults: a response that breaks ends with one error, what was said before stays, and what is odd is passed over.
func TestResponsesFaults(t *testing.T) {
	for what, tt := range map[string]struct {
		fault loopbacktest.Fault
		want  inference.Fault
	}{
		"cut":        {loopbacktest.Fault{Then: loopbacktest.Cut}, inference.ErrFailed},
		"ended":      {loopbacktest.Fault{Then: loopbacktest.Close}, inference.ErrFailed},
		"stalled":    {loopbacktest.Fault{Then: loopbacktest.Stall}, inference.ErrFailed},
		"invalid":    {loopbacktest.Fault{Then: loopbacktest.Invalid}, inference.ErrFailed},
		"huge":       {loopbacktest.Fault{Then: loopbacktest.Huge}, inference.ErrFailed},
		"failed":     {loopbacktest.Fault{Then: loopbacktest.Fail}, inference.ErrFailed},
		"overloaded": {loopbacktest.Fault{Then: loopbacktest.Fail, Reason: "rate_limit_exceeded"}, inference.ErrUnavailable},
		"unknown":    {loopbacktest.Fault{Then: loopbacktest.Unknown}, 0},
		"nulls":      {loopbacktest.Fault{Then: loopbacktest.Nulls}, 0},
	} {
		tt.fault.AfterMessages = 8
		text := strings.Repeat("Good morning to you. ", 20)
		s := responsestest.New(t, responsestest.Script{Replies: []responsestest.Reply{{Text: text}}, Faults: []loopbacktest.Fault{tt.fault}})
		a := read(t.Context(), responses(t, s, "", ""), hello)
		if inference.FaultOf(a.err) != tt.want || a.text == "" || !strings.HasPrefix(text, a.text) || a.usage.Out == 0 || tt.want == 0 && a.text != text {
			t.Errorf("%s: %+v", what, a)
		}
		if a.err != nil && (strings.Contains(a.err.Error(), "Good") || strings.Contains(a.err.Error(), s.Key)) {
			t.Errorf("%s: %v", what, a.err)
		}
	}
}

// TestOptions: of a model, over either API. The other engines have none.
func TestOptions(t *testing.T) {
	for want, options := range map[string]string{"api": `{"api":"assistants"}`, "temperature": `{"temperature":2.1}`, "reasoning_effort": `{"reasoning_effort":"much"}`, "colour": `{"colour":1}`} {
		if _, err := NewLLM(remote.Engine{BaseURL: "http://host", Options: inference.Options(options)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", options, err)
		}
	}
	if _, err := NewLLM(remote.Engine{BaseURL: "http://host", Model: "o4-mini", Options: inference.Options(`{"api":"responses","temperature":1}`)}); err == nil || !strings.Contains(err.Error(), "temperature") {
		t.Errorf("a model that reasons: %v", err)
	}
	c := remote.Engine{BaseURL: "http://host", Options: inference.Options(`{"temperature":0.5,"top_p":0.9,"max_tokens":300,"reasoning_effort":"minimal"}`)}
	if l, err := NewLLM(c); err != nil {
		t.Error(err)
	} else if q := l.chatRequest(hello); *q.Temperature != 0.5 || *q.TopP != 0.9 || q.MaxTokens != 300 || q.Effort != "minimal" {
		t.Errorf("%+v", q)
	}
	_, err1 := NewASR(c)
	_, err2 := NewLiveASR(c)
	_, err3 := NewTTS(c)
	if err1 == nil || err2 == nil || err3 == nil {
		t.Error("engines without options take some")
	}
}
