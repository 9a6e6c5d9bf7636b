package bus_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"os"
	"testing"
	"time"

	"parley/store"
	"parley/store/bus"
	"parley/store/bus/bustest"
)

// member is the configuration of a node with a certificate of a.
func member(a *bustest.Authority, routes ...string) bus.Cluster {
	c := bus.Cluster{Listen: "127.0.0.1:0", Routes: routes, CA: a.CA}
	c.Cert, c.Key = a.Node()
	return c
}

// TestCluster: three servers in this process find each other, the third through
// the first, and let nobody in whom their authority does not know. One that goes is
// gone.
func TestCluster(t *testing.T) {
	s := newStand(t)
	a := bustest.NewAuthority(t)
	var buses []*bus.Bus
	var routes []string
	for i := range 3 {
		b := s.open(bus.Config{Name: string(rune('a' + i)), Cluster: member(a, routes...)})
		s.serve(b, store.Node{ID: "n", Epoch: int64(i)}, string(rune('a'+i)))
		buses = append(buses, b)
		routes = []string{buses[0].RouteAddr()}
	}
	stranger := s.open(bus.Config{Name: "x", Cluster: member(bustest.NewAuthority(t), routes...)})
	for _, from := range buses {
		for i, want := range []string{"hello by a", "hello by b", "hello by c"} {
			s.eventually("they do not find each other", func() bool {
				answer, err := from.Request(t.Context(), store.Node{ID: "n", Epoch: int64(i)}, []byte("hello"))
				return err == nil && string(answer) == want
			})
		}
	}
	var subs []*bus.Subscription
	for _, b := range buses {
		subs = append(subs, s.subscribe(b, bus.Goodbyes()))
	}
	for i, sub := range subs {
		s.eventually("a goodbye does not arrive", func() bool {
			s.ok(buses[(i+1)%3].Publish(goodbye(t, "acc_1"), nil))
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			m, err := sub.Next(ctx)
			return err == nil && m.About == "acc_1"
		})
	}
	if _, err := stranger.Request(t.Context(), store.Node{ID: "n", Epoch: 0}, nil); !errors.Is(err, bus.ErrNobody) {
		t.Errorf("a stranger gets an answer: %v", err)
	}
	if text, err := s.knock(a, buses[0].RouteAddr(), a.Node); err != nil {
		t.Errorf("with a certificate: %q, %v", text, err)
	}
	for who, node := range map[string]func() (cert, key string){"no certificate": nil, "another's": bustest.NewAuthority(t).Node} {
		if text, err := s.knock(a, buses[0].RouteAddr(), node); err == nil {
			t.Errorf("%s: is let in with %q", who, text)
		}
	}
	plain, err := net.Dial("tcp", buses[0].RouteAddr())
	s.ok(err)
	defer plain.Close()
	s.ok(plain.SetDeadline(time.Now().Add(patience)))
	_, err = plain.Write([]byte("CONNECT {}\r\nPING\r\n"))
	s.ok(err)
	for buf := make([]byte, 4096); err == nil; { // it ends: the server closes
		_, err = plain.Read(buf)
	}
	if e, ok := errors.AsType[net.Error](err); ok && e.Timeout() {
		t.Error("without TLS: the connection stays open")
	}
	buses[2].Close()
	s.eventually("the third is not missed", func() bool {
		_, err := buses[1].Request(t.Context(), store.Node{ID: "n", Epoch: 2}, nil)
		return errors.Is(err, bus.ErrNobody)
	})
}

// knock opens a TLS connection to a route as NATS does, with a certificate of node or
// none, and returns what the server says after the certificates.
func (s *stand) knock(a *bustest.Authority, addr string, node func() (cert, key string)) (string, error) {
	s.Helper()
	text, err := os.ReadFile(a.CA)
	s.ok(err)
	cfg := &tls.Config{RootCAs: x509.NewCertPool(), ServerName: "127.0.0.1"}
	cfg.RootCAs.AppendCertsFromPEM(text)
	if node != nil {
		own, err := tls.LoadX509KeyPair(node())
		s.ok(err)
		// Sent whichever authorities the server asks for.
		cfg.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &own, nil }
	}
	conn, err := tls.DialWithDialer(&net.Dialer{Timeout: patience}, "tcp", addr, cfg)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	s.ok(conn.SetDeadline(time.Now().Add(patience)))
	buf := make([]byte, 4096) // with TLS 1.3 the refusal comes with the first read
	n, err := conn.Read(buf)
	return string(buf[:n]), err
}
