package tool

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
)

func TestPublic(t *testing.T) {
	for _, s := range strings.Fields(`127.0.0.1 127.255.0.9 ::1 ::ffff:127.0.0.1 0.0.0.0 :: 10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1
		::ffff:10.0.0.1 169.254.169.254 ::ffff:169.254.169.254 fe80::1 fe80::1%eth0 2606:4700::1%eth0 fc00::1 fd12::1 224.0.0.1 239.1.1.1 ff02::1 ff0e::1
		100.64.0.1 100.127.255.255 192.0.0.1 192.0.2.1 198.18.0.1 198.51.100.1 203.0.113.9 240.0.0.1 255.255.255.255
		64:ff9b::7f00:1 64:ff9b::a9fe:a9fe 64:ff9b::a00:1 64:ff9b:1::1 2002:7f00:1:: 2002:a9fe:a9fe:: 2001::1 2001:db8::1 ::127.0.0.1 fec0::1 3fff::1 5f00::1`) {
		if public(netip.MustParseAddr(s)) {
			t.Errorf("%s counts as public", s)
		}
	}
	for _, s := range strings.Fields("1.1.1.1 8.8.8.8 172.32.0.1 100.128.0.1 169.253.0.1 2606:4700::1111 ::ffff:1.1.1.1 64:ff9b::101:101 2a00:1450::5") {
		if !public(netip.MustParseAddr(s)) {
			t.Errorf("%s does not count as public", s)
		}
	}
}

// fakeNames is a resolver that says what a test wants, one answer after another.
type fakeNames struct {
	answers [][]netip.Addr
	asked   atomic.Int32
}

func (f *fakeNames) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	n := int(f.asked.Add(1)) - 1
	return f.answers[min(n, len(f.answers)-1)], nil
}

func addrs(list ...string) []netip.Addr {
	out := make([]netip.Addr, len(list))
	for i, s := range list {
		out[i] = netip.MustParseAddr(s)
	}
	return out
}

func guard(t *testing.T, names Resolver, allow ...string) *Guard {
	t.Helper()
	g, err := NewGuard(allow, names)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// counted is a server on loopback that says how often it was reached.
func counted(t *testing.T, h http.HandlerFunc) (*url.URL, *atomic.Int32) {
	t.Helper()
	var n atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n.Add(1)
		if h != nil {
			h(w, r)
		}
	}))
	t.Cleanup(s.Close)
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	return u, &n
}

func get(t *testing.T, c *http.Client, address string) error {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Key", "hunter22")
	res, err := c.Do(r)
	if err == nil {
		_, _ = io.Copy(io.Discard, res.Body)
		res.Body.Close()
	}
	return err
}

func refused(err error) bool {
	_, ok := errors.AsType[*Refused](err)
	return ok
}

func TestGuardRefuses(t *testing.T) {
	server, reached := counted(t, nil)
	port := server.Port()
	g := guard(t, &fakeNames{answers: [][]netip.Addr{addrs("127.0.0.1", "::1", "169.254.169.254")}})
	for _, address := range []string{"http://127.0.0.1:" + port, "http://localhost:" + port, "http://[::ffff:127.0.0.1]:" + port, "http://0.0.0.0:" + port,
		"http://[::]:" + port, "https://127.0.0.1:" + port, "http://169.254.169.254/latest/meta-data", "https://inside.example:" + port, "ftp://1.1.1.1/",
		"http://1.1.1.1/", "https://1.1.1.1:25/", "https://1.1.1.1:22/"} {
		if err := get(t, g.Client(), address); !refused(err) {
			t.Errorf("%s: %v", address, err)
		}
	}
	if n := reached.Load(); n != 0 {
		t.Errorf("reached %d times", n)
	}
}

// TestRebinding: a name that was public when it was judged and is not when it is
// connected to leads nowhere, however often it changes.
func TestRebinding(t *testing.T) {
	server, reached := counted(t, nil)
	names := &fakeNames{answers: [][]netip.Addr{addrs("192.0.2.1"), addrs("127.0.0.1")}}
	// 192.0.2.0/24 stands for the public Internet here: nobody answers there.
	g := guard(t, names, "192.0.2.0/24")
	g.names = names
	for range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		if names.asked.Load() == 0 {
			cancel() // connecting to nobody takes long
		}
		conn, err := g.dial(ctx, "tcp", "rebinding.example:"+server.Port())
		cancel()
		if err == nil {
			conn.Close()
			t.Fatal("connected")
		}
	}
	if n := reached.Load(); n != 0 {
		t.Errorf("reached %d times", n)
	}
	// And on the socket itself, whatever was resolved before.
	names = &fakeNames{answers: [][]netip.Addr{addrs("127.0.0.1")}}
	if _, err := guard(t, names).dial(t.Context(), "tcp", "rebinding.example:"+server.Port()); !refused(err) {
		t.Errorf("%v", err)
	}
}

