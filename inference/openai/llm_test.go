package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/inference"
	"parley/inference/enginetest"
	"parley/inference/remote"
)

var hello = inference.Request{System: "Be brief.", Messages: []inference.Message{{Role: inference.RoleUser, Text: "Hello"}}}

// event is one server-sent event.
func event(data string) string { return "data: " + data + "\n\n" }

// say is an event with text.
func say(text string) string {
	b, _ := json.Marshal(text)
	return event(`{"choices":[{"index":0,"delta":{"content":` + string(b) + `},"finish_reason":null}]}`)
}

// call is an event with a piece of a tool call.
func call(index int, id, name, arguments string) string {
	b, _ := json.Marshal(arguments)
	return event(fmt.Sprintf(`{"choices":[{"delta":{"tool_calls":[{"index":%d,"id":%q,"type":"function","function":{"name":%q,"arguments":%s}}]}}]}`, index, id, name, b))
}

const (
	done      = "data: [DONE]\n\n"
	stop      = `data: {"choices":[{"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	toolStop  = `data: {"choices":[{"delta":{},"finish_reason":"tool_calls"}]}` + "\n\n"
	usage     = `data: {"choices":[],"usage":{"prompt_tokens":21,"completion_tokens":7}}` + "\n\n"
	stopUsage = `data: {"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":21,"completion_tokens":7}}` + "\n\n"
)

// answer is what came out of a reply.
type answered struct {
	text   string
	calls  []inference.ToolCall
	parts  []inference.Part
	usage  inference.Usage
	finish inference.Finish
	err    error
}

func read(ctx context.Context, l *LLM, r inference.Request) (a answered) {
	for d, err := range l.Complete(ctx, r) {
		a.text += d.Text
		if d.ToolCall != nil {
			a.calls = append(a.calls, *d.ToolCall)
		}
		if d.Part != nil {
			a.parts = append(a.parts, *d.Part)
		}
		if d.Usage != nil {
			a.usage = *d.Usage
		}
		a.finish, a.err = d.Finish, err
	}
	return a
}

// TestStreams feeds the dialect's variants, and what breaks it, to the reader.
func TestStreams(t *testing.T) {
	provider := inference.Usage{In: 21, Out: 7, Source: inference.UsageProvider}
	counted := func(out int) inference.Usage { return inference.Usage{In: 4, Out: out, Source: inference.UsageCounted} }
	long := strings.Repeat("x", 1100<<10)
	for name, c := range map[string]struct {
		body  string
		text  string
		calls []inference.ToolCall
		usage inference.Usage
		fault inference.Fault
	}{
		"usage in its own event": {say("Hi ") + say("there") + stop + usage + done, "Hi there", nil, provider, 0},
		"usage with the reason":  {say("Hi there") + stopUsage + done, "Hi there", nil, provider, 0},
		"usage on every event": {strings.ReplaceAll(say("Hi there"), `null}]`, `null}],"usage":{"prompt_tokens":21,"completion_tokens":3}`) + stop + done,
			"Hi there", nil, inference.Usage{In: 21, Out: 3, Source: inference.UsageProvider}, 0},
		"no usage":             {say("Hi there!") + stop + done, "Hi there!", nil, counted(3), 0},
		"null usage":           {strings.ReplaceAll(say("Hi"), `null}]`, `null}],"usage":null`) + stop + done, "Hi", nil, counted(1), 0},
		"no done":              {say("Hi") + stop, "Hi", nil, counted(1), 0},
		"no reason":            {say("Hi") + done, "Hi", nil, counted(1), 0},
		"carriage returns":     {strings.ReplaceAll(say("Hi")+stop+done, "\n", "\r\n"), "Hi", nil, counted(1), 0},
		"comments and fields":  {": wait\n\nevent: x\nid: 7\n" + say("Hi") + "\n" + strings.ReplaceAll(stop, "data: ", "data:") + done, "Hi", nil, counted(1), 0},
		"null content":         {event(`{"choices":[{"delta":{"role":"assistant","content":null}}]}`) + say("Hi") + stop + done, "Hi", nil, counted(1), 0},
		"nothing after done":   {say("Hi") + done + say("late"), "Hi", nil, counted(1), 0},
		"truncated":            {say("Hi"), "Hi", nil, counted(1), inference.ErrFailed},
		"truncated in a line":  {say("Hi") + `data: {"choices":[{"del`, "Hi", nil, counted(1), inference.ErrFailed},
		"empty body":           {"", "", nil, counted(0), inference.ErrFailed},
		"a page":               {"<html>busy</html>\n", "", nil, counted(0), inference.ErrFailed},
		"error in the stream":  {say("Hi") + event(`{"error":{"message":"Hello, `+secret+`","code":500,"type":"server_error"}}`), "Hi", nil, counted(1), inference.ErrFailed},
		"not JSON":             {say("Hi") + event("{oops"), "Hi", nil, counted(1), inference.ErrFailed},
		"endless line":         {say("Hi") + "data: " + long, "Hi", nil, counted(1), inference.ErrFailed},
		"long comment":         {": " + long + "\n", "", nil, counted(0), inference.ErrFailed},
		"tool in pieces":       {call(0, "c1", "book", "") + call(0, "", "", `{"day":`) + call(0, "", "", `"fri"}`) + toolStop + usage + done, "", []inference.ToolCall{{ID: "c1", Name: "book", Arguments: `{"day":"fri"}`}}, provider, 0},
		"two tools interwoven": {say("One moment.") + call(1, "c2", "end", "") + call(0, "c1", "book", `{`) + call(1, "", "", `{}`) + call(0, "", "", `}`) + toolStop + done, "One moment.", []inference.ToolCall{{ID: "c1", Name: "book", Arguments: `{}`}, {ID: "c2", Name: "end", Arguments: `{}`}}, counted(6), 0},
		"tool without id":      {call(0, "", "book", "") + toolStop + done, "", []inference.ToolCall{{ID: "call_1_0", Name: "book", Arguments: "{}"}}, counted(1), 0},
		"tool cut short":       {call(0, "c1", "book", `{"day":`) + event(`{"choices":[{"delta":{},"finish_reason":"length"}]}`) + done, "", nil, counted(3), inference.ErrFailed},
		"tool never finished":  {call(0, "c1", "book", `{}`), "", nil, counted(2), inference.ErrFailed},
		"too many tools":       {strings.Repeat(call(0, "c", "book", "{}"), 1) + manyCalls(17) + toolStop + done, "", nil, counted(0), inference.ErrFailed},
		"huge arguments":       {call(0, "c", "book", long[:40<<10]) + call(0, "", "", long[:40<<10]) + toolStop + done, "", nil, counted(0), inference.ErrFailed},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				write(w, c.body)
			})
			l, err := NewLLM(s.config())
			if err != nil {
				t.Fatal(err)
			}
			got := read(t.Context(), l, hello)
			if got.text != c.text || !reflect.DeepEqual(got.calls, c.calls) || inference.FaultOf(got.err) != c.fault {
				t.Errorf("got %q, %v and %v", got.text, got.calls, got.err)
			}
			if name != "too many tools" && name != "huge arguments" && got.usage != c.usage {
				t.Errorf("usage %+v, want %+v", got.usage, c.usage)
			}
			if text := fmt.Sprint(got.err); strings.Contains(text, secret) || strings.Contains(text, "Hello") {
				t.Errorf("the error says %q", text)
			}
		})
	}
}

