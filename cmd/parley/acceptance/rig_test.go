package acceptance

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	gosip "github.com/emiago/sipgo/sip"

	"parley/sip"
	"parley/sip/header"
	"parley/sip/simulated"
	"parley/sip/trunk"
	"parley/store/bus/bustest"
	"parley/store/storetest"
)

// rig is servers of one database, each at an address of its own, and a carrier that a trunk of theirs registers with. Its model
// recognises no speech until model.understands gives it a text.
type rig struct {
	*testing.T
	nodes   []*server
	carrier *registrar
	model   *model
	start   func(i int, routes string) *server
}

// carrierHost is where the carrier of a rig is; its nodes are at nodeHost.
const carrierHost = "127.0.0.21"

func nodeHost(i int) string { return fmt.Sprint("127.0.0.", 11+i) }

func newRig(t *testing.T, nodes int) *rig {
	t.Helper()
	m := newModel()
	t.Cleanup(m.Close)
	r := &rig{T: t, carrier: newRegistrar(t), model: m}
	file := filepath.Join(t.TempDir(), "parley.yaml")
	text := fmt.Sprintf("trunks:\n  - name: carrier\n    targets:\n      - {host: %s, port: %d}\n    username: account\n    password: x\n    register: on\n", carrierHost, r.carrier.port())
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	recordings := "PARLEY_STORAGE_URL=file://" + t.TempDir()
	url, authority, routes := storetest.URL(t), bustest.NewAuthority(t), ""
	r.start = func(i int, routes string) *server {
		cert, key := authority.Node()
		return serveLean(t, noDataDir(t), append(m.env(), "PARLEY_ASR=openai", "PARLEY_ASR_URL="+m.URL+"/v1", "PARLEY_CARRIER=sip", "PARLEY_PAYMENTS=none", "PARLEY_CONFIG="+file, recordings,
			"PARLEY_DATABASE_URL="+url, "PARLEY_SECRET=4f0a2c81d95b63e7a8147d5cf2930be6", "PARLEY_WEBRTC_UDP_PORT=off", "PARLEY_NODE=node-"+strconv.Itoa(i), "PARLEY_HTTP_ADDR="+nodeHost(i)+":0", "PARLEY_SIP_ADDR="+nodeHost(i)+":0",
			"PARLEY_NATS_CLUSTER_ADDR=127.0.0.1:0", "PARLEY_NATS_ROUTES="+routes, "PARLEY_NATS_CERT="+cert, "PARLEY_NATS_KEY="+key, "PARLEY_NATS_CA="+authority.CA))
	}
	for i := range nodes {
		s := r.start(i, routes)
		routes = s.addrs["other nodes"]
		r.nodes = append(r.nodes, s)
	}
	return r
}

// dial calls a number from a telephone of the carrier, by a node. The call may go on at any other.
func (r *rig) dial(by *server, number, from string) *caller {
	r.Helper()
	company := trunk.Config{Name: "company", Flags: trunk.NoProbe}
	for _, s := range r.nodes {
		at := netip.MustParseAddrPort(s.addrs["sip"])
		company.Allow = append(company.Allow, netip.PrefixFrom(at.Addr(), 32))
		if s == by {
			company.Targets = []trunk.Target{{Host: at.Addr().String(), Port: at.Port()}}
		}
	}
	p, err := simulated.NewPhoneOn(netip.MustParseAddr(carrierHost), []trunk.Config{company})
	c, err := dialOn(r.T, started(r.T, p, err), sip.Target{Trunk: "company", Number: number, From: header.Identity{Number: from}})
	if err != nil {
		r.Fatal(err)
	}
	return c
}

// restart stops a node, which has the others go on with its calls, and starts it anew.
func (r *rig) restart(i int) {
	r.Helper()
	r.nodes[i].signal(r.T, syscall.SIGTERM)
	if code := r.nodes[i].end(r.T); code != 0 {
		r.Errorf("node %d ends with %d:\n%s", i, code, r.nodes[i].tail(40))
	}
	r.nodes[i] = r.start(i, r.nodes[(i+1)%len(r.nodes)].addrs["other nodes"])
}

