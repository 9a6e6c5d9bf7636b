package sip_test

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"strconv"
	"strings"
	"sync"
	"testing"

	"parley/sip"
	"parley/sip/trunk"
)

// passport is a carrier's server that knows its customers by their certificates. It
// refuses every call, and notes who asked for it and over which connection.
type passport struct {
	t     *testing.T
	calls chan passage
	lost  chan string // whose connection has ended

	mu   sync.Mutex
	open map[string]*visitor // by the certificate's name, the latest
}

type visitor struct {
	conn    *tls.Conn
	answers chan string // status lines that came over it
}

// passage is a request as it came.
type passage struct{ method, certificate, says string }

func newPassport(t *testing.T, cfg *tls.Config) (*passport, net.Listener) {
	t.Helper()
	l, err := tls.Listen("tcp", "127.0.0.1:0", cfg)
	if err != nil {
		t.Fatal(err)
	}
	p := &passport{t: t, calls: make(chan passage, 16), lost: make(chan string, 16), open: map[string]*visitor{}}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { p.attend(conn.(*tls.Conn)) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		p.mu.Lock()
		for _, v := range p.open {
			v.conn.Close()
		}
		p.mu.Unlock()
		all.Wait()
	})
	return p, l
}

func (p *passport) attend(conn *tls.Conn) {
	defer conn.Close()
	if conn.Handshake() != nil {
		return
	}
	name := conn.ConnectionState().PeerCertificates[0].Subject.CommonName
	v := &visitor{conn, make(chan string, 16)}
	p.mu.Lock()
	p.open[name] = v
	p.mu.Unlock()
	defer func() { p.lost <- name }()
	r := textproto.NewReader(bufio.NewReader(conn))
	for {
		first, err := r.ReadLine()
		if err != nil {
			return
		}
		h, err := r.ReadMIMEHeader()
		if err != nil {
			return
		}
		n, _ := strconv.Atoi(h.Get("Content-Length"))
		if _, err := io.CopyN(io.Discard, r.R, int64(n)); err != nil {
			return
		}
		if status, ok := strings.CutPrefix(first, "SIP/2.0 "); ok {
			v.answers <- status
			continue
		}
		method, _, _ := strings.Cut(first, " ")
		p.calls <- passage{method, name, h.Get("X-Trunk")}
		if method == "INVITE" {
			fmt.Fprintf(conn, "SIP/2.0 486 Busy Here\r\nVia: %s\r\nFrom: %s\r\nTo: %s;tag=x\r\nCall-ID: %s\r\nCSeq: %s\r\nContent-Length: 0\r\n\r\n",
				h.Get("Via"), h.Get("From"), h.Get("To"), h.Get("Call-ID"), h.Get("CSeq"))
		}
	}
}

// asks sends an OPTIONS to whoever has come with a certificate.
func (p *passport) asks(certificate string) *visitor {
	p.mu.Lock()
	v := p.open[certificate]
	p.mu.Unlock()
	fmt.Fprintf(v.conn, "OPTIONS sip:parley@%[1]s SIP/2.0\r\nVia: SIP/2.0/TLS %[2]s;branch=z9hG4bK%[3]s;rport\r\nMax-Forwards: 70\r\nFrom: <sip:%[3]s@%[2]s>;tag=1\r\nTo: <sip:parley@%[1]s>\r\nCall-ID: %[3]s\r\nCSeq: 1 OPTIONS\r\nContent-Length: 0\r\n\r\n",
		v.conn.RemoteAddr(), v.conn.LocalAddr(), certificate)
	return v
}

// TestTrunksHaveConnectionsOfTheirOwn: two trunks lead to one address with different
// certificates, and a third trusts other authorities. A connection of one carries
// nothing of another, in either direction.
func TestTrunksHaveConnectionsOfTheirOwn(t *testing.T) {
	ours, others := newAuthority(t), newAuthority(t)
	far, l := newPassport(t, &tls.Config{Certificates: []tls.Certificate{ours.issue("127.0.0.1")}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: ours.pool()})
	at := l.Addr().(*net.TCPAddr).AddrPort()
	settings := func(name string, trusts *authority) trunk.Config {
		return trunk.Config{Name: name, Targets: []trunk.Target{{Host: "127.0.0.1", Port: at.Port(), Transport: "tls"}}, Flags: trunk.NoProbe,
			Headers: map[string]string{"X-Trunk": name}, TLS: &tls.Config{RootCAs: trusts.pool(), Certificates: []tls.Certificate{ours.issue(name)}}}
	}
	ua := serve(t, sip.Config{Trunks: []trunk.Config{settings("one", ours), settings("two", ours), settings("wary", others)}})
	dial := func(trunk string) {
		t.Helper()
		if _, err := ua.Dial(t.Context(), sip.Target{Number: number, Trunk: trunk}); err == nil || !strings.Contains(err.Error(), "486") {
			t.Errorf("a call on %s: %v", trunk, err)
		}
		for _, method := range []string{"INVITE", "ACK"} {
			if p := wait(t, far.calls, method); p.method != method || p.certificate != trunk || method == "INVITE" && p.says != trunk {
				t.Errorf("of trunk %s came %+v", trunk, p)
			}
		}
	}
	answers := func(certificate string) {
		t.Helper()
		if got := wait(t, far.asks(certificate).answers, "an answer over the connection of "+certificate); got != "200 OK" {
			t.Errorf("%s is answered %s", certificate, got)
		}
	}
	dial("one")
	dial("two")
	dial("one")
	answers("one")
	answers("two")
	if _, err := ua.Dial(t.Context(), sip.Target{Number: number, Trunk: "wary"}); err == nil || strings.Contains(err.Error(), "486") {
		t.Errorf("a server that the trunk does not trust was called: %v", err)
	}
	// One that ends is made again, and the other stays.
	far.mu.Lock()
	one := far.open["one"]
	far.mu.Unlock()
	if !sip.Connected(ua, "one", at) {
		t.Error("there is no connection of one")
	}
	one.conn.Close()
	if name := wait(t, far.lost, "the end of a connection"); name != "one" {
		t.Errorf("the connection of %s has ended", name)
	}
	eventually(t, "our end has noticed", func() bool { return !sip.Connected(ua, "one", at) })
	dial("two")
	dial("one")
	answers("two")
	answers("one")
	if n := len(far.lost); n > 0 {
		t.Errorf("%d more connections have ended", n)
	}
}