func manyCalls(n int) (s string) {
	for i := range n {
		s += call(i, "c", "book", "{}")
	}
	return s
}

// TestStreamIsBounded: a server that never stops is stopped.
func TestStreamIsBounded(t *testing.T) {
	s := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		comment := ": " + strings.Repeat("x", 200<<10) + "\n"
		for write(w, comment) {
		}
	})
	l, _ := NewLLM(s.config())
	if got := read(t.Context(), l, hello); inference.FaultOf(got.err) != inference.ErrFailed {
		t.Errorf("got %v", got.err)
	}
}

// TestChatRequest compares the body with the one the dialect wants.
func TestChatRequest(t *testing.T) {
	s := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/chat/completions" || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %s", r.Method, r.URL)
		}
		write(w, done)
	})
	c := s.config()
	c.Model = "m"
	l, _ := NewLLM(c)
	read(t.Context(), l, inference.Request{
		System: "Be brief.", Language: "es", MaxTokens: 90, NoTools: true,
		Messages: []inference.Message{
			{Role: inference.RoleUser, Text: "Hola"},
			{Role: inference.RoleAgent, Text: "Un momento", Interrupted: true, ToolCalls: []inference.ToolCall{{ID: "c1", Name: "book", Arguments: `{"n":2}`}}},
			{Role: inference.RoleTool, Text: "ok", ToolCallID: "c1"},
		},
		Tools: []inference.Tool{
			{Name: "book", Description: "Books.", Parameters: []byte(`{"type":"object"}`)},
			{Name: "end_call"},
		},
	})
	want := `{"model":"m","messages":[{"role":"system","content":"Be brief.\n\nAnswer in Spanish."},{"role":"user","content":"Hola"},` +
		`{"role":"assistant","content":"Un momento …","tool_calls":[{"id":"c1","type":"function","function":{"name":"book","arguments":"{\"n\":2}"}}]},` +
		`{"role":"tool","content":"ok","tool_call_id":"c1"}],"stream":true,"stream_options":{"include_usage":true},` +
		`"tools":[{"type":"function","function":{"name":"book","description":"Books.","parameters":{"type":"object"}}},` +
		`{"type":"function","function":{"name":"end_call","parameters":{"type":"object","properties":{}}}}],"tool_choice":"none","max_tokens":90}`
	if got, _ := s.last(); got != want {
		t.Errorf("body\n%s\nwant\n%s", got, want)
	}
	own, _ := NewLLM(remote.Engine{BaseURL: "https://api.openai.com/v1"})
	b, _ := json.Marshal(own.chatRequest(inference.Request{MaxTokens: 5}))
	if !bytes.Contains(b, []byte(`"max_completion_tokens":5`)) || bytes.Contains(b, []byte(`"max_tokens"`)) {
		t.Errorf("body %s", b)
	}
	b, _ = json.Marshal(own.chatRequest(inference.Request{Schema: []byte(`{"type":"object"}`)}))
	if !bytes.Contains(b, []byte(`"response_format":{"type":"json_schema","json_schema":{"name":"answer","schema":{"type":"object"}}}`)) {
		t.Errorf("body %s", b)
	}
	bad := read(t.Context(), l, inference.Request{Tools: []inference.Tool{{Name: "x", Parameters: []byte("{")}}})
	if inference.FaultOf(bad.err) != inference.ErrRefused {
		t.Errorf("broken parameters: %v", bad.err)
	}
}

