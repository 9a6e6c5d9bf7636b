package socket_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"parley/api"
	"parley/api/apitest"
	"parley/api/socket"
)

func TestMessagesGoBothWaysInOrder(t *testing.T) {
	var sock *socket.Socket
	ready := make(chan struct{})
	in := socket.Incoming{
		Text:   func(b []byte) { <-ready; sock.SendText(append([]byte("text "), b...)) },
		Binary: func(b []byte) { <-ready; sock.SendBinary(append([]byte("binary "), b...)) },
	}
	s := newServer(t, apitest.OverNetwork, in, func(ctx context.Context, k *socket.Socket) {
		sock = k
		close(ready)
		<-ctx.Done()
	})
	conn := s.connect(t)
	for _, m := range []struct {
		kind int
		text string
	}{{websocket.TextMessage, "a"}, {websocket.BinaryMessage, "b"}, {websocket.TextMessage, ""}, {websocket.TextMessage, strings.Repeat("x", socket.MaxText)}} {
		if err := conn.WriteMessage(m.kind, []byte(m.text)); err != nil {
			t.Fatal(err)
		}
		want := map[int]string{websocket.TextMessage: "text ", websocket.BinaryMessage: "binary "}[m.kind] + m.text
		if kind, b, err := conn.ReadMessage(); err != nil || kind != m.kind || string(b) != want {
			t.Fatalf("%d %.40q %v, want %.40q", kind, b, err, want)
		}
	}
	if s.set.Open() != 1 {
		t.Errorf("%d are open", s.set.Open())
	}
}

func TestTooLong(t *testing.T) {
	for _, c := range []struct {
		kind   int
		max    int64
		length int
		code   int // 0: it is taken
	}{
		{websocket.TextMessage, 0, socket.MaxText + 1, socket.TooBig},
		{websocket.TextMessage, 1 << 20, socket.MaxText + 1, socket.TooBig},
		{websocket.BinaryMessage, 0, socket.MaxText + 1, socket.TooBig},
		{websocket.BinaryMessage, 1 << 20, 1 << 20, 0},
		{websocket.BinaryMessage, 1 << 20, 1<<20 + 1, socket.TooBig},
	} {
		taken, cause := make(chan int, 1), make(chan error, 1)
		in := socket.Incoming{MaxBinary: c.max, Text: func(b []byte) { taken <- len(b) }, Binary: func(b []byte) { taken <- len(b) }}
		s := newServer(t, apitest.OverNetwork, in, func(ctx context.Context, _ *socket.Socket) {
			<-ctx.Done()
			cause <- context.Cause(ctx)
		})
		conn := s.connect(t)
		if err := conn.WriteMessage(c.kind, bytes.Repeat([]byte{'x'}, c.length)); err != nil {
			t.Fatal(err)
		}
		if c.code == 0 {
			if n := <-taken; n != c.length {
				t.Errorf("%d of %d bytes", n, c.length)
			}
			continue
		}
		wantClose(t, conn, c.code)
		if err := <-cause; err != socket.ErrTooLong || len(taken) > 0 {
			t.Errorf("%v, taken %d", err, len(taken))
		}
	}
}

func TestClose(t *testing.T) {
	long := strings.Repeat("ñ", 100) // 200 bytes
	for why, want := range map[string]string{"": "", "Goodbye.": "Goodbye.", long: strings.Repeat("ñ", 61)} {
		s := newServer(t, apitest.OverNetwork, socket.Incoming{}, func(ctx context.Context, k *socket.Socket) {
			k.SendText([]byte("last"))
			k.Close(socket.Policy, why)
			if k.SendText(nil) || k.Flush() || context.Cause(ctx) != socket.ErrClosed {
				t.Error("it goes on after the end")
			}
			k.Close(socket.Normal, "again")
		})
		conn := s.connect(t)
		if _, b, err := conn.ReadMessage(); err != nil || string(b) != "last" {
			t.Errorf("%q %v", b, err)
		}
		if got := wantClose(t, conn, socket.Policy); got != want {
			t.Errorf("reason %q, want %q", got, want)
		}
	}
}

