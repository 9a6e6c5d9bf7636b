package stt_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"parley/api"
	"parley/api/apitest"
	"parley/api/socket"
	"parley/api/stt"
	"parley/billing"
	"parley/inference"
	"parley/inference/worker/workertest"
	"parley/media/vad"
)

var program string

func TestMain(m *testing.M) { workertest.Main(m, &program) }

const goodKey = "sk_good"

var keys = apitest.Keys{goodKey: {Account: "acc_1", Key: "key_1"}}

// books remember what was charged.
type books struct {
	refuse error

	mu    sync.Mutex
	works []*work
}

// work is an entry of the books.
type work struct {
	ctx      context.Context
	cancel   context.CancelCauseFunc
	kind     billing.Kind
	expected int64

	mu    sync.Mutex
	used  int64
	ended bool
	err   error
	over  chan struct{} // closed by End
}

func (b *books) Begin(ctx context.Context, p api.Principal, j api.Job) (api.Work, error) {
	if b.refuse != nil {
		return nil, b.refuse
	}
	if p.Account != "acc_1" {
		return nil, errors.New("a stranger's work")
	}
	w := &work{kind: j.Kind, expected: j.Expected, over: make(chan struct{})}
	w.ctx, w.cancel = context.WithCancelCause(ctx)
	b.mu.Lock()
	b.works = append(b.works, w)
	b.mu.Unlock()
	return w, nil
}

func (w *work) Context() context.Context { return w.ctx }

func (w *work) Used(n int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.used += n
}

func (w *work) End(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.ended {
		w.ended, w.err = true, err
		w.cancel(context.Canceled)
		close(w.over)
	}
}

// begun is how many works have begun.
func (b *books) begun() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.works)
}

// only is the one work there was.
func (b *books) only(t *testing.T) *work {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.works) != 1 {
		t.Fatalf("%d works began", len(b.works))
	}
	return b.works[0]
}

// settled waits for the only work's end and returns what was charged.
func (b *books) settled(t *testing.T) (used int64, err error) {
	t.Helper()
	w := b.only(t)
	<-w.over
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.kind != billing.STT {
		t.Errorf("charged as %v", w.kind)
	}
	return w.used, w.err
}

// server serves the routes until the end of the test.
type server struct {
	*apitest.Server
	books *books
	set   *socket.Set
}

func newServer(t *testing.T, asr inference.ASR) *server {
	return serve(t, asr, apitest.OverNetwork)
}
func newMemoryServer(t *testing.T, asr inference.ASR) *server {
	return serve(t, asr, apitest.InMemory)
}

func serve(t *testing.T, asr inference.ASR, where apitest.Place) *server {
	t.Helper()
	s := &server{books: &books{}, set: socket.NewSet()}
	routes := api.New(keys)
	stt.Mount(routes, stt.Options{ASR: asr, VAD: vad.Spectral, Books: s.books, Sockets: s.set})
	s.Server = apitest.Serve(t, where, apitest.Judged(t, routes, routes.Handler(api.Options{})))
	return s
}

// peer is a client of the socket.
type peer struct {
	t *testing.T
	*websocket.Conn
	documented *apitest.Messages
}

// msg is a message of the server.
type msg struct {
	Type, Data, Code, Detail string
	IsFinal                  *bool
	Retryable                *bool
}

func (m msg) String() string {
	final := m.IsFinal != nil && *m.IsFinal
	return fmt.Sprintf("%s %q final=%v %s", m.Type, m.Data, final, m.Code)
}

func (s *server) connect(t *testing.T) *peer {
	t.Helper()
	return &peer{t, s.Connect(t, stt.LivePath, http.Header{"X-Api-Key": {goodKey}}), apitest.OperationMessages(t, "readText")}
}

func (p *peer) say(text string) {
	p.t.Helper()
	if err := p.WriteMessage(websocket.TextMessage, []byte(text)); err != nil {
		p.t.Fatal(err)
	}
}