// allAnswered says that each call has its result before anything else is said, without which servers refuse a conversation for good.
func allAnswered(messages []chatMessage) bool {
	var calls []string // without a result
	for _, m := range messages {
		i := slices.Index(calls, m.ToolCallID)
		switch {
		case m.Role == "tool" && i >= 0:
			calls = slices.Delete(calls, i, i+1)
		case m.Role == "tool", len(calls) > 0, m.Content == "" && len(m.ToolCalls) == 0:
			return false
		}
		for _, c := range m.ToolCalls {
			if calls = append(calls, c.ID); !json.Valid([]byte(c.Function.Arguments)) {
				return false
			}
		}
	}
	return len(calls) == 0
}

// TestChatHistories: whatever a conversation was, a server takes it.
func TestChatHistories(t *testing.T) {
	s := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		var q chatRequest
		if json.NewDecoder(r.Body).Decode(&q) != nil || !allAnswered(q.Messages) {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		write(w, say("Yes.")+done)
	})
	l, _ := NewLLM(s.config())
	for name, messages := range histories() {
		if a := read(t.Context(), l, inference.Request{System: "Be brief.", Messages: messages}); a.err != nil || a.text != "Yes." {
			body, _ := s.last()
			t.Errorf("%s: %+v to %s", name, a, body)
		}
	}
}

// TestCancelReachesServer: cancelling, or leaving the sequence, ends the request
// at the server, before its first byte and in the middle of its text.
func TestCancelReachesServer(t *testing.T) {
	for name, text := range map[string]string{"before the answer": "", "midway": say("Hi there")} {
		for _, leave := range []bool{false, true} {
			if leave && text == "" {
				continue
			}
			t.Run(fmt.Sprint(name, leave), func(t *testing.T) {
				arrived, gone := make(chan struct{}), make(chan struct{})
				s := newServer(t, func(w http.ResponseWriter, r *http.Request) {
					if text != "" {
						write(w, text)
					}
					close(arrived)
					<-r.Context().Done()
					close(gone)
				})
				l, _ := NewLLM(s.config())
				ctx, cancel := context.WithCancelCause(t.Context())
				why := errors.New("interrupted")
				if text == "" {
					go func() {
						<-arrived
						cancel(why)
					}()
				}
				var last inference.Usage
				var err error
				for d, e := range l.Complete(ctx, hello) {
					if d.Usage != nil {
						last = *d.Usage
					}
					if err = e; leave {
						break
					}
					cancel(why)
				}
				<-gone
				if !leave && err != why {
					t.Errorf("error %v", err)
				}
				want := inference.Usage{In: 4, Out: 2, Source: inference.UsageCounted}
				if text == "" {
					want = inference.Usage{}
				}
				if last != want {
					t.Errorf("usage %+v", last)
				}
				cancel(nil)
			})
		}
	}
}

