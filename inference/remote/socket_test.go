package remote_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"parley/inference"
	"parley/inference/remote"
	"parley/media/isolate"
	"parley/media/isolate/isolatetest"
)

const secret = "key-very-secret-0123456789"

// socketServer serves each connection with f.
func socketServer(t *testing.T, f func(*websocket.Conn)) *remote.Client {
	t.Helper()
	var upgrader websocket.Upgrader
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := upgrader.Upgrade(w, r, http.Header{"X-Request-Id": {"7"}})
		if err != nil {
			return
		}
		defer conn.Close()
		f(conn)
	}))
	t.Cleanup(s.Close)
	c, err := remote.NewClient(remote.Config{Engine: "vendor", BaseURL: s.URL, Key: secret, Headers: map[string]string{"X-Key": secret}, Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func echo(c *websocket.Conn) {
	for {
		kind, data, err := c.ReadMessage()
		if err != nil || c.WriteMessage(kind, data) != nil {
			return
		}
	}
}

func dial(t *testing.T, c *remote.Client) *remote.Socket {
	t.Helper()
	s, err := c.Dial(t.Context(), "/speech?model=m")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func TestSocket(t *testing.T) {
	s := dial(t, socketServer(t, echo))
	if s.Header.Get("X-Request-Id") != "7" {
		t.Errorf("header %v", s.Header)
	}
	s.Send([]byte("text"))
	s.SendBinary([]byte{1, 2})
	for _, want := range []struct {
		text   string
		binary bool
	}{{"text", false}, {"\x01\x02", true}} {
		if data, binary, err := s.Read(); string(data) != want.text || binary != want.binary || err != nil {
			t.Errorf("%q, binary %v, %v", data, binary, err)
		}
	}
	s.Close()
	if _, _, err := s.Read(); err == nil {
		t.Error("a message after Close")
	}
	s.Send([]byte("late")) // harmless
}

// TestClosedByTheVendor: what a close frame says is a fault, of which only the vendor's own code is shown.
func TestClosedByTheVendor(t *testing.T) {
	for _, tt := range []struct {
		code   int
		reason string
		want   inference.Fault // 0: io.EOF
		shown  string
	}{
		{1000, "", 0, ""},
		{1011, "NET-0001: no audio from " + secret, inference.ErrFailed, "closed with code 1011 NET-0001"},
		{1008, "You said hello", inference.ErrRefused, "closed with code 1008"},
		{1007, "API key not valid.", inference.ErrRefused, "closed with code 1007"},
		{1008, "Too many concurrent sessions", inference.ErrUnavailable, "closed with code 1008"},
		{1012, "", inference.ErrFailed, "closed with code 1012"},
	} {
		s := dial(t, socketServer(t, func(c *websocket.Conn) {
			c.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(tt.code, tt.reason), time.Now().Add(time.Second))
			c.ReadMessage()
		}))
		_, _, err := s.Read()
		if tt.want == 0 {
			if err != io.EOF {
				t.Errorf("%d: %v", tt.code, err)
			}
			continue
		}
		if inference.FaultOf(err) != tt.want || !strings.HasSuffix(err.Error(), tt.shown) {
			t.Errorf("%d %s: %v", tt.code, tt.reason, err)
		}
	}
}

// TestLeave: what a vendor says before its close frame is read; one that has none to give is left after a while.
func TestLeave(t *testing.T) {
	ended := make(chan error, 1)
	s := dial(t, socketServer(t, func(c *websocket.Conn) {
		answer := c.CloseHandler()
		c.SetCloseHandler(func(code int, text string) error {
			c.WriteMessage(websocket.TextMessage, []byte("goodbye"))
			return answer(code, text)
		})
		_, _, err := c.ReadMessage()
		ended <- err
	}))
	s.Leave()
	if data, _, err := s.Read(); string(data) != "goodbye" || err != nil {
		t.Errorf("%q, %v", data, err)
	}
	if _, _, err := s.Read(); err == nil {
		t.Error("a message after the end")
	}
	if err := <-ended; !websocket.IsCloseError(err, websocket.CloseNormalClosure) {
		t.Errorf("the vendor met %v", err)
	}

	deaf := make(chan struct{})
	defer close(deaf)
	s = dial(t, socketServer(t, func(*websocket.Conn) { <-deaf }))
	s.Leave()
	if _, _, err := s.Read(); err == nil {
		t.Error("a message of a vendor that says nothing")
	}
}

// TestLongMessage: a message of more than 1 MiB is a fault.
func TestLongMessage(t *testing.T) {
	s := dial(t, socketServer(t, func(c *websocket.Conn) {
		c.WriteMessage(websocket.TextMessage, make([]byte, 2<<20))
		c.ReadMessage()
	}))
	if _, _, err := s.Read(); inference.FaultOf(err) != inference.ErrFailed {
		t.Errorf("%v", err)
	}
}

// TestSlowVendor: one that takes nothing fails the socket, and Send never waits.
func TestSlowVendor(t *testing.T) {
	leave := make(chan struct{})
	defer close(leave)
	s := dial(t, socketServer(t, func(*websocket.Conn) { <-leave }))
	for range 2000 {
		s.SendBinary(make([]byte, 64<<10))
	}
	if _, _, err := s.Read(); inference.FaultOf(err) != inference.ErrFailed {
		t.Errorf("%v", err)
	}
}

func TestCancelledHandshake(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	left := errors.New("left")
	cancel(left)
	if _, err := socketServer(t, echo).Dial(ctx, "/"); err != left {
		t.Errorf("%v", err)
	}
}

// TestPanicEndsItsSocket: its reader learns of it; the socket beside it goes on.
func TestPanicEndsItsSocket(t *testing.T) {
	isolatetest.Each(t, func(t *testing.T, site isolatetest.Site) {
		c := socketServer(t, echo)
		other := dial(t, c)
		other.Send([]byte("before"))
		other.Read()
		isolatetest.Inject(t, site.Name)
		broken := dial(t, c)
		broken.Send([]byte("lost"))
		if _, _, err := broken.Read(); !errors.Is(err, isolate.Internal) {
			t.Errorf("%v", err)
		}
		other.Send([]byte("still here"))
		if data, _, err := other.Read(); string(data) != "still here" || err != nil {
			t.Errorf("%q, %v", data, err)
		}
	})
}