// However a client goes, the work hears of it at once, and nothing is left.
func TestClientGoes(t *testing.T) {
	for name, leave := range map[string]func(*websocket.Conn){
		"says goodbye": func(c *websocket.Conn) {
			if err := c.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(4000, "bye")); err != nil {
				t.Error(err)
			}
			wantClose(t, c, 4000)
		},
		"says nothing in its goodbye": func(c *websocket.Conn) {
			if err := c.WriteMessage(websocket.CloseMessage, nil); err != nil {
				t.Error(err)
			}
			wantClose(t, c, websocket.CloseNoStatusReceived)
		},
		"hangs up": func(c *websocket.Conn) { c.Close() },
	} {
		cause := make(chan error)
		s := newServer(t, apitest.OverNetwork, socket.Incoming{}, func(ctx context.Context, k *socket.Socket) {
			<-k.Gone()
			cause <- context.Cause(ctx)
		})
		conn := s.connect(t)
		left := make(chan struct{})
		go func() { defer close(left); leave(conn) }()
		if err := <-cause; err != context.Canceled {
			t.Errorf("%s: %v", name, err)
		}
		<-left
		s.Close()
		s.Wait()
		if s.set.Open() != 0 {
			t.Errorf("%s: %d are open", name, s.set.Open())
		}
	}
}

// A socket that has ended gives its connection back though its work goes on, with or without a goodbye, and also where
// the client does not answer that.
func TestConnectionGoesBeforeTheWork(t *testing.T) {
	for name, tt := range map[string]struct {
		ends func(client *websocket.Conn, s *socket.Socket)
		code int // that the client reads; 0: none
		took time.Duration
		lost bool
	}{
		"the client goes": {func(c *websocket.Conn, _ *socket.Socket) {
			_ = c.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(1000, ""), time.Now().Add(time.Second))
		}, 1000, 0, false},
		"the client goes away": {func(c *websocket.Conn, _ *socket.Socket) {
			_ = c.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(1001, ""), time.Now().Add(time.Second))
		}, 1001, 0, true},
		"replaced": {func(_ *websocket.Conn, s *socket.Socket) { s.Replace(socket.Policy, "another one") }, 1008, 0, false},
		"replaced, and no answer": {func(c *websocket.Conn, s *socket.Socket) {
			c.SetCloseHandler(func(int, string) error { return nil })
			s.Replace(socket.Policy, "another one")
		}, 1008, time.Second, false},
		"dropped":  {func(_ *websocket.Conn, s *socket.Socket) { s.Drop(context.Canceled) }, 0, 0, false},
		"too slow": {func(_ *websocket.Conn, s *socket.Socket) { s.Drop(socket.ErrSlow) }, 0, 0, true},
		"broken":   {func(c *websocket.Conn, _ *socket.Socket) { c.NetConn().Close() }, 0, 0, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			sockets, over := make(chan *socket.Socket, 1), make(chan struct{})
			s := newServer(t, apitest.InMemory, socket.Incoming{}, func(_ context.Context, k *socket.Socket) { sockets <- k; <-over })
			defer close(over)
			conn := s.connect(t)
			k, began := <-sockets, time.Now()
			if k.Lost() {
				t.Errorf("%s: lost before it ends", name)
			}
			go tt.ends(conn, k)
			if tt.code != 0 {
				wantClose(t, conn, tt.code)
			}
			if _, err := io.Copy(io.Discard, conn.NetConn()); err != nil && tt.code != 0 {
				t.Errorf("%s: %v", name, err)
			}
			took := time.Since(began)
			synctest.Wait() // a client that has closed its end knows it before the socket does
			if took != tt.took || k.Lost() != tt.lost {
				t.Errorf("%s: the connection is closed after %v, want %v; lost: %t", name, took, tt.took, k.Lost())
			}
		})
	}
}

// The server pings every 20 s, and gives a client up that does not answer for 60.
func TestPings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan time.Duration, 1)
		s := newServer(t, apitest.InMemory, socket.Incoming{}, func(ctx context.Context, _ *socket.Socket) {
			began := time.Now()
			<-ctx.Done()
			ended <- time.Since(began)
		})
		conn := s.connect(t)
		began, pings, deaf := time.Now(), 0, false
		conn.SetPingHandler(func(text string) error {
			pings++
			if d := time.Since(began); d != time.Duration(pings)*20*time.Second {
				t.Errorf("ping %d after %v", pings, d)
			}
			if deaf = d10(began); deaf {
				return nil
			}
			return conn.WriteControl(websocket.PongMessage, []byte(text), time.Now().Add(time.Second))
		})
		_, _, _ = conn.ReadMessage() // until the server has had enough
		if d := <-ended; pings < 30 || !deaf || d > 11*time.Minute+20*time.Second {
			t.Errorf("it ended after %v and %d pings", d, pings)
		}
	})
}

// d10 says whether ten minutes have gone by.
func d10(began time.Time) bool { return time.Since(began) > 10*time.Minute }