// TestSilence: a server that stops talking is given up after Timeout; a consumer
// that takes its time is not mistaken for one.
func TestSilence(t *testing.T) {
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		pause   time.Duration
		text    string
		after   time.Duration
		fault   inference.Fault
	}{
		"no answer": {func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, 0, "", 2 * time.Second, inference.ErrFailed},
		"midway": {func(w http.ResponseWriter, r *http.Request) {
			write(w, say("Hi"))
			<-r.Context().Done()
		}, 0, "Hi", 2 * time.Second, inference.ErrFailed},
		"slow": {func(w http.ResponseWriter, r *http.Request) {
			for range 3 {
				time.Sleep(1900 * time.Millisecond)
				write(w, say("Hi"))
			}
			write(w, done)
		}, 0, "HiHiHi", 5700 * time.Millisecond, 0},
		"slow consumer": {func(w http.ResponseWriter, r *http.Request) {
			write(w, say("Hi"))
			write(w, say("Hi"))
			write(w, done)
		}, time.Minute, "HiHi", 3 * time.Minute, 0}, // the last delta brings the usage
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, end := memory(c.handler)
				defer end()
				l, err := NewLLM(remote.Engine{BaseURL: "http://memory/v1", HTTPClient: client, Timeout: 2 * time.Second})
				if err != nil {
					t.Fatal(err)
				}
				start, text := time.Now(), ""
				var last error
				for d, e := range l.Complete(t.Context(), hello) {
					if text, last = text+d.Text, e; e == nil {
						time.Sleep(c.pause)
					}
				}
				if text != c.text || inference.FaultOf(last) != c.fault || time.Since(start) != c.after {
					t.Errorf("got %q and %v after %v", text, last, time.Since(start))
				}
				if c.fault != 0 && !errors.Is(last, inference.ErrStalled) {
					t.Errorf("error %v", last)
				}
			})
		})
	}
}

// chat answers like a model that likes its tools.
func chat(w http.ResponseWriter, r *http.Request) {
	var q chatRequest
	if json.NewDecoder(r.Body).Decode(&q) != nil || !q.Stream || !q.StreamOptions.IncludeUsage {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	if len(q.Tools) > 0 && q.ToolChoice == "" {
		write(w, call(0, "call_a", q.Tools[0].Function.Name, "{")+call(0, "", "", "}")+toolStop+usage+done)
		return
	}
	for _, word := range []string{"I ", "can ", "help ", "with ", "that."} {
		if !write(w, say(word)) {
			return
		}
	}
	write(w, stop+usage+done)
}

func TestLLMConforms(t *testing.T) {
	s := newServer(t, chat)
	l, err := NewLLM(s.config())
	if err != nil {
		t.Fatal(err)
	}
	tool := hello
	tool.Tools = []inference.Tool{{Name: "book"}}
	enginetest.TestLLM(t, l, enginetest.LLMOptions{Request: hello, ToolRequest: tool, Busy: s.working})
}

// TestUnheard: the model learns what the caller has not heard of the first message.
func TestUnheard(t *testing.T) {
	r := inference.Request{System: "You help.", Unheard: "This is Ana of Acme.", Language: "en"}
	if got := r.Prompt(); !strings.HasPrefix(got, "You help.\n\n") || !strings.Contains(got, `"This is Ana of Acme."`) || !strings.HasSuffix(got, "Answer in English.") {
		t.Errorf("got %q", got)
	}
	if r.Unheard = ""; r.Prompt() != "You help.\n\nAnswer in English." {
		t.Errorf("got %q", r.Prompt())
	}
}

// TestFinish: why the model stopped, and what of its usage was cached or not shown.
func TestFinish(t *testing.T) {
	detailed := event(`{"choices":[],"usage":{"prompt_tokens":21,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":16},"completion_tokens_details":{"reasoning_tokens":5}}}`)
	for reason, want := range map[string]inference.Finish{
		"stop": inference.FinishStop, "length": inference.FinishLength, "content_filter": inference.FinishFiltered, "tool_calls": inference.FinishTools, "new_reason": "",
	} {
		s := newServer(t, func(w http.ResponseWriter, r *http.Request) {
			write(w, say("Hi")+event(`{"choices":[{"delta":{},"finish_reason":"`+reason+`"}]}`)+detailed+done)
		})
		l, _ := NewLLM(s.config())
		var last inference.Delta
		for d, err := range l.Complete(t.Context(), hello) {
			if err != nil {
				t.Fatal(reason, err)
			}
			if last.Finish != "" {
				t.Errorf("%s: a delta after the last", reason)
			}
			last = d
		}
		if last.Finish != want {
			t.Errorf("%s: finish %q, want %q", reason, last.Finish, want)
		}
		if u := (inference.Usage{In: 21, Out: 7, Cached: 16, Reasoning: 5, Source: inference.UsageProvider}); *last.Usage != u {
			t.Errorf("%s: usage %+v", reason, *last.Usage)
		}
	}
}
