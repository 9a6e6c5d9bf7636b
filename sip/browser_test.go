package sip_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	gosip "github.com/emiago/sipgo/sip"
	"github.com/gorilla/websocket"
	"github.com/icholy/digest"

	"parley/media"
	"parley/media/srtp"
	"parley/sip"
	"parley/sip/dialog"
	"parley/sip/transport"
	"parley/sip/trunk"
)

// browser is the WebSocket of a peer. Over TLS it says what it says in binary messages.
type browser struct {
	*websocket.Conn
	via  string        // WS or WSS
	port int           // of the server
	over chan struct{} // closed when nothing more comes
}

// browse connects to a user agent by an HTTP server that does no more than it must.
func browse(t testing.TB, ua *sip.UserAgent, scheme string) (*browser, error) {
	t.Helper()
	upgrader := websocket.Upgrader{Subprotocols: []string{"sip"}}
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		at := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr).AddrPort()
		line, err := ua.WebSocket(netip.MustParseAddrPort(r.RemoteAddr), at, r.TLS != nil)
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		defer line.Close()
		conn, err := upgrader.Upgrade(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		ctx, gone := context.WithCancel(context.Background())
		go func() {
			defer gone()
			for {
				_, message, err := conn.ReadMessage()
				if err != nil {
					return
				}
				line.Receive(message)
			}
		}()
		line.Run(ctx, func(message []byte) bool { return conn.WriteMessage(websocket.TextMessage, message) == nil })
	}))
	if scheme == "wss" {
		srv.StartTLS()
	} else {
		srv.Start()
	}
	t.Cleanup(srv.Close)
	dialer := websocket.Dialer{Subprotocols: []string{"sip"}}
	if scheme == "wss" {
		dialer.TLSClientConfig = srv.Client().Transport.(*http.Transport).TLSClientConfig
	}
	conn, _, err := dialer.Dial(strings.Replace(srv.URL, "http", "ws", 1), nil)
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { conn.Close() })
	return &browser{conn, strings.ToUpper(scheme), srv.Listener.Addr().(*net.TCPAddr).Port, make(chan struct{})}, nil
}

func (b *browser) say(text string) error {
	kind := websocket.TextMessage
	if b.via == "WSS" {
		kind = websocket.BinaryMessage
	}
	return b.WriteMessage(kind, []byte(text))
}

// read hands out messages until there are no more.
func (b *browser) read(msgs chan<- gosip.Message) {
	defer close(b.over)
	for {
		_, text, err := b.ReadMessage()
		if err != nil {
			return
		}
		if m, err := gosip.ParseMessage(text); err == nil {
			msgs <- m
		}
	}
}

// unreachable is where a browser listens (RFC 7118 section 5).
type unreachable struct{}

func (unreachable) Network() string { return "ws" }
func (unreachable) String() string  { return "df7jal23ls0d.invalid" }

var ann = dialog.Credentials{Username: "ann", Password: "open sesame"}

// browsers is a trunk that takes calls over WebSockets.
func browsers(name, account string, who dialog.Credentials) trunk.Config {
	return trunk.Config{Name: name, Account: account, Inbound: who, Flags: trunk.WebSocket}
}

// reject lets nobody in by their address.
func reject(netip.Addr) bool { return false }

// login writes an INVITE, and once more with the credentials that it is asked for, and returns its final response.
func (p *peer) login(who dialog.Credentials, body string, headers ...string) *gosip.Response {
	p.t.Helper()
	p.write(p.request("INVITE", body, headers...))
	asked := p.response(407, "INVITE")
	p.write(p.request("ACK", "", "Via: "+asked.Via().Value()))
	p.write(p.signed(asked, who, body, headers...))
	return p.final("INVITE")
}

// final waits for the final response to a request.
func (p *peer) final(method string) *gosip.Response {
	p.t.Helper()
	for {
		if r, ok := wait(p.t, p.msgs, "final response to "+method).(*gosip.Response); ok && string(r.CSeq().MethodName) == method && !r.IsProvisional() {
			return r
		}
	}
}