// Clients ping, too, and do not wait long: an answer goes before the audio that is
// queued.
func TestPongsOvertakeAudio(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, apitest.InMemory, socket.Incoming{}, func(_ context.Context, k *socket.Socket) {
			for k.SendBinary(make([]byte, 88200)) { // without end
			}
		})
		conn := s.connect(t)
		// A client whose line takes a second for each message.
		frames, answered := 0, -1
		conn.SetPongHandler(func(text string) error {
			if text == "it" {
				answered = frames
			}
			return nil
		})
		for answered < 0 && frames < 100 {
			if frames == 10 {
				go conn.WriteControl(websocket.PingMessage, []byte("it"), time.Now().Add(time.Second))
			}
			if _, _, err := conn.ReadMessage(); err != nil {
				t.Fatal(err)
			}
			frames++
			time.Sleep(time.Second)
		}
		if answered < 10 || answered > 12 {
			t.Errorf("the ping after 10 messages was answered after %d", answered)
		}
	})
}

// Who produces waits for who reads, up to the bound of the queue; a client that
// reads nothing for 20 s is given up.
func TestSlowClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sent, cause := 0, make(chan error, 1)
		s := newServer(t, apitest.InMemory, socket.Incoming{}, func(ctx context.Context, k *socket.Socket) {
			for k.SendBinary(make([]byte, 1000)) {
				sent++
			}
			cause <- context.Cause(ctx)
		})
		began := time.Now()
		s.connect(t)
		synctest.Wait()
		if sent < 2 || sent > 10 {
			t.Errorf("%d messages wait", sent)
		}
		if err := <-cause; err != socket.ErrSlow || time.Since(began) != 20*time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}

// Closing waits for a client that does not read, but not long.
func TestCloseSlowClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		done := make(chan struct{})
		s := newServer(t, apitest.InMemory, socket.Incoming{}, func(ctx context.Context, k *socket.Socket) {
			k.SendBinary(make([]byte, 1000))
			k.Close(socket.Normal, "")
			close(done)
		})
		began := time.Now()
		s.connect(t)
		<-done
		if d := time.Since(began); d != 2*time.Second {
			t.Errorf("closed after %v", d)
		}
		s.Wait()
		if d := time.Since(began); d != 3*time.Second {
			t.Errorf("gone after %v", d)
		}
	})
}

func TestNoUpgrade(t *testing.T) {
	s := newServer(t, apitest.OverNetwork, socket.Incoming{}, idle)
	for header, want := range map[string]int{"sk_good": 400, "sk_bad": 401, "": 401} {
		r, err := http.NewRequest(http.MethodGet, s.URL+"/ws", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Api-Key", header)
		answer, err := s.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		var p api.Problem
		if err := json.NewDecoder(answer.Body).Decode(&p); err != nil || answer.StatusCode != want || p.Code == "" {
			t.Errorf("%q: %s %+v %v", header, answer.Status, p, err)
		}
		answer.Body.Close()
	}
	conn, answer, err := s.Dialer.Dial("ws"+strings.TrimPrefix(s.URL, "http")+"/ws?api_key=sk_good", nil)
	if err != nil || answer.Header.Get("Sec-WebSocket-Extensions") != "" {
		t.Fatalf("%v %v", err, answer)
	}
	conn.Close()
}

func TestForms(t *testing.T) {
	p := api.ProblemOf(api.Detail(api.ErrSpeed, "speed: 3"))
	for want, form := range map[string]socket.Form{
		`{"type":"error","data":{"code":"validation.speed_out_of_range","message":"` + p.Message + `","detail":"speed: 3","retryable":false},"message":"` + p.Message + `"}`: socket.Object,
		`{"type":"error","data":"` + p.Message + `","code":"validation.speed_out_of_range","detail":"speed: 3","retryable":false}`:                                           socket.Sentence,
	} {
		if b, err := json.Marshal(form(p)); err != nil || string(b) != want {
			t.Errorf("%s\n%s", b, want)
		}
	}
}

var errOther = errors.New("else")

// What ends a socket at its opening tells clients whether to come again.
func TestRefuse(t *testing.T) {
	for err, code := range map[error]int{api.ErrVoice: socket.Policy, api.ErrDraining: socket.GoingAway, api.ErrBusy: socket.TryLater, errOther: socket.ServerError} {
		s := newServer(t, apitest.OverNetwork, socket.Incoming{}, func(_ context.Context, k *socket.Socket) { k.Refuse(err) })
		conn := s.connect(t)
		p := wantError(t, conn, api.ProblemOf(err).Code)
		if why := wantClose(t, conn, code); why != p.Message {
			t.Errorf("reason %q, message %q", why, p.Message)
		}
	}
}
