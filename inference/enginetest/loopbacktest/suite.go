package loopbacktest

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"runtime"
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
func TestNothingIsLeft[S Fake, C any](t *testing.T, n int, start func(C) (S, error), script C, use func(s S, i int) io.Closer) {
	NothingIsLeft(t, func() {
		fake, err := start(script)
		if err != nil {
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
}
