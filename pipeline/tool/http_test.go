package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"
)

// bench makes the functions of a definition against servers on loopback.
type bench struct {
	*testing.T
	Config
	who     Who
	log     logged
	secrets map[string]string
	bound   []string // all of them, to these hosts
}

// logged is what was logged.
type logged struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

const secret = "hunter2-hunter2"

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{T: t, who: Who{Account: "acc_1", Other: "+34910000001"}, secrets: map[string]string{"KEY": secret}}
	b.Config = Config{Guard: guard(t, nil, "127.0.0.0/8"), Log: slog.New(slog.NewTextHandler(&b.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Secrets: func(_ context.Context, account string, names []string) (map[string]Secret, error) {
			if account != b.who.Account {
				t.Errorf("secrets of %s", account)
			}
			out := map[string]Secret{}
			for _, n := range names {
				if v, ok := b.secrets[n]; ok {
					out[n] = Secret{v, b.bound}
				}
			}
			return out, nil
		}}
	t.Cleanup(func() {
		if strings.Contains(b.log.String(), secret) {
			t.Errorf("the log holds a secret:\n%s", b.log.String())
		}
	})
	return b
}

func (b *bench) parse(list string) []Definition {
	b.Helper()
	defs, err := Parse(json.RawMessage(list))
	if err != nil {
		b.Fatal(err)
	}
	return defs
}

// open makes the functions of a list with one definition.
func (b *bench) open(def string) *Set {
	b.Helper()
	defs := b.parse("[" + def + "]")
	set := New(b.Config).Open(b.Context(), b.who, defs)
	b.Cleanup(set.Close)
	return set
}

// run runs the one function of a definition.
func (b *bench) run(def, arguments string) (string, error) {
	b.Helper()
	set := b.open(def)
	if len(set.Functions) != 1 {
		b.Fatalf("%d functions", len(set.Functions))
	}
	f := set.Functions[0]
	// Long times are longer here, for machines that are busy.
	ctx, cancel := context.WithTimeout(b.Context(), max(f.Timeout, time.Minute*(f.Timeout/time.Second)))
	defer cancel()
	result, err := f.Run(ctx, json.RawMessage(arguments))
	if strings.Contains(result+fmt.Sprint(err), secret) {
		b.Errorf("a secret is in %s, %v", result, err)
	}
	return result, err
}

// order is a definition of a request; more goes into its http.
func order(method, address, more string) string {
	return fmt.Sprintf(`{"type":"http","name":"order","parameters":{"type":"object","properties":{"id":{"type":["string","integer"]},"note":{"type":"string"},
		"list":{"type":"array"}},"required":["id"],"additionalProperties":false},"http":{"method":%q,"url":%q%s}}`, method, address, more)
}

// request is what a service was sent.
type request struct {
	method, uri, body string
	header            http.Header
}

// service answers every request and keeps it.
func service(t *testing.T, answer http.HandlerFunc) (base string, got func() []request) {
	t.Helper()
	var mu sync.Mutex
	var list []request
	u, _ := counted(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		list = append(list, request{r.Method, r.RequestURI, string(body), r.Header})
		mu.Unlock()
		answer(w, r)
	})
	return u.String(), func() []request {
		mu.Lock()
		defer mu.Unlock()
		return append([]request{}, list...)
	}
}

func answers(kind, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		_, _ = io.WriteString(w, body)
	}
}

