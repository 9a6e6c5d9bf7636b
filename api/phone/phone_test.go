package phone_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gorilla/websocket"

	"parley/api"
	"parley/api/apitest"
	"parley/api/phone"
	"parley/media/isolate/isolatetest"
)

// line is the SIP side of a test: it says what it hears.
type line struct {
	far, at netip.AddrPort
	secure  bool
	heard   chan string
	closed  chan struct{}
	once    sync.Once
}

func (l *line) Receive(message []byte) {
	select {
	case l.heard <- string(message):
	case <-l.closed:
	}
}

func (l *line) Run(ctx context.Context, send func([]byte) bool) {
	defer l.Close()
	for {
		select {
		case text := <-l.heard:
			if text == "BYE" || !send([]byte(text)) {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

func (l *line) Close() { l.once.Do(func() { close(l.closed) }) }

// serve is a server whose lines come on the channel, or that refuses them.
func serve(t *testing.T, refuse error) (*apitest.Server, chan *line) {
	t.Helper()
	lines := make(chan *line, 200)
	a := api.New(apitest.Keys{})
	phone.Mount(a, &phone.Handler{Log: slog.New(slog.DiscardHandler), Connect: func(far, at netip.AddrPort, secure bool) (phone.Line, error) {
		if refuse != nil {
			return nil, refuse
		}
		l := &line{far: far, at: at, secure: secure, heard: make(chan string), closed: make(chan struct{})}
		lines <- l
		return l, nil
	}})
	s := apitest.Serve(t, apitest.OverNetwork, a.Handler(api.Options{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}))
	s.Dialer.Subprotocols = []string{"chat", "sip"}
	return s, lines
}

// TestPhone: what a phone says, as text or not, is the line's, and what the line says the phone's. It is known where the phone is.
func TestPhone(t *testing.T) {
	s, lines := serve(t, nil)
	conn := s.Connect(t, phone.Path, http.Header{"X-Forwarded-For": {"2001:db8::7"}, "X-Forwarded-Proto": {"https"}})
	l := <-lines
	if conn.Subprotocol() != "sip" || l.far.Addr() != netip.MustParseAddr("2001:db8::7") || l.far.Port() == 0 || l.at.String() != s.Listener.Addr().String() || !l.secure {
		t.Errorf("%q %+v", conn.Subprotocol(), l)
	}
	for _, kind := range []int{websocket.TextMessage, websocket.BinaryMessage} {
		if err := conn.WriteMessage(kind, []byte("OPTIONS")); err != nil {
			t.Fatal(err)
		}
		if got, text, err := conn.ReadMessage(); got != websocket.TextMessage || string(text) != "OPTIONS" || err != nil {
			t.Errorf("%d %q %v", got, text, err)
		}
	}
	if err := conn.WriteMessage(websocket.TextMessage, []byte("BYE")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := conn.ReadMessage(); !websocket.IsCloseError(err, websocket.CloseNormalClosure) {
		t.Errorf("where the line ends the phone sees %v", err)
	}

	conn = s.Connect(t, phone.Path, nil)
	if l = <-lines; l.far.Addr() != l.at.Addr() || l.secure {
		t.Errorf("%+v", l)
	}
	if err := conn.WriteMessage(websocket.TextMessage, make([]byte, 32<<10+1)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := conn.ReadMessage(); !websocket.IsCloseError(err, websocket.CloseMessageTooBig) {
		t.Errorf("where a message is too long the phone sees %v", err)
	}
	<-l.closed
}

// TestRefused: what is no phone's socket is told what to do, and what SIP refuses is refused before the upgrade.
func TestRefused(t *testing.T) {
	upgrade := []string{"Connection", "Upgrade", "Upgrade", "websocket", "Sec-WebSocket-Version", "13", "Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="}
	sip := append(slices.Clip(upgrade), "Sec-WebSocket-Protocol", "sip")
	for _, tt := range []struct {
		name   string
		header []string
		refuse error
		status int
		code   string
	}{
		{"no upgrade", nil, nil, 426, "request.upgrade_required"},
		{"no subprotocol", upgrade, nil, 400, "validation.invalid_request_format"},
		{"another subprotocol", append(slices.Clip(upgrade), "Sec-WebSocket-Protocol", "chat"), nil, 400, "validation.invalid_request_format"},
		{"draining", sip, api.ErrDraining, 503, "service.unavailable"},
		{"nobody to call", sip, api.ErrNotFound, 404, "request.not_found"},
	} {
		s, lines := serve(t, tt.refuse)
		req, err := http.NewRequestWithContext(t.Context(), "GET", s.URL+phone.Path, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(tt.header); i += 2 {
			req.Header.Set(tt.header[i], tt.header[i+1])
		}
		res, err := s.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if res.StatusCode != tt.status || !strings.Contains(string(body), tt.code) || len(lines) > 0 {
			t.Errorf("%s: %d %s", tt.name, res.StatusCode, body)
		}
		if tt.status == 426 && res.Header.Get("Upgrade") != "websocket" {
			t.Errorf("%s: it is not said to what", tt.name)
		}
	}
}

// TestPhonesOfANetwork: so many come from one network; others still come, and so do those that follow who has gone.
func TestPhonesOfANetwork(t *testing.T) {
	s, lines := serve(t, nil)
	from := func(a string) http.Header { return http.Header{"X-Forwarded-For": {a}} }
	var first *websocket.Conn
	for range 100 {
		first = s.Connect(t, phone.Path, from("2001:db8::7"))
	}
	dial := func(a string) (*websocket.Conn, int) {
		conn, res, err := s.Dialer.Dial("ws"+strings.TrimPrefix(s.URL, "http")+phone.Path, from(a))
		if err == nil {
			t.Cleanup(func() { conn.Close() })
		}
		if res == nil {
			t.Fatal(err)
		}
		return conn, res.StatusCode
	}
	if _, status := dial("2001:db8::8"); status != 429 { // the same network
		t.Errorf("one more: %d", status)
	}
	if _, status := dial("2001:db8:0:1::7"); status != 101 {
		t.Errorf("from elsewhere: %d", status)
	}
	for range 99 {
		<-lines
	}
	l := <-lines
	first.Close()
	<-l.closed
	for {
		if _, status := dial("2001:db8::9"); status == 101 {
			break
		}
	}
}

// TestPanic: where a line fails its phone is told, and the next one is served.
func TestPanic(t *testing.T) {
	isolatetest.Each(t, func(t *testing.T, site isolatetest.Site) {
		s, _ := serve(t, nil)
		isolatetest.Inject(t, site.Name)
		if _, _, err := s.Connect(t, phone.Path, nil).ReadMessage(); err == nil {
			t.Error("it goes on")
		}
		conn := s.Connect(t, phone.Path, nil)
		if err := conn.WriteMessage(websocket.TextMessage, []byte("OPTIONS")); err != nil {
			t.Fatal(err)
		}
		if _, text, err := conn.ReadMessage(); string(text) != "OPTIONS" {
			t.Errorf("%q %v", text, err)
		}
	})
}
