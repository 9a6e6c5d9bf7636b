package tool

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"
)

// noNames is a resolver that knows nothing.
type noNames struct{}

func (noNames) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return nil, &net.DNSError{IsNotFound: true}
}

// TestPosterRefuses: addresses inside, when they are written and when something is sent.
func TestPosterRefuses(t *testing.T) {
	p := guard(t, noNames{}).Poster()
	for _, address := range strings.Fields(`https://127.0.0.1/ https://[::1]/ https://[::ffff:127.0.0.1]/ https://10.1.2.3/ https://169.254.169.254/latest https://100.64.0.1/
		https://[fe80::1%25eth0]/ https://[64:ff9b::7f00:1]/ https://[2002:7f00:1::]/ https://localhost/ https://a.localhost./ https://example.com:22/ http://example.com/ https://8.8.8.8:22/ http://8.8.8.8/ ftp://8.8.8.8/ https:///x 8.8.8.8 https://0.0.0.0/`) {
		refused, is := errors.AsType[*Refused](p.Check(address))
		if !is {
			t.Errorf("%s may be written down", address)
		} else if strings.Contains(refused.Text, "latest") {
			t.Errorf("%s: %s", address, refused.Text)
		}
		if _, err := p.Post(t.Context(), address, http.Header{}, nil); err == nil {
			t.Errorf("something is sent to %s", address)
		}
	}
	for _, address := range []string{"https://example.com/x?key=1", "https://8.8.8.8/", "https://example.com:8443/"} {
		if err := p.Check(address); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// lookedUp is a resolver that nobody may ask.
type lookedUp struct{ t *testing.T }

func (l lookedUp) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	l.t.Errorf("%s was looked up", host)
	return nil, errors.New("asked")
}

// TestNamesTellNothing: whether a name leads inside, outside or nowhere is found out by
// nobody who writes it down, and what is sent there fails in the same words.
func TestNamesTellNothing(t *testing.T) {
	check := guard(t, lookedUp{t}).Poster()
	for _, host := range []string{"crm.lan", "example.com", "no-such.example"} {
		if err := check.Check("https://" + host + "/"); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
	inside := guard(t, &fakeNames{answers: [][]netip.Addr{addrs("10.0.0.7")}}).Poster()
	nowhere := guard(t, noNames{}).Poster()
	_, one := inside.Post(t.Context(), "https://crm.lan/", http.Header{}, nil)
	_, two := nowhere.Post(t.Context(), "https://crm.lan/", http.Header{}, nil)
	if one == nil || two == nil || one.Error() != two.Error() {
		t.Errorf("%v, %v", one, two)
	}
	// Where the operator allows a network, a name may lead there: any port, and without TLS.
	if err := guard(t, lookedUp{t}, "10.0.0.0/8").Poster().Check("http://crm.lan:81/"); err != nil {
		t.Error(err)
	}
	if err := guard(t, lookedUp{t}, "crm.lan").Poster().Check("http://CRM.lan:81/"); err != nil {
		t.Error(err)
	}
}

// TestPosterOfNameThatChanges: what was public when it was written down is judged again.
func TestPosterOfNameThatChanges(t *testing.T) {
	reached := false
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	defer s.Close()
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	p := guard(t, &fakeNames{answers: [][]netip.Addr{addrs("127.0.0.1")}}).Poster()
	address := "https://example.com:" + u.Port() + "/"
	if err := p.Check(address); err != nil {
		t.Fatal(err)
	}
	_, err = p.Post(t.Context(), address, http.Header{}, nil)
	if _, is := errors.AsType[*Refused](err); !is || reached {
		t.Errorf("%v, reached: %v", err, reached)
	}
}

func TestPost(t *testing.T) {
	stop := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/elsewhere":
			http.Redirect(w, r, "/taken", http.StatusTemporaryRedirect)
		case "/silent":
			<-stop
		case "/endless":
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 4<<10)); err != nil {
					return
				}
			}
		default:
			body, _ := io.ReadAll(r.Body)
			_, _ = io.WriteString(w, r.Method+" "+r.Header.Get("Content-Type")+" "+r.Header.Get("X")+" "+string(body)+"\xff\x00")
		}
	}))
	defer s.Close()
	defer close(stop)
	p := guard(t, nil, "127.0.0.0/8").Poster()
	p.patience = 200 * time.Millisecond
	post := func(path string) (Posted, error) {
		return p.Post(t.Context(), s.URL+path, http.Header{"X": {"y"}}, []byte(`{}`))
	}
	if a, err := post("/silent?key=hunter2"); err == nil || a.Status != 0 || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("%+v, %v", a, err)
	}
	p.patience = time.Minute
	if a, err := post("/taken"); err != nil || a.Status != 200 || a.Text != "POST application/json y {}\uFFFD\uFFFD" {
		t.Errorf("%+v, %v", a, err)
	}
	if a, err := post("/elsewhere"); err != nil || a.Status != 307 {
		t.Errorf("a redirect: %+v, %v", a, err)
	}
	if a, err := post("/endless"); err != nil || a.Status != 200 || len(a.Text) != 1024*len("\uFFFD") {
		t.Errorf("%d bytes, %d, %v", len(a.Text), a.Status, err)
	}
}