func TestRequests(t *testing.T) {
	base, got := service(t, answers("application/json", `{"ok": true}`))
	for _, tt := range []struct{ def, args, method, uri, body string }{
		{order("GET", base+"/o/{id}", ""), `{"id":"a/b c?d#e&f"}`, "GET", "/o/a%2Fb%20c%3Fd%23e&f", ""},
		{order("GET", base+"/o?id={id}&x=1", ""), `{"id":"a&b=c d"}`, "GET", "/o?id=a%26b%3Dc+d&x=1", ""},
		{order("GET", base+"/o/{id}", `,"query":{"n":"{note}","id":"n-{id}"}`), `{"id":12345678901234567890}`, "GET", "/o/12345678901234567890?id=n-12345678901234567890", ""},
		{order("DELETE", base+"/o/{id}", ""), `{"id":"1","note":"x"}`, "DELETE", "/o/1", ""},
		{order("POST", base+"/o", ""), `{"id":1e3,"list":[1,2]}`, "POST", "/o", `{"id":1e3,"list":[1,2]}`},
		{order("PUT", base+"/o", `,"body":{"a":"{id}","b":["{list}","{note}"],"c":"n-{note}","d":"{note}","e":{"f":null}}`), `{"id":7,"list":[1]}`,
			"PUT", "/o", `{"a":7,"b":[[1]],"c":"n-","e":{"f":null}}`},
		{order("POST", base+"/o", `,"query":{"k":"{{secret.KEY}}-{note}"}`), `{"id":"x","note":"{{secret.KEY}}"}`, "POST",
			"/o?k=" + secret + "-%7B%7Bsecret.KEY%7D%7D", `{"id":"x","note":"{{secret.KEY}}"}`},
	} {
		b := newBench(t)
		result, err := b.run(tt.def, tt.args)
		if err != nil || result != `{"status":200,"body":{"ok":true}}` {
			t.Errorf("%s: %s, %v", tt.def, result, err)
			continue
		}
		all := got()
		r := all[len(all)-1]
		if r.method != tt.method || r.uri != tt.uri || r.body != tt.body {
			t.Errorf("%s with %s sent %s %s %s", tt.def, tt.args, r.method, r.uri, r.body)
		}
	}
}

func TestArgumentsAreHeldToTheSchema(t *testing.T) {
	base, got := service(t, answers("text/plain", "never"))
	for args, want := range map[string]string{`{}`: "required", `{"id":true}`: "the arguments are not", `{"id":"1","x":1}`: "the arguments are not", `[]`: "not a JSON object",
		`null`: "not a JSON object", `{"id":`: "not a JSON object", `{"id":".."}`: `cannot be ".."`, `{"id":"a/../b"}`: `cannot be`, `{"id":""}`: "id is needed"} {
		if result, err := newBench(t).run(order("GET", base+"/o/{id}", ""), args); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %s, %v", args, result, err)
		}
	}
	if n := len(got()); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

func TestSecretsOfRequests(t *testing.T) {
	base, got := service(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, "you sent %s", r.Header.Get("Authorization"))
	})
	def := order("GET", base, `,"headers":{"Authorization":"Bearer {{ secret.KEY }}","X-Plain":"{id}"}`)
	result, err := newBench(t).run(def, `{"id":"1"}`)
	if err != nil || result != `{"status":200,"body":"you sent Bearer (secret)"}` {
		t.Errorf("%s, %v", result, err)
	}
	if h := got()[0].header; h.Get("Authorization") != "Bearer "+secret || h.Get("X-Plain") != "{id}" {
		t.Errorf("%v", h)
	}
	b := newBench(t)
	b.secrets = nil
	if _, err := b.run(def, `{"id":"1"}`); err == nil || err.Error() != "the secret KEY does not exist, or does not belong to this host" {
		t.Error(err)
	}
	// Nobody is there: the error holds neither the address nor what is in it.
	gone, _ := counted(t, nil)
	_, err = newBench(t).run(order("GET", "http://127.0.0.1:1/"+gone.Port(), `,"query":{"k":"{{secret.KEY}}"}`), `{"id":"1"}`)
	if err == nil || strings.Contains(err.Error(), "127.0.0.1") {
		t.Error(err)
	}
}

