package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"parley/api"
	"parley/api/apitest"
	"parley/api/mcp"
	"parley/api/status"
	"parley/api/tts"
	"parley/billing"
	"parley/inference"
	"parley/inference/enginetest"
)

// keys are one key and its tickets.
var keys = apitest.Keys{
	"sk_a":  {Account: "a", Key: "k"},
	"wst_a": {Account: "a", Key: "k", Ticket: &api.Ticket{ID: "t"}},
	"wst_s": {Account: "a", Key: "k", Ticket: &api.Ticket{ID: "s", Agent: "ag"}},
}

// ledger is Books that write down what they are told.
type ledger struct {
	refuse error

	mu   sync.Mutex
	jobs []*job
	more chan *job // what begins, when somebody wants to know
}

type job struct {
	mu       sync.Mutex
	account  string
	kind     billing.Kind
	expected int64
	used     int64
	ended    int
	err      error
	ctx      context.Context
	stop     context.CancelCauseFunc
}

func (l *ledger) Begin(ctx context.Context, p api.Principal, asked api.Job) (api.Work, error) {
	if l.refuse != nil {
		return nil, l.refuse
	}
	j := &job{account: p.Account, kind: asked.Kind, expected: asked.Expected}
	j.ctx, j.stop = context.WithCancelCause(ctx)
	l.mu.Lock()
	l.jobs = append(l.jobs, j)
	l.mu.Unlock()
	if l.more != nil {
		l.more <- j
	}
	return j, nil
}

func (j *job) Context() context.Context { return j.ctx }

func (j *job) Used(n int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.used += n
}

func (j *job) End(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.ended == 0 { // only the first counts
		j.ended, j.err = 1, err
		j.stop(context.Canceled)
	}
}

// bench is an endpoint with an engine and books that do as the test says.
type bench struct {
	http   *httptest.Server
	server *status.Server
	voice  *enginetest.FakeTTS
	books  *ledger
}

// start returns a bench; change may set its parts before the first request.
func start(t *testing.T, change func(*bench)) *bench {
	b := &bench{voice: enginetest.NewFakeTTS(), books: &ledger{}}
	b.voice.FirstAudio = 0
	b.server = &status.Server{
		Version: "1.2.3",
		Engines: []status.Engine{{Kind: status.TTS, Info: b.voice.Info}, {Kind: status.LLM, Info: func() inference.Info {
			return inference.Info{Name: "rules", Description: "<rules> & more", Scripted: true}
		}}},
		Calls: func() int { return 0 }, Load: func() float64 { return 0 }, Counts: new(api.Counts),
	}
	if change != nil {
		change(b)
	}
	a := api.New(keys)
	status.Mount(a, b.server)
	mcp.Mount(a, &mcp.Tools{Server: b.server, Voice: tts.New(b.voice), Books: b.books})
	b.http = httptest.NewServer(apitest.Judged(t, a, a.Handler(api.Options{Counts: b.server.Counts})))
	t.Cleanup(b.http.Close)
	return b
}

// response is a JSON-RPC answer.
type response struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  *result         `json:"result"`
	Error   *struct {
		Code    int
		Message string
	}
}

// result is as much of any result as the tests look at.
type result struct {
	ProtocolVersion string
	Capabilities    json.RawMessage
	Tools           []tool
	Content         []content
	Structured      json.RawMessage `json:"structuredContent"`
	IsError         bool
}

type tool struct {
	Name        string
	InputSchema struct {
		Type       string
		Required   []string
		Properties map[string]map[string]any
	}
}

type content struct {
	Type, Text, MIMEType string
	Data                 []byte
}

// post sends one body as a program without a library would; header is names and
// values.
func (b *bench) post(t *testing.T, body string, header ...string) (int, []byte, http.Header) {
	t.Helper()
	r, err := http.NewRequest("POST", b.http.URL+"/mcp", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer sk_a")
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		switch {
		case header[i] == "Host":
			r.Host = header[i+1]
		case header[i+1] == "":
			r.Header.Del(header[i])
		default:
			r.Header.Set(header[i], header[i+1])
		}
	}
	res, err := b.http.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, answer, res.Header
}

// call calls a tool.
func (b *bench) call(t *testing.T, name, arguments string) *result {
	t.Helper()
	body := `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"` + name + `","arguments":` + arguments + `}}`
	code, answer, _ := b.post(t, body)
	got := decode(t, answer)
	if code != 200 || string(got.ID) != "7" || got.Error != nil || got.Result == nil {
		t.Fatalf("%s%s: %d %s", name, arguments, code, answer)
	}
	return got.Result
}

func decode(t *testing.T, answer []byte) response {
	t.Helper()
	var got response
	if err := json.Unmarshal(answer, &got); err != nil || got.Version != "2.0" {
		t.Fatalf("this is no JSON-RPC answer: %s", answer)
	}
	return got
}

// get is what a public route answers.
func (b *bench) get(t *testing.T, path string) []byte {
	t.Helper()
	res, err := b.http.Client().Get(b.http.URL + path)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSpace(body)
}
