package acceptance

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
)

// model is a language model behind HTTP that answers to what it hears in a way
// tests can count on. It reports usage as such servers do.
type model struct {
	*httptest.Server

	mu    sync.Mutex
	hears string      // what recognition gives; empty: it fails
	asked [][]message // requests of completions
}

// message is one of those that a model is shown.
type message struct{ Role, Content string }

// What every completion is reported to cost.
const (
	promptTokens     = 101
	completionTokens = 23
	ruinousTokens    = 10_000_000 // 24 dollars at the built-in card's price
)

// story takes well over half a minute to tell.
var story = strings.Repeat("Once upon a time there was a small harbour town beside a quiet northern sea. Every morning the fishermen rowed out before the sun came up. ", 6)

func newModel() *model {
	m := &model{}
	m.Server = httptest.NewServer(http.HandlerFunc(m.complete))
	return m
}

// env points a server at the model.
func (m *model) env() []string {
	return []string{"PARLEY_LLM=openai", "PARLEY_LLM_URL=" + m.URL + "/v1", "PARLEY_LLM_MODEL=harbour"}
}

func (m *model) complete(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "/audio/transcriptions") {
		m.transcribe(w)
		return
	}
	var request struct{ Messages []message }
	if json.NewDecoder(r.Body).Decode(&request) != nil || len(request.Messages) == 0 {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	m.mu.Lock()
	m.asked = append(m.asked, request.Messages)
	m.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(v any) {
		b, _ := json.Marshal(v) // maps of strings and numbers
		fmt.Fprintf(w, "data: %s\n\n", b)
	}
	said, typed := request.Messages[len(request.Messages)-1].Content, ""
	for _, m := range request.Messages {
		if m.Role == "tool" {
			typed = m.Content
		}
	}
	if strings.Contains(request.Messages[0].Content, keysPrompt) && typed == "" {
		send(map[string]any{"choices": []any{map[string]any{"delta": map[string]any{"tool_calls": []any{map[string]any{
			"index": 0, "id": "keys", "type": "function", "function": map[string]any{"name": "collect_digits",
				"arguments": `{"prompt":"Please type your number now.","max_digits":12,"terminator":"","first_timeout_seconds":30,"next_timeout_seconds":30}`}}}}}}})
		send(map[string]any{"choices": []any{map[string]any{"delta": map[string]any{}, "finish_reason": "tool_calls"}}})
		fmt.Fprint(w, "data: [DONE]\n\n")
		return
	}
	answer := reply(said)
	if typed != "" {
		answer = "You have typed " + typed + " in all."
	}
	for word := range strings.SplitAfterSeq(answer, " ") {
		send(map[string]any{"choices": []any{map[string]any{"delta": map[string]any{"content": word}}}})
	}
	send(map[string]any{"choices": []any{map[string]any{"delta": map[string]any{}, "finish_reason": "stop"}}})
	out := completionTokens
	if has(said, "ruin") {
		out = ruinousTokens
	}
	send(map[string]any{"choices": []any{}, "usage": map[string]int{"prompt_tokens": promptTokens, "completion_tokens": out}})
	fmt.Fprint(w, "data: [DONE]\n\n")
}

// transcribe recognises the same in everything.
func (m *model) transcribe(w http.ResponseWriter) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.hears == "" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]string{"text": m.hears}) // it may have gone
}

// understands has recognition give a text.
func (m *model) understands(text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.hears = text
}

// lastAsked is the latest request that shows so many messages of the caller's; nil: there is none.
func (m *model) lastAsked(turns int) []message {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range slices.Backward(m.asked) {
		if count(r, "user") == turns {
			return r
		}
	}
	return nil
}

// count is how many messages have a role.
func count(all []message, role string) (n int) {
	for _, m := range all {
		if m.Role == role {
			n++
		}
	}
	return n
}

// keysPrompt in an agent's prompt has callers type a number; what came is repeated.
const keysPrompt = "Have the caller type a number."

func reply(said string) string {
	switch {
	case has(said, "story"):
		return story
	case has(said, "open"):
		return "On Monday we are open from nine in the morning to six in the evening."
	}
	return "All right."
}
