package loopbacktest

import (
	"encoding/json"
	"io"
	"net/http"
	"testing"
)

// Streamed are the messages of a good answer. Their events are named after their types, or not at all.
func Streamed[M any](t testing.TB, resp *http.Response, named bool) (list []M) {
	t.Helper()
	if resp.StatusCode != http.StatusOK {
		b, _ := io.ReadAll(resp.Body)
		t.Fatalf("%d %s", resp.StatusCode, b)
	}
	sent, err := ReadEvents(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range sent {
		var m M
		var typed struct{ Type string }
		if json.Unmarshal(e.Data, &m) != nil || json.Unmarshal(e.Data, &typed) != nil || named && e.Name != typed.Type || !named && e.Name != "" {
			t.Errorf("the event %q is %s", e.Name, e.Data)
		}
		list = append(list, m)
	}
	return list
}

// TestStreamFaults has a fake do wrong what a Fault can, in an answer of all events: after some of them, or after so many
// bytes. play asks for it, reason is that of a Fail. failed and ended say whether a message is the engine's error, or the
// end of a good answer.
func TestStreamFaults[M any](t *testing.T, after, all, bytes int, reason string, play func(Fault) *http.Response, failed, ended func(M) bool) {
	for _, f := range []Fault{{Then: Cut}, {AfterBytes: bytes}, {Then: Close}, {Then: Fail, Reason: reason}, {Then: Invalid}, {Then: Huge}, {Then: Nulls}, {Then: Unknown}} {
		f.AfterMessages = after
		list, err := ReadEvents(play(f).Body)
		var last M
		if n := len(list); n > 0 {
			_ = json.Unmarshal(list[n-1].Data, &last)
		}
		ok := false
		switch f.Then {
		case Nothing: // but the bytes are counted
			ok = err != nil
		case Cut:
			ok = err != nil && len(list) == after
		case Close, Fail:
			ok = err == nil && !ended(last) && failed(last) == (f.Then == Fail)
		default:
			ok = err == nil && len(list) == all && ended(last)
		}
		if !ok {
			t.Errorf("%+v: %v after %d events, the last %+v", f, err, len(list), last)
		}
	}
}

// StreamStalls checks that an answer which stalls after its first event counts as busy, and ends with its server.
func StreamStalls(t testing.TB, s *Server, resp *http.Response) {
	t.Helper()
	if _, err := io.ReadFull(resp.Body, make([]byte, 20)); err != nil || s.Busy() != 1 {
		t.Errorf("%v, %d busy", err, s.Busy())
	}
	s.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err == nil {
		t.Error("the body has an end")
	}
}

// Warms checks that a fake lists its models at a path, and answers a wrong key there with a status.
func Warms(t testing.TB, s *Server, path string, header func(key string) http.Header, status int) {
	t.Helper()
	for key, want := range map[string]int{s.Key: http.StatusOK, "wrong": status} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header = header(key)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("%d, want %d", resp.StatusCode, want)
		}
	}
	if b := s.Books(); b.Requests != 0 {
		t.Errorf("%+v", b)
	}
}

// TestRepliesInTurn checks that replies come in turn, the last of them again and again, unless a function answers. says is a
// reply, asked the question of a request, and ask the text of the answer to one.
func TestRepliesInTurn[Q, R any, S Fake](t *testing.T, start func(testing.TB, ModelScript[Q, R]) S, says func(text string) R, asked func(Q) string, ask func(S) string) {
	s := start(t, ModelScript[Q, R]{Replies: []R{says("One."), says("Two.")}})
	for _, want := range []string{"One.", "Two.", "Two."} {
		if got := ask(s); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	s = start(t, ModelScript[Q, R]{Answer: func(n int, q Q) R { return says(asked(q) + " " + string(rune('0'+n))) }})
	for _, want := range []string{"Is Friday free? 0", "Is Friday free? 1"} {
		if got := ask(s); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestExchanges plays the exchanges over HTTP in testdata, each with a fake that has the script of its name.
func TestExchanges[S Fake, C any](t *testing.T, start func(testing.TB, C) S, header func(key string) http.Header, scripts map[string]C) {
	for name, script := range scripts {
		t.Run(name, func(t *testing.T) {
			s := start(t, script).Loopback()
			Exchange(t, "testdata/"+name+".jsonl", s.URL, header(s.Key))
		})
	}
}