// at is the node that a contact leads to.
func (r *rig) at(contact netip.AddrPort) *server {
	r.Helper()
	i := slices.IndexFunc(r.nodes, func(s *server) bool { return s.addrs["sip"] == contact.String() })
	if i < 0 {
		r.Fatalf("no node is at %s", contact)
	}
	return r.nodes[i]
}

// registered waits until the carrier has one contact and it is of a node besides some, and returns that.
func (r *rig) registered(besides ...*server) *server {
	r.Helper()
	var at netip.AddrPort
	eventually(r.T, "one node is registered", func() bool {
		all := r.carrier.contacts()
		if len(all) == 1 {
			at = all[0]
		}
		return len(all) == 1 && !slices.Contains(besides, r.at(at))
	})
	return r.at(at)
}

// seenNode is a node as parley nodes lists it.
type seenNode struct {
	Name, State, Address string
	Calls                int
	SilentSince          *time.Time `json:"silent_since"`
}

// seen lists the nodes by a command on the machine of one of them.
func (r *rig) seen(on *server) (all []seenNode) {
	r.Helper()
	var list struct{ Nodes []seenNode }
	on.answer(r.T, &list, "nodes")
	return list.Nodes
}

// await waits until a node is listed as wanted, by a command on another.
func (r *rig) await(on, of *server, state string, calls int) (found seenNode) {
	r.Helper()
	eventually(r.T, "a node is listed as "+state, func() bool {
		all := r.seen(on)
		i := slices.IndexFunc(all, func(n seenNode) bool { return n.Address == of.addrs["http"] })
		if i >= 0 {
			found = all[i]
		}
		return found.State == state && found.Calls == calls
	})
	return found
}

// registrar is a carrier that takes registrations and keeps all contacts, as RFC 3261 section 10.3 has it. It asks for no
// credentials.
type registrar struct {
	conn *net.UDPConn

	mu    sync.Mutex
	bound []gosip.Uri
	asked map[netip.AddrPort]int // REGISTERs by the contact that they name
}

func newRegistrar(t *testing.T) *registrar {
	t.Helper()
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.ParseIP(carrierHost)})
	if err != nil {
		t.Fatal(err)
	}
	g := &registrar{conn: conn, asked: map[netip.AddrPort]int{}}
	done := make(chan struct{})
	go func() { defer close(done); g.serve() }()
	t.Cleanup(func() { conn.Close(); <-done })
	return g
}

func (g *registrar) port() int { return g.conn.LocalAddr().(*net.UDPAddr).Port }

func (g *registrar) serve() {
	b := make([]byte, 8000)
	for {
		n, from, err := g.conn.ReadFromUDPAddrPort(b)
		if err != nil {
			return
		}
		m, err := gosip.ParseMessage(slices.Clone(b[:n]))
		req, ok := m.(*gosip.Request)
		if err != nil || !ok {
			continue
		}
		if req.Method == gosip.REGISTER && req.Contact() != nil {
			g.take(req)
		}
		res := gosip.NewResponseFromRequest(req, 200, "OK", nil)
		g.mu.Lock()
		for i := range g.bound {
			res.AppendHeader(&gosip.ContactHeader{Address: g.bound[i]})
		}
		g.mu.Unlock()
		_, _ = g.conn.WriteToUDPAddrPort([]byte(res.String()), from) // it is asked again
	}
}

// take notes what a REGISTER says of its contact.
func (g *registrar) take(req *gosip.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := req.Contact().Address
	g.asked[placeOf(&c)]++
	g.bound = slices.DeleteFunc(g.bound, func(u gosip.Uri) bool { return u.String() == c.String() })
	if h := req.GetHeader("Expires"); h == nil || strings.TrimSpace(h.Value()) != "0" {
		g.bound = append(g.bound, c)
	}
}

func placeOf(u *gosip.Uri) netip.AddrPort {
	a, _ := netip.ParseAddr(u.Host) // the zero one is nobody's
	return netip.AddrPortFrom(a, uint16(u.Port))
}

// contacts are those that stand.
func (g *registrar) contacts() (all []netip.AddrPort) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range g.bound {
		all = append(all, placeOf(&g.bound[i]))
	}
	return all
}

// everybody is how many contacts have ever been named.
func (g *registrar) everybody() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.asked)
}