// TestSecretsStayWithTheirHosts: a function of the account's to another host is not sent
// the secret, whatever it names.
func TestSecretsStayWithTheirHosts(t *testing.T) {
	base, got := service(t, func(w http.ResponseWriter, r *http.Request) {})
	for bound, sent := range map[string]bool{"": true, "127.0.0.1": true, "api.example.com": false, "*.0.0.1": true, "*.127.0.0.1": false} {
		b, before := newBench(t), len(got())
		if bound != "" {
			b.bound = []string{bound}
		}
		for _, more := range []string{`,"headers":{"Authorization":"{{secret.KEY}}"}`, `,"query":{"k":"{{secret.KEY}}"}`} {
			if _, err := b.run(order("GET", base, more), `{"id":"1"}`); (err == nil) != sent {
				t.Errorf("bound to %q, %s: %v", bound, more, err)
			}
		}
		if n := len(got()) - before; (n == 2) != sent || !sent && n != 0 {
			t.Errorf("bound to %q: %d requests", bound, n)
		}
	}
}

// TestNamesInside: a function learns no more of a name that leads inside than of none.
func TestNamesInside(t *testing.T) {
	var said []string
	for _, names := range []Resolver{noNames{}, &fakeNames{answers: [][]netip.Addr{addrs("10.0.0.7")}}} {
		b := newBench(t)
		b.Config.Guard = guard(t, names)
		_, err := b.run(order("GET", "https://crm.lan/", ""), `{"id":"1"}`)
		if err == nil {
			t.Fatal("it was reached")
		}
		said = append(said, err.Error())
	}
	if said[0] != said[1] {
		t.Errorf("an unknown name: %q, one inside: %q", said[0], said[1])
	}
}

func TestAnswers(t *testing.T) {
	status := func(code int, kind, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(code)
			_, _ = io.WriteString(w, body)
		}
	}
	for _, tt := range []struct {
		name   string
		answer http.HandlerFunc
		want   string
		err    string
	}{
		{"JSON", answers("application/problem+json; charset=utf-8", "{\n  \"a\": \"<b>\"\n}"), `{"status":200,"body":{"a":"<b>"}}`, ""},
		{"broken JSON", answers("application/json", `{"a":`), `{"status":200,"body":"{\"a\":"}`, ""},
		{"text", answers("text/plain", "grüß\xff"), "{\"status\":200,\"body\":\"grüß\ufffd\"}", ""},
		{"nothing", status(204, "", ""), `{"status":204}`, ""},
		{"an image", answers("image/png", "\x89PNG"), "", "the service answered with what is no text (image/png)"},
		{"bytes as text", answers("text/plain", "a\x00b"), "", "the service answered with what is no text"},
		{"an error", status(404, "application/json", `{"error": "no such order"}`), "", `the service answered with status 404 {"error": "no such order"}`},
		{"an error with a secret", status(500, "text/plain", "at "+secret), "", "the service answered with status 500 at (secret)"},
	} {
		base, _ := service(t, tt.answer)
		result, err := newBench(t).run(order("GET", base, `,"headers":{"K":"{{secret.KEY}}"}`), `{"id":"1"}`)
		if result != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.HasPrefix(err.Error(), tt.err) {
			t.Errorf("%s: %s, %v", tt.name, result, err)
		}
	}
}

func TestLongAnswers(t *testing.T) {
	for _, tt := range []struct{ kind, body string }{
		{"text/plain", strings.Repeat("x", 2<<20)}, {"text/plain", strings.Repeat("\"", 1<<20)}, {"text/plain", strings.Repeat("é", 20_000)},
		{"application/json", `"` + strings.Repeat("x", 1<<20) + `"`}, {"application/json", `[` + strings.Repeat("1,", 20_000) + `1]`},
	} {
		base, _ := service(t, answers(tt.kind, tt.body))
		result, err := newBench(t).run(order("GET", base, ""), `{"id":"1"}`)
		var a struct {
			Body      string
			Truncated bool
		}
		if err != nil || len(result) > MaxResult || json.Unmarshal([]byte(result), &a) != nil || !a.Truncated || len(a.Body) < 2000 {
			t.Errorf("%s of %d: %d bytes, %v, %v", tt.kind, len(tt.body), len(result), a.Truncated, err)
		}
	}
}

