package wstts_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"parley/api"
	"parley/api/apitest"
	"parley/api/socket"
	"parley/api/tts"
	"parley/api/wstts"
	"parley/billing"
	"parley/inference"
	"parley/inference/enginetest"
	"parley/store"
)

var keys = apitest.Keys{"sk_1": {Account: "acc_1", Key: "key_1"}}

// books let everything start, or refuse, and remember it. limit bounds the jobs of
// an account at once.
type books struct {
	limit int
	slow  time.Duration // to let a job start

	mu     sync.Mutex
	refuse error
	admit  error
	live   map[string]int
	jobs   []*job
	cancel context.CancelCauseFunc // of the latest job
}

// job is one that was let start.
type job struct {
	b        *books
	ctx      context.Context
	account  string
	expected int64
	used     int64
	ended    bool
	err      error
}

func (b *books) Begin(ctx context.Context, p api.Principal, asked api.Job) (api.Work, error) {
	time.Sleep(b.slow)
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.refuse != nil:
		return nil, b.refuse
	case b.limit > 0 && b.live[p.Account] >= b.limit:
		return nil, store.ErrConcurrency
	case asked.Kind != billing.TTS:
		return nil, errors.New("another kind of work")
	}
	if b.live == nil {
		b.live = map[string]int{}
	}
	b.live[p.Account]++
	j := &job{b: b, account: p.Account, expected: asked.Expected}
	j.ctx, b.cancel = context.WithCancelCause(ctx)
	b.jobs = append(b.jobs, j)
	return j, nil
}

// set makes the books refuse what starts from now on; nil: nothing.
func (b *books) set(refuse error) { b.mu.Lock(); defer b.mu.Unlock(); b.refuse = refuse }

// stop ends the latest job.
func (b *books) stop(cause error) { b.mu.Lock(); defer b.mu.Unlock(); b.cancel(cause) }

func (b *books) mayStart(context.Context, api.Principal) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.admit
}

// all are the jobs so far.
func (b *books) all() []job {
	b.mu.Lock()
	defer b.mu.Unlock()
	var list []job
	for _, j := range b.jobs {
		list = append(list, *j)
	}
	return list
}

func (j *job) Context() context.Context { return j.ctx }
func (j *job) Used(n int64)             { j.b.mu.Lock(); defer j.b.mu.Unlock(); j.used += n }
func (j *job) End(err error) {
	j.b.mu.Lock()
	defer j.b.mu.Unlock()
	j.b.live[j.account]--
	j.ended, j.err = true, err
}

// server serves sockets until the end of the test.
type server struct {
	*apitest.Server
	books *books
	set   *socket.Set
}

func newServer(t *testing.T, where apitest.Place, engine inference.TTS) *server {
	t.Helper()
	s := &server{books: &books{}, set: socket.NewSet()}
	routes := api.New(keys)
	wstts.Mount(routes, &wstts.Handler{Speech: tts.New(engine), Books: s.books, Sockets: s.set, Admit: s.books.mayStart, Log: slog.New(slog.DiscardHandler)})
	s.Server = apitest.Serve(t, where, routes.Handler(api.Options{}))
	return s
}

// quick is an engine that takes no time: a second of sound for each sentence.
func quick() *enginetest.FakeTTS {
	engine := enginetest.NewFakeTTS()
	engine.FirstAudio = 0
	return engine
}

// client is one without any wits of its own.
type client struct {
	t *testing.T
	*websocket.Conn
	documented *apitest.Messages
}

func (s *server) connect(t *testing.T, path string) *client {
	t.Helper()
	sep := "?"
	if strings.Contains(path, "?") {
		sep = "&"
	}
	return &client{t, s.Connect(t, path+sep+"api_key=sk_1", nil), apitest.OperationMessages(t, "hearSpeech")}
}

func (c *client) say(format string, args ...any) {
	c.t.Helper()
	if err := c.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, format, args...)); err != nil {
		c.t.Fatal(err)
	}
}

// ask asks for a text to be spoken.
func (c *client) ask(text string) {
	c.t.Helper()
	b, _ := json.Marshal(text)
	c.say(`{"text":%s,"voice":"F1","language":"en","visemes":true,"speed":1,"steps":24,"version":"versa-1.0"}`, b)
}

// message is one of the server's: Kind is audio, visemes, timing, error, eos (the
// JSON form) or EOS.
type message struct {
	Kind    string
	audio   []byte
	visemes []tts.Viseme

	Type    string
	Message string
	Timing  struct {
		Queue float64 `json:"queue_ms"`
		Model float64 `json:"model_ms"`
		Audio float64 `json:"audio_ms"`
		Chunk int
	}
	TTFB *float64 `json:"ttfb_ms"`
	Data struct {
		Code, Message, Detail string
		Retryable             *bool
	}
}

// next is the next message, or how the connection ended.
func (c *client) next() (m message, err error) {
	kind, b, err := c.ReadMessage()
	switch {
	case err != nil:
		return m, err
	case kind == websocket.BinaryMessage:
		return message{Kind: "audio", audio: b}, nil
	case string(b) == "EOS":
		return message{Kind: "EOS"}, nil
	}
	c.documented.Check(b)
	switch {
	case b[0] == '[':
		m.Kind, err = "visemes", json.Unmarshal(b, &m.visemes)
	default:
		err = json.Unmarshal(b, &m)
		m.Kind = m.Type
	}
	if err != nil {
		c.t.Errorf("message %s: %v", b, err)
		err = nil
	}
	return m, err
}

// answer reads one job's messages up to its end.
func (c *client) answer() (list []message) {
	c.t.Helper()
	for {
		m, err := c.next()
		if err != nil {
			c.t.Fatalf("after %d messages: %v", len(list), err)
		}
		list = append(list, m)
		if m.Kind == "EOS" || m.Kind == "error" {
			return list
		}
	}
}

// wantEOS reads a job that goes well, and gives its audio.
func (c *client) wantEOS() (audio []byte) {
	c.t.Helper()
	list := c.answer()
	if last := list[len(list)-1]; last.Kind != "EOS" {
		c.t.Fatalf("it ended with %+v", last)
	}
	for _, m := range list {
		audio = append(audio, m.audio...)
	}
	return audio
}

// wantError reads a job that goes wrong, and says how many chunks came before.
func (c *client) wantError(code string) (chunks int, m message) {
	c.t.Helper()
	list := c.answer()
	m = list[len(list)-1]
	if m.Data.Code != code || m.Data.Retryable == nil || m.Data.Message == "" || m.Message != m.Data.Message {
		c.t.Fatalf("it ended with %+v, want %s", m, code)
	}
	for _, m := range list {
		if m.Kind == "audio" {
			chunks++
		}
	}
	return chunks, m
}

func (c *client) wantClose(code int) {
	c.t.Helper()
	for {
		if _, err := c.next(); err != nil {
			if e, ok := errors.AsType[*websocket.CloseError](err); !ok || e.Code != code || code != 1000 && e.Text == "" {
				c.t.Fatalf("the connection ended with %v, want code %d", err, code)
			}
			return
		}
	}
}

func kinds(list []message) (k []string) {
	for _, m := range list {
		k = append(k, m.Kind)
	}
	return k
}

func count(list []message, kind string) int {
	return len(slices.DeleteFunc(kinds(list), func(k string) bool { return k != kind }))
}
