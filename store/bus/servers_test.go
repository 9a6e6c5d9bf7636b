package bus_test

import (
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"

	"parley/store"
	"parley/store/bus"
	"parley/store/bus/bustest"
)

// deployed is the configuration of deploy/nats, with other files and addresses, as nats-server -t reads it: an unknown key is an error.
func (s *stand) deployed(change ...string) (*server.Options, error) {
	s.Helper()
	text, err := os.ReadFile("../../deploy/nats/nats.conf")
	s.ok(err)
	for i := 0; i < len(change); i += 2 {
		if !strings.Contains(string(text), change[i]) {
			s.Fatalf("there is no %s in the configuration", change[i])
		}
	}
	file := filepath.Join(s.TempDir(), "nats.conf")
	s.ok(os.WriteFile(file, []byte(strings.NewReplacer(change...).Replace(string(text))), 0o600))
	return server.ConfigureOptions(flag.NewFlagSet("nats-server", flag.ContinueOnError), []string{"-t", "-c", file}, func() {}, func() {}, func() {})
}

// ports are free ones.
func (s *stand) ports(n int) (list []int) {
	s.Helper()
	var all []net.Listener
	for range n {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		s.ok(err)
		all, list = append(all, ln), append(list, ln.Addr().(*net.TCPAddr).Port)
	}
	for _, ln := range all {
		s.ok(ln.Close())
	}
	return list
}

// TestDeployedServers runs the three servers of deploy/nats. Nodes at different ones hear each other, a node moves on when its
// server ends, and nobody gets in without a certificate of the authority.
func TestDeployedServers(t *testing.T) {
	s := newStand(t)
	a, dir := bustest.NewAuthority(t), t.TempDir()
	clients, routes := s.ports(3), s.ports(3)
	var servers []*server.Server
	var urls []string
	for i := range 3 {
		cert, key := a.Node()
		t.Setenv("NATS_NAME", fmt.Sprint("nats-", i+1))
		change := []string{"/etc/nats/ca.pem", a.CA, "/etc/nats/server.pem", cert, "/etc/nats/server.key", key, "127.0.0.1:8222", "127.0.0.1:-1",
			"0.0.0.0:4222", fmt.Sprint("127.0.0.1:", clients[i]), "0.0.0.0:6222", fmt.Sprint("127.0.0.1:", routes[i])}
		for n, port := range routes {
			change = append(change, fmt.Sprintf("nats-%d.example.com:6222", n+1), fmt.Sprint("127.0.0.1:", port))
		}
		o, err := s.deployed(change...)
		s.ok(err)
		if _, err := s.deployed(append(slices.Clone(change), "ping_max", "ping_most")...); err == nil {
			t.Error("the check lets an unknown key pass")
		}
		if o.ServerName != os.Getenv("NATS_NAME") || o.JetStream || o.MaxPayload != bus.MaxPayload || len(o.Routes) != 3 {
			t.Fatalf("%s: JetStream %t, %d bytes, routes %v", o.ServerName, o.JetStream, o.MaxPayload, o.Routes)
		}
		o.NoLog, o.NoSigs, o.LogFile = true, true, filepath.Join(dir, "log")
		one, err := server.NewServer(o)
		s.ok(err)
		one.Start()
		t.Cleanup(func() { one.Shutdown(); one.WaitForShutdown() })
		servers, urls = append(servers, one), append(urls, fmt.Sprint("tls://127.0.0.1:", clients[i]))
	}
	with := func(by *bustest.Authority) (c bus.Cluster) {
		c.CA = a.CA
		c.Cert, c.Key = by.Node()
		return c
	}
	host := store.Node{ID: "host", Epoch: 1}
	last := s.open(bus.Config{Name: "host", URL: urls[2], Cluster: with(a)})
	s.serve(last, host, "host")
	hears := func(b *bus.Bus) bool {
		answer, err := b.Request(t.Context(), host, []byte("hello"))
		return err == nil && string(answer) == "hello by host"
	}
	first, roaming := s.open(bus.Config{Name: "first", URL: urls[0], Cluster: with(a)}), s.open(bus.Config{Name: "roaming", URL: strings.Join(urls, ","), Cluster: with(a)})
	s.eventually("the first server does not reach the third", func() bool { return hears(first) && hears(roaming) })

	stranger, nobody := s.open(bus.Config{Name: "stranger", URL: urls[0], Cluster: with(bustest.NewAuthority(t))}), s.open(bus.Config{Name: "nobody", URL: urls[0], Cluster: bus.Cluster{CA: a.CA}})
	distrust := s.open(bus.Config{Name: "distrust", URL: urls[0]}) // the system's authorities know of no server here
	for who, b := range map[string]*bus.Bus{"another's certificate": stranger, "no certificate": nobody, "no authority": distrust} {
		if _, err := b.Request(t.Context(), host, nil); !errors.Is(err, bus.ErrAway) || b.Connected() {
			t.Errorf("%s: connected %t, %v", who, b.Connected(), err)
		}
	}
	for _, gone := range servers[:2] {
		gone.Shutdown()
		gone.WaitForShutdown()
		s.eventually("a node does not move on", func() bool { return hears(roaming) })
	}
}
