package loopbacktest

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// stallWait is how long a fake must say nothing to count as stalled.
const stallWait = 50 * time.Millisecond

// TestFaults has a fake do wrong what a Fault can, after so many messages. play starts it with
// the fault, makes it send at least two messages more, and returns the client's connection.
// failed is the close code after a Fail.
func TestFaults(t *testing.T, after, failed int, play func(t *testing.T, f Fault) *websocket.Conn) {
	for _, f := range []Fault{
		{Then: Cut}, {AfterBytes: 50}, {Then: Stall}, {Then: Unknown}, {Then: Invalid}, {Then: Nulls}, {Then: Huge},
		{Then: Close, Code: websocket.CloseServiceRestart, Reason: "restart"}, {Then: Fail},
	} {
		f.AfterMessages = after
		got, err := messages(play(t, f), after, f.Then == Stall)
		var end *websocket.CloseError
		var timeout net.Error
		isEnd, n := errors.As(err, &end), len(got)
		ok := false
		switch f.Then {
		case Nothing: // but the bytes are counted
			ok = err != nil && (!isEnd || end.Code == websocket.CloseAbnormalClosure)
		case Cut:
			ok = n == after && err != nil && (!isEnd || end.Code == websocket.CloseAbnormalClosure)
		case Stall:
			ok = n == after && errors.As(err, &timeout) && timeout.Timeout()
		case Close:
			ok = n == after && isEnd && end.Code == f.Code && end.Text == f.Reason
		case Fail:
			ok = n == after+1 && isEnd && end.Code == failed
		default:
			ok = n == after+2 && json.Valid(got[after]) == (f.Then != Invalid) && (len(got[after]) > hugeSize) == (f.Then == Huge)
		}
		if !ok {
			t.Errorf("%+v: %v after %d messages, the last %.200q", f, err, n, got[max(0, n-1):])
		}
	}
}

// messages reads two messages more than after, or to the end. A fake that stalls is given less time for them.
func messages(conn *websocket.Conn, after int, stalls bool) (list [][]byte, err error) {
	for len(list) < after+2 && err == nil {
		wait := replayWait
		if stalls && len(list) == after {
			wait = stallWait
		}
		_ = conn.SetReadDeadline(time.Now().Add(wait))
		var data []byte
		if _, data, err = conn.ReadMessage(); err == nil {
			list = append(list, data)
		}
	}
	return list, err
}

// NothingIsLeft checks that use, which starts and closes a fake, leaves no goroutine.
func NothingIsLeft(t testing.TB, use func()) {
	t.Helper()
	http.DefaultClient.CloseIdleConnections()
	before, after := runtime.NumGoroutine(), 0
	use()
	http.DefaultClient.CloseIdleConnections()
	for range 1000 {
		if after = runtime.NumGoroutine(); after <= before+1 {
			return
		}
		<-time.After(time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", after, before)
}

// TestNothingIsLeft checks that a fake, used by n clients of whom every third goes away, leaves nothing when it is closed: no
// goroutine, no socket, nothing that is busy. use returns what its client closes.
func TestNothingIsLeft[S Fake, C any](t *testing.T, n int, start func(C) (S, error), script C, use func(s S, i int) io.Closer) (fake S) {
	NothingIsLeft(t, func() {
		var err error
		if fake, err = start(script); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			client := use(fake, i)
			defer client.Close()
			if i%3 == 0 {
				client.Close()
			}
		}
		s := fake.Loopback()
		s.Close()
		s.Close()
		if b := s.Books(); b.Open != 0 || s.Busy() != 0 || b.Opened > 0 && (b.Opened != n || b.OpenTime == 0) {
			t.Errorf("%+v, %d busy", b, s.Busy())
		}
	})
	return fake
}

// Handshake is one that a fake refuses.
type Handshake struct {
	path   string
	header http.Header
	status int
	says   string
	fault  []Fault
}

// Refuses is a handshake that is refused with a status, for a fault or for the mistake that says names; "": there is none.
func Refuses(path string, header http.Header, status int, says string, fault ...Fault) Handshake {
	return Handshake{path, header, status, says, fault}
}

// TestHandshakesAreRefused checks that fakes refuse handshakes, in a body that is the engine's, and keep the key for themselves.
func TestHandshakesAreRefused[S Fake](t *testing.T, start func([]Fault) (S, error), isOurs func(*http.Response) bool, list []Handshake) {
	for _, h := range list {
		fake, err := start(h.fault)
		if err != nil {
			t.Fatal(err)
		}
		s, want := fake.Loopback(), http.Header{}
		resp := Refused(t, s, h.path, h.header)
		s.Close()
		for _, f := range h.fault {
			f.Headers(want)
		}
		violations := strings.Join(s.Violations(), "\n")
		if resp.StatusCode != h.status || !strings.Contains(violations, h.says) || h.says == "" && violations != "" || strings.Contains(violations, s.Key) ||
			resp.Header.Get("Retry-After") != want.Get("Retry-After") || !isOurs(resp) {
			t.Errorf("%s: %d, %v, %q", h.path, resp.StatusCode, resp.Header, violations)
		}
	}
}

// Unavailable are the faults of a server for HandshakesFail.
func Unavailable() []Fault {
	return []Fault{{Connections: 2, Status: 429, RetryAfter: 1500 * time.Millisecond}, {Connections: 1, Status: 503}}
}

// HandshakesFail checks that a server that is Unavailable, and has room for one session, refuses handshakes in a body that is
// the engine's, and all sessions after the one that open opens: with 429, unless full checks it.
func HandshakesFail(t testing.TB, fake Fake, path string, header http.Header, isOurs func(*http.Response) bool, open, full func()) {
	t.Helper()
	s := fake.Loopback()
	refused := func(want int) {
		t.Helper()
		resp := Refused(t, s, path, header)
		if after := resp.Header.Get("Retry-After"); resp.StatusCode != want || s.Busy() == 0 && want == 429 && after != "2" || !isOurs(resp) {
			t.Errorf("%d, %v, want %d", resp.StatusCode, resp.Header, want)
		}
	}
	refused(429)
	refused(429)
	refused(503)
	open()
	sockets := 2
	if full == nil {
		sockets, full = 1, func() { refused(429) }
	}
	full()
	if b := s.Books(); b.Attempts != 5 || b.Opened != sockets || sockets == 1 && b.Open != 1 || s.Busy() != 1 {
		t.Errorf("%+v, %d busy", b, s.Busy())
	}
}

// TestReplays replays the exchanges over WebSocket in testdata, each with a fake that has the script of its name.
func TestReplays[S Fake, C any](t *testing.T, start func(testing.TB, C) S, header func(key string) http.Header, audio func(bytes, level int) []byte, scripts map[string]C) {
	for name, script := range scripts {
		t.Run(name, func(t *testing.T) {
			s := start(t, script).Loopback()
			Replay(t, "testdata/"+name+".jsonl", s.URL, header(s.Key), audio)
		})
	}
}