// signed is an INVITE with the credentials that a response asks for last, as JsSIP does it, which knows only MD5.
func (p *peer) signed(asked *gosip.Response, who dialog.Credentials, body string, headers ...string) string {
	p.t.Helper()
	ways := asked.GetHeaders("Proxy-Authenticate")
	c, err := digest.ParseChallenge(ways[len(ways)-1].Value())
	if err != nil {
		p.t.Fatal(err)
	}
	if p.ws != nil && c.Algorithm != "MD5" {
		p.t.Fatalf("it is asked for %s", c.Algorithm)
	}
	shown, err := digest.Digest(c, digest.Options{Method: "INVITE", URI: "sip:+15550100002@127.0.0.1", Count: 1, Username: who.Username, Password: who.Password})
	if err != nil {
		p.t.Fatal(err)
	}
	p.seq++
	return p.request("INVITE", body, append(headers, "Proxy-Authorization: "+shown.String())...)
}

// TestCallOfABrowser: it is asked who it is, calls, gets our requests over its connection, and either end hangs up.
func TestCallOfABrowser(t *testing.T) {
	for _, scheme := range []string{"ws", "wss"} {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			h, legs, calls := sip.NewHands(), make(chan *sip.Leg, 1), make(chan *sip.Incoming, 1)
			cfg := h.On(sip.Config{Allow: reject, Trunks: []trunk.Config{browsers("web", "acc_1", ann)}})
			cfg.OnCall = func(ctx context.Context, in *sip.Incoming) {
				calls <- in
				taking(t, legs)(ctx, in)
			}
			ua := serve(t, cfg)
			call := func() (*called, *lasting, *sip.Incoming) {
				p := newPeer(t, ua, scheme)
				res := p.login(ann, p.offer())
				contact := res.Contact().Address
				if res.StatusCode != 200 || contact.Port != p.ws.port || contact.UriParams.GetOr("transport", "") != "ws" {
					t.Fatalf("\n%s", res)
				}
				p.toTag = res.To().Params.GetOr("tag", "")
				p.write(p.request("ACK", ""))
				return &called{peer: p, seen: map[string]bool{}}, last(wait(t, legs, "leg")), wait(t, calls, "call")
			}
			c, l, in := call()
			if in.Trunk != "web" || in.Account != "acc_1" || in.Transport != transport.OverWebSocket || in.Source.Addr() != loopback || in.Called != "+15550100002" {
				t.Errorf("%+v", in)
			}
			confirmed(c.peer)
			due(t, h, half)
			refresh := c.expect("INVITE")
			if via := refresh.Via(); via.Transport != c.ws.via || via.Port != c.ws.port || refresh.Recipient.Host != (unreachable{}).String() {
				t.Errorf("\n%s", refresh)
			}
			c.answer(refresh, 200, c.offer())
			c.expect("ACK")
			l.finish(c)
			wait(t, in.Trace().Over(), "end of the trace")
			told, _ := in.Trace().Messages()
			if s := story(told); s != sorted("<INVITE >100 >200 <ACK <OPTIONS >200 >INVITE <200 >ACK >BYE <200") {
				t.Errorf("the trace is %s", s)
			}
			for _, m := range told {
				if m.Transport != "WS" || !m.Sent && (m.From != in.Source.String() || m.To != fmt.Sprint("127.0.0.1:", c.ws.port)) {
					t.Errorf("%+v", m)
				}
			}

			c, l, _ = call()
			c.next(200, "BYE", "")
			if err := wait(t, l.ended, "end of the call"); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestBrowsersAreAsked: the source of a browser says nothing, its credentials do; the password tells accounts with one user name
// apart, and where it does not, nobody gets in.
func TestBrowsersAreAsked(t *testing.T) {
	other, both := dialog.Credentials{Username: "ann", Password: "open barley"}, dialog.Credentials{Username: "desk", Password: "open wheat"}
	results := make(chan outcome, 1)
	ua := serve(t, sip.Config{Allow: reject, OnCall: answering(results), Trunks: []trunk.Config{
		{Name: "carrier", Allow: []netip.Prefix{netip.PrefixFrom(loopback, 32)}},
		{Name: "exchange", Allow: []netip.Prefix{netip.PrefixFrom(loopback, 32)}, Inbound: dialog.Credentials{Username: "pbx", Password: "open rye"}},
		browsers("one", "acc_1", ann), browsers("two", "acc_2", other), browsers("three", "acc_1", both), browsers("four", "acc_2", both),
	}})
	for _, tt := range []struct {
		name, account string
		who           dialog.Credentials
	}{
		{"one", "acc_1", ann}, {"two", "acc_2", other},
	} {
		p := newPeer(t, ua, "ws")
		res := p.login(tt.who, p.offer("a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:"+srtp.NewKey(srtp.AESHMAC80).Inline(srtp.AESHMAC80)))
		if res.StatusCode != 200 || !strings.Contains(string(res.Body()), "a=crypto:1") {
			t.Fatalf("%s: audio is not encrypted where it can be\n%s", tt.name, res)
		}
		p.toTag = res.To().Params.GetOr("tag", "")
		p.write(p.request("ACK", ""))
		p.next(200, "BYE", "")
		if o := wait(t, results, "end of the call"); o.err != nil || o.in.Trunk != tt.name || o.in.Account != tt.account {
			t.Errorf("%s: %v, %+v", tt.name, o.err, o.in)
		}
	}
	if n := len(ua.Rejections()); n != 0 {
		t.Errorf("%d rejections for questions", n)
	}
	wrong := []dialog.Credentials{{Username: "ann", Password: "open rye"}, {Username: "pbx", Password: "open rye"}, {Username: "nobody", Password: "x"}, both}
	for i, who := range wrong {
		if res := newPeer(t, ua, "ws").login(who, ""); res.StatusCode != 407 {
			t.Errorf("%+v: %d", who, res.StatusCode)
		}
		if n := ua.Rejected()[transport.CauseDigest]; n != uint64(i+1) {
			t.Errorf("%+v: %d are counted", who, n)
		}
	}
	guess := func() int {
		p := newPeer(t, ua, "ws")
		p.write(p.request("INVITE", ""))
		asked := p.final("INVITE")
		if asked.StatusCode == 407 {
			p.write(p.request("ACK", "", "Via: "+asked.Via().Value()))
			p.write(p.signed(asked, wrong[0], ""))
			asked = p.final("INVITE")
		}
		return asked.StatusCode
	}
	eventually(t, "who guesses is not listened to", func() bool { return guess() == 503 })
	if n := ua.Rejected()[transport.CauseRate]; n == 0 {
		t.Error("that is not counted")
	}
}

// TestBrowserHasGone: what goes to a browser whose connection is closed fails at once. From a new connection it goes on with its
// call, and a stranger does not.
func TestBrowserHasGone(t *testing.T) {
	legs := make(chan *sip.Leg, 1)
	ua := serve(t, sip.Config{Allow: reject, OnCall: taking(t, legs), Trunks: []trunk.Config{browsers("web", "", ann)}})
	call := func() (*peer, *lasting) {
		p := newPeer(t, ua, "ws")
		p.toTag = p.login(ann, p.offer()).To().Params.GetOr("tag", "")
		p.write(p.request("ACK", ""))
		l := last(wait(t, legs, "leg"))
		confirmed(p)
		return p, l
	}
	gone := func(p *peer) {
		p.ws.Close()
		wait(t, p.ws.over, "end of the connection")
	}
	p, l := call()
	gone(p)
	l.end(&media.Ended{Reason: media.AgentHangup})
	if err := wait(t, l.ended, "end of the call"); err != nil {
		t.Error(err)
	}
	eventually(t, "the call is over", func() bool { return ua.Stats().Calls == 0 })

	p, l = call()
	gone(p)
	again := newPeer(t, ua, "ws")
	again.callID, again.toTag, again.seq = p.callID, p.toTag, p.seq
	again.tag = "guessed"
	again.next(481, "BYE", "")
	again.tag = p.tag
	again.next(200, "OPTIONS", "")
	l.end(&media.Ended{Reason: media.AgentHangup})
	again.confirm(again.incoming("BYE"))
	if err := wait(t, l.ended, "end of the call"); err != nil {
		t.Error(err)
	}
}

// TestMessagesOfBrowsers: they may ask whether we live, and keep their way open; what is too long or no SIP closes their connection.
func TestMessagesOfBrowsers(t *testing.T) {
	ua := serve(t, sip.Config{Allow: reject, Trunks: []trunk.Config{browsers("web", "", ann)}})
	p := newPeer(t, ua, "ws")
	p.write(p.request("OPTIONS", "", "Content-Length:")) // whose end is the message's (RFC 7118 section 4.2)
	p.response(200, "OPTIONS")
	p.write(p.request("REGISTER", ""))
	p.response(405, "REGISTER")
	p.write(p.request("BYE", ""))
	p.response(481, "BYE")

	alive, err := browse(t, ua, "ws")
	if err != nil {
		t.Fatal(err)
	}
	if err := alive.say("\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if _, pong, err := alive.ReadMessage(); err != nil || string(pong) != "\r\n" {
		t.Errorf("%q, %v", pong, err)
	}
	for name, text := range map[string]string{
		"too long": p.request("OPTIONS", "", "Subject: "+strings.Repeat("x", transport.MaxWebSocketMessage)),
		"no SIP":   "hello",
	} {
		b := newPeer(t, ua, "ws")
		b.write(text)
		if wait(t, b.ws.over, "end of the connection"); len(b.msgs) > 0 {
			t.Errorf("%s: an answer\n%s", name, <-b.msgs)
		}
	}
	long := p.request("OPTIONS", "", "Subject: "+strings.Repeat("x", transport.MaxWebSocketMessage-1000))
	p.write(long)
	p.response(200, "OPTIONS")
}

// TestBrowsersAreBounded: there are so many connections, one from an address; the place of one that is closed is free. While the
// server drains there are no new ones, and no new calls over those that are there.
func TestBrowsersAreBounded(t *testing.T) {
	legs := make(chan *sip.Leg, 1)
	none := serve(t, sip.Config{})
	at := netip.AddrPortFrom(loopback, 80)
	if _, err := none.WebSocket(addrPort(1), at, false); err != sip.ErrNoBrowsers {
		t.Errorf("without a trunk: %v", err)
	}
	ua, stop := start(t, sip.Config{Allow: reject, OnCall: taking(t, legs), Trunks: []trunk.Config{browsers("web", "", ann)}})
	p := newPeer(t, ua, "ws")
	p.toTag = p.login(ann, p.offer()).To().Params.GetOr("tag", "")
	p.write(p.request("ACK", ""))
	l := last(wait(t, legs, "leg"))
	confirmed(p)

	const most = 1024
	var all []*transport.WebSocket
	for i := 1; ; i++ {
		w, err := ua.WebSocket(netip.AddrPortFrom(netip.MustParseAddr("192.0.2.1"), uint16(i)), at, false)
		if err != nil {
			if err != sip.ErrConnections {
				t.Error(err)
			}
			break
		}
		all = append(all, w)
	}
	if len(all) != most-1 {
		t.Errorf("%d connections", len(all)+1)
	}
	all[0].Close()
	far := netip.MustParseAddrPort("192.0.2.2:5")
	eventually(t, "a place is free", func() bool {
		w, err := ua.WebSocket(far, at, false)
		if err == nil {
			all[0] = w
		}
		return err == nil
	})
	all[1].Close()
	eventually(t, "an address has one", func() bool {
		w, err := ua.WebSocket(netip.MustParseAddrPort("192.0.2.3:5"), at, false)
		if err == nil {
			all[1] = w
		}
		return err == nil
	})
	all[2].Close()
	if _, err := ua.WebSocket(far, at, false); err != sip.ErrConnections {
		t.Errorf("a second one from an address: %v", err)
	}

	ua.Drain()
	if _, err := ua.WebSocket(addrPort(2), at, false); err != sip.ErrDraining {
		t.Errorf("while draining: %v", err)
	}
	confirmed(p)
	other := &peer{t: t, ua: p.ua, ws: p.ws, msgs: p.msgs, rtp: p.rtp, tag: "other", seq: 1, callID: "other-" + p.callID}
	other.write(other.request("INVITE", other.offer()))
	if res := other.final("INVITE"); res.StatusCode != 503 {
		t.Errorf("a new call: %d", res.StatusCode)
	}
	l.end(&media.Ended{Reason: media.AgentHangup})
	p.confirm(p.incoming("BYE"))
	if err := wait(t, l.ended, "end of the call"); err != nil {
		t.Error(err)
	}
	stop()
	wait(t, p.ws.over, "end of the connection")
}