func TestGuardAllows(t *testing.T) {
	server, reached := counted(t, nil)
	names := &fakeNames{answers: [][]netip.Addr{addrs("127.0.0.1")}}
	for _, tt := range []struct{ allow, host string }{{"127.0.0.0/8", "127.0.0.1"}, {"127.0.0.1", "crm.lan"}, {"crm.lan", "CRM.lan"}, {"crm.lan", "crm.lan."}} {
		if err := get(t, guard(t, names, tt.allow).Client(), "http://"+tt.host+":"+server.Port()); err != nil {
			t.Errorf("%v: %v", tt, err)
		}
	}
	if n := reached.Load(); n != 4 {
		t.Errorf("reached %d times", n)
	}
	for _, allow := range []string{"", "*", "http://crm.lan", "a b", "10.0.0.0/99"} {
		if _, err := NewGuard([]string{allow}, nil); err == nil {
			t.Errorf("%q was taken", allow)
		}
	}
}

// TestGuardRefusesItself: requests of accounts do not come back to this server at its public
// address, unless the operator allows it.
func TestGuardRefusesItself(t *testing.T) {
	own, other := netip.MustParseAddr("1.1.1.1"), netip.MustParseAddr("1.0.0.1")
	g, allowed := guard(t, nil), guard(t, nil, "us.example")
	for _, g := range []*Guard{g, allowed} {
		g.Refuse(netip.Addr{}, netip.MustParseAddr("::ffff:1.1.1.1"))
	}
	for _, tt := range []struct {
		g       *Guard
		host    string
		ip      netip.Addr
		refused bool
	}{
		{g, "1.1.1.1", own, true}, {g, "us.example", own, true}, {g, "us.example", netip.MustParseAddr("::ffff:1.1.1.1"), true},
		{g, "us.example", other, false}, {allowed, "us.example", own, false}, {allowed, "1.1.1.1", own, true},
	} {
		if err := tt.g.judge(t.Context(), tt.host, tt.ip, "443"); refused(err) != tt.refused {
			t.Errorf("%s at %s: %v", tt.host, tt.ip, err)
		}
	}
}

func TestRedirects(t *testing.T) {
	seen := make(chan http.Header, 10)
	other, _ := counted(t, func(_ http.ResponseWriter, r *http.Request) { seen <- r.Header })
	inside, reachedInside := counted(t, nil)
	names := &fakeNames{answers: [][]netip.Addr{addrs("127.0.0.1")}}
	server, reached := counted(t, func(w http.ResponseWriter, r *http.Request) {
		to := map[string]string{"/same": "/end", "/other": "http://other.lan:" + other.Port(), "/metadata": "http://169.254.169.254/latest/",
			"/inside": "http://inside.lan:" + inside.Port(), "/for-ever": "/for-ever", "/scheme": "file:///etc/passwd"}[r.URL.Path]
		if to == "" {
			seen <- r.Header
			return
		}
		http.Redirect(w, r, to, http.StatusTemporaryRedirect)
	})
	c := guard(t, names, "start.lan", "other.lan").Client()
	base := "http://start.lan:" + server.Port()
	if err := get(t, c, base+"/same"); err != nil {
		t.Error(err)
	} else if h := <-seen; h.Get("X-Key") != "hunter22" {
		t.Errorf("the same host got %v", h)
	}
	if err := get(t, c, base+"/other"); err != nil {
		t.Error(err)
	} else if h := <-seen; h.Get("X-Key") != "" || h.Get("Referer") != "" {
		t.Errorf("another host got %v", h)
	}
	for _, path := range []string{"/metadata", "/inside", "/for-ever", "/scheme"} {
		before := reached.Load()
		if err := get(t, c, base+path); !refused(err) {
			t.Errorf("%s: %v", path, err)
		}
		if n := reached.Load() - before; n > maxRedirects+1 {
			t.Errorf("%s: %d requests", path, n)
		}
	}
	if reachedInside.Load() != 0 {
		t.Error("a redirect led inside")
	}
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/other", strings.NewReader("{}"))
	if res, err := c.Do(r); !refused(err) {
		t.Errorf("what was sent went elsewhere: %v %v", res, err)
	}
}
