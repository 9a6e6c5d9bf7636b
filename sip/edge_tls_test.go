package sip_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	gosip "github.com/emiago/sipgo/sip"

	"parley/media"
	"parley/sip"
	"parley/sip/header"
	"parley/sip/trunk"
)

// secureEdge is edge with TLS at over, with a certificate of ca, which takes carriers'
// certificates of ca alone. The connections of a user agent come from 127.0.0.1 wherever
// it listens, so carriers call from there.
func secureEdge(t *testing.T, ca *authority, over, node netip.AddrPort, carrier string) (at netip.AddrPort, media [2]int) {
	t.Helper()
	dir := t.TempDir()
	writeCertificates(t, dir, ca, over.Addr().String())
	at, media = edgeIn(t, dir, node, node, carrier, loopback, "LISTEN_TLS="+over.String())
	listens(t, "kamailio over TLS", over) // which it does last
	return at, media
}

// writeCertificates writes tls.cfg of deploy/kamailio and the files that it names.
func writeCertificates(t *testing.T, dir string, ca *authority, name string) {
	t.Helper()
	file, err := os.ReadFile("../deploy/kamailio/tls.cfg")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "tls.cfg"), file, 0o600); err != nil {
		t.Fatal(err)
	}
	cert := ca.issue(name)
	key, err := x509.MarshalPKCS8PrivateKey(cert.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	writePEM(t, filepath.Join(dir, "edge.pem"), cert.Certificate[0])
	writeBlock(t, filepath.Join(dir, "edge.key"), "PRIVATE KEY", key)
	writePEM(t, filepath.Join(dir, "carriers.pem"), ca.cert.Raw)
}

// recording is a handler that hands calls out before the next one takes them.
func recording(calls chan<- *sip.Incoming, next func(context.Context, *sip.Incoming)) func(context.Context, *sip.Incoming) {
	return func(ctx context.Context, in *sip.Incoming) {
		calls <- in
		next(ctx, in)
	}
}

// TestEdgeOverTLS: a carrier is called over TLS and calls over TLS, a node speaks UDP,
// and either side hangs up.
func TestEdgeOverTLS(t *testing.T) {
	t.Parallel()
	ca, over := newAuthority(t), freePort(t)
	calls, ended := make(chan *sip.Incoming, 1), make(chan seen, 1)
	echo := recording(calls, echoing(ended, ""))
	node := behind(t, firstNode, sip.Config{OnCall: echo})
	// The certificate is for another name than the one that is called: tls.cfg says
	// that Kamailio does not compare them.
	carrier := behind(t, carrierAddr, sip.Config{OnCall: echo, ListenTLS: netip.AddrPortFrom(carrierAddr, 0),
		TLS: &tls.Config{Certificates: []tls.Certificate{ca.issue("carrier.test")}},
		Trunks: []trunk.Config{{Name: "edge", Targets: []trunk.Target{{Host: over.Addr().String(), Port: over.Port(), Transport: "tls"}},
			TLS: &tls.Config{RootCAs: ca.pool()}, Flags: trunk.NoProbe, Allow: []netip.Prefix{netip.PrefixFrom(loopback, 32)}}}})
	at, relay := secureEdge(t, ca, over, node.Addr(), carrier.TLSAddr().String()+";transport=tls")

	// Each side has the address of the edge that it speaks to first.
	secure, plain := "Record-Route: <sip:"+over.String()+";transport=tls;", "Record-Route: <sip:"+at.String()+";"
	for _, tt := range []struct {
		name   string
		from   *sip.UserAgent
		target sip.Target
		comes  string
		routes [2]string
	}{
		{"out", node, sip.Target{URI: "sip:" + number + "@" + at.String()}, "TLS", [2]string{secure, plain}},
		{"in", carrier, sip.Target{Number: number, From: header.Identity{Number: "+15550100001"}}, "UDP", [2]string{plain, secure}},
	} {
		for _, theirs := range []bool{false, true} {
			leg, err := tt.from.Dial(t.Context(), tt.target)
			if err != nil {
				t.Fatalf("%s: %v", tt.name, err)
			}
			c := whistle(leg)
			wait(t, c.tone, "echo")
			if theirs {
				c.press(t, "D", "")
			} else {
				c.hangup(media.AgentHangup)
			}
			in, s := wait(t, calls, "call"), wait(t, ended, "end of the call")
			if err := wait(t, c.over, "end of the caller"); err != nil || s.err != nil || in.Transport != tt.comes {
				t.Errorf("%s: over %s, ended with %v and %v", tt.name, in.Transport, err, s.err)
			}
			within(t, "who was called", s.latched, relay)
			within(t, "the caller", leg.Stats().Latched.String(), relay)
			list, _ := in.Trace().Messages()
			if _, after, ok := strings.Cut(list[0].Text, tt.routes[0]); !ok || !strings.Contains(after, tt.routes[1]) {
				t.Errorf("%s: want %q in\n%s", tt.name, tt.routes, list[0].Text)
			}
		}
	}
}

// TestEdgeFollowsTranslatorsOverTLS: a caller behind an address translator, to which
// nobody can connect, gets the requests of a call over the connection it called by.
func TestEdgeFollowsTranslatorsOverTLS(t *testing.T) {
	t.Parallel()
	ca, over, legs := newAuthority(t), freePort(t), make(chan *sip.Leg, 1)
	node := behind(t, firstNode, sip.Config{OnCall: taking(t, legs)})
	secureEdge(t, ca, over, node.Addr(), netip.AddrPortFrom(carrierAddr, 9).String())
	conn, err := tls.Dial("tcp", over.String(), &tls.Config{RootCAs: ca.pool()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	far := &called{seen: map[string]bool{}, peer: &peer{t: t, tcp: conn, msgs: make(chan gosip.Message, 64), tag: "their-tag", seq: 1}}
	if far.rtp, err = net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(loopback, 0))); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { far.rtp.Close() })
	go far.readTCP()
	far.calls(legs, "TLS", "<sip:far@"+hidden+":5060;transport=tls>")
}

// TestEdgeRefusesCertificate: a carrier with a certificate of an authority that is not
// listed gets no call.
func TestEdgeRefusesCertificate(t *testing.T) {
	t.Parallel()
	ca, others, over := newAuthority(t), newAuthority(t), freePort(t)
	calls, results, shown := make(chan *sip.Incoming, 1), make(chan outcome, 1), make(chan struct{})
	cert, once := others.issue(carrierAddr.String()), sync.Once{}
	node := behind(t, firstNode, sip.Config{})
	carrier := behind(t, carrierAddr, sip.Config{OnCall: recording(calls, answering(results)), ListenTLS: netip.AddrPortFrom(carrierAddr, 0),
		TLS: &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			once.Do(func() { close(shown) })
			return &cert, nil
		}}})
	at, _ := secureEdge(t, ca, over, node.Addr(), carrier.TLSAddr().String()+";transport=tls")
	_, err := node.Dial(t.Context(), sip.Target{URI: "sip:" + number + "@" + at.String()})
	if _, ok := errors.AsType[*sip.NotAnswered](err); !ok {
		t.Errorf("got %v", err)
	}
	wait(t, shown, "connection")
	select {
	case in := <-calls:
		t.Errorf("the carrier was called: %+v", in)
	default:
	}
}