// speak sends audio in messages of 20 ms.
func (p *peer) speak(samples []int16) {
	p.t.Helper()
	for b := pcm(samples); len(b) > 0; {
		n := min(640, len(b))
		p.sound(b[:n])
		b = b[n:]
	}
}

func (p *peer) sound(b []byte) {
	p.t.Helper()
	if err := p.WriteMessage(websocket.BinaryMessage, b); err != nil {
		p.t.Fatal(err)
	}
}

// next is the next message.
func (p *peer) next() msg {
	p.t.Helper()
	kind, b, err := p.ReadMessage()
	if err != nil {
		p.t.Fatal(err)
	}
	p.documented.Check(b)
	var m msg
	if err := json.Unmarshal(b, &m); err != nil || kind != websocket.TextMessage {
		p.t.Fatalf("message %q: %v", b, err)
	}
	switch m.Type {
	case "transcript":
		if m.IsFinal == nil {
			p.t.Errorf("a transcript without isFinal: %s", b)
		}
	case "error":
		if m.Retryable == nil || m.Code == "" || m.Data == "" {
			p.t.Errorf("not all of an error: %s", b)
		}
	default:
		p.t.Errorf("message %s", b)
	}
	return m
}

// want fails unless the next message is a transcript.
func (p *peer) want(text string, final bool) {
	p.t.Helper()
	if m := p.next(); m.Type != "transcript" || m.Data != text || *m.IsFinal != final {
		p.t.Fatalf("got %v, want %q final=%v", m, text, final)
	}
}

// wantError fails unless the next message is an error with the code.
func (p *peer) wantError(code string, retryable bool) msg {
	p.t.Helper()
	m := p.next()
	if m.Type != "error" || m.Code != code || *m.Retryable != retryable {
		p.t.Fatalf("got %v, want %s", m, code)
	}
	return m
}

// wantClose fails unless the socket is closed now.
func (p *peer) wantClose(code int) (why string) {
	p.t.Helper()
	_, b, err := p.ReadMessage()
	c, ok := errors.AsType[*websocket.CloseError](err)
	if !ok || c.Code != code {
		p.t.Fatalf("got %s %v, want %d", b, err, code)
	}
	return c.Text
}

// nothing fails when the server has something else to say than that this message
// makes no sense.
func (p *peer) nothing() {
	p.t.Helper()
	p.say("nonsense")
	p.wantError("validation.invalid_request_format", false)
}

func pcm(samples []int16) []byte {
	b, _ := binary.Append(nil, binary.LittleEndian, samples) // memory
	return b
}

func silence(d time.Duration) []int16 { return make([]int16, 16*d.Milliseconds()) }

func concat(parts ...[]int16) (all []int16) {
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

const sentence = "what time does the train leave"

var spoken sync.Map // text -> []int16

// speech is text spoken by a synthetic caller at 16 kHz, without silence around
// it.
func speech(t testing.TB, text string) []int16 {
	t.Helper()
	if s, ok := spoken.Load(text); ok {
		return s.([]int16)
	}
	path := filepath.Join(t.TempDir(), "caller.wav")
	if out, err := exec.Command("flite", "-voice", "slt", "-t", text, "-o", path).CombinedOutput(); err != nil {
		t.Fatalf("flite makes the callers of this test; install it (apt install flite): %v %s", err, out)
	}
	raw := run(t, nil, "sox", "-D", path, "-t", "raw", "-r", "16000", "-e", "signed", "-b", "16", "-c", "1", "-",
		"silence", "1", "0.01", "0.5%", "reverse", "silence", "1", "0.01", "0.5%", "reverse")
	samples := make([]int16, len(raw)/2)
	_, _ = binary.Decode(raw, binary.LittleEndian, samples) // as long as needed
	spoken.Store(text, samples)
	return samples
}

// run runs a program and returns its output.
func run(t testing.TB, in []byte, name string, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Stdin = bytes.NewReader(in)
	var why bytes.Buffer
	cmd.Stderr = &why
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s converts the audio of this test; install it (apt install %s): %v %s", name, name, err, why.Bytes())
	}
	return out
}