func TestRetries(t *testing.T) {
	for _, tt := range []struct {
		method, more string
		fails, code  int
		want         int // requests
		ok           bool
	}{
		{"GET", "", 1, 503, 1, false},
		{"GET", `,"retries":2`, 2, 503, 3, true},
		{"GET", `,"retries":2`, 9, 502, 3, false},
		{"PUT", `,"retries":1`, 1, 429, 2, true},
		{"GET", `,"retries":2`, 1, 500, 1, false},
		{"GET", `,"retries":2`, 1, 404, 1, false},
		{"POST", `,"retries":2,"idempotency_header":"Idempotency-Key"`, 2, 504, 3, true},
		{"POST", `,"retries":2,"idempotency_header":"Idempotency-Key"`, 1, 0, 2, true}, // the connection breaks
	} {
		var mu sync.Mutex
		n := 0
		base, got := service(t, func(w http.ResponseWriter, _ *http.Request) {
			mu.Lock()
			n++
			failing := n <= tt.fails
			mu.Unlock()
			switch {
			case failing && tt.code == 0:
				panic(http.ErrAbortHandler)
			case failing:
				w.WriteHeader(tt.code)
			}
		})
		result, err := newBench(t).run(order(tt.method, base, tt.more), `{"id":"1"}`)
		all := got()
		if len(all) != tt.want || (err == nil) != tt.ok {
			t.Errorf("%+v: %d requests, %s, %v", tt, len(all), result, err)
		}
		for _, r := range all {
			if key := r.header.Get("Idempotency-Key"); key != all[0].header.Get("Idempotency-Key") || (key == "") != (tt.method != "POST") {
				t.Errorf("%+v: keys %q", tt, key)
			}
		}
	}
	// What asks for a long wait is not waited for.
	base, got := service(t, func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Retry-After", "60"); w.WriteHeader(503) })
	if _, err := newBench(t).run(order("GET", base, `,"retries":2`), `{"id":"1"}`); err == nil || len(got()) != 1 {
		t.Errorf("%d requests, %v", len(got()), err)
	}
}

func TestServiceThatHangs(t *testing.T) {
	stop := make(chan struct{})
	base, _ := service(t, func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-stop:
		case <-r.Context().Done():
		}
	})
	t.Cleanup(func() { close(stop) })
	_, err := newBench(t).run(order("GET", base, `,"timeout_ms":100,"retries":2`), `{"id":"1"}`)
	if err == nil || err.Error() != "the service did not answer in time" {
		t.Error(err)
	}
	f := newBench(t).open(order("GET", base, "")).Functions[0]
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("interrupted"))
	if _, err := f.Run(ctx, json.RawMessage(`{"id":"1"}`)); err == nil || err.Error() != "the request was given up" {
		t.Error(err)
	}
	if f.Timeout != 8*time.Second || f.Meter != Free || !f.Cancel {
		t.Errorf("%+v", f)
	}
}

// TestTraceOfRequests: a request belongs to the trace of its conversation, unless the
// function says otherwise.
func TestTraceOfRequests(t *testing.T) {
	const ours = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	base, got := service(t, answers("text/plain", "ok"))
	for _, tt := range []struct{ trace, more, want string }{{"", "", ""}, {ours, "", ours}, {ours, `,"headers":{"traceparent":"theirs"}`, "theirs"}} {
		b := newBench(t)
		b.who.Trace = tt.trace
		if _, err := b.run(order("GET", base+"/o", tt.more), `{"id":1}`); err != nil {
			t.Fatal(err)
		}
		all := got()
		if h := all[len(all)-1].header.Values("Traceparent"); strings.Join(h, ",") != tt.want {
			t.Errorf("of %+v came %q", tt, h)
		}
	}
}
