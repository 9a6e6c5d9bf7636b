package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/billing"
)

// readJSON reads the body of a request, limit bytes at most, into v.
func readJSON(w http.ResponseWriter, r *http.Request, limit int64, v any) error {
	body, err := io.ReadAll(bounded(w, r, limit))
	if err != nil {
		return ReadError(err)
	}
	if json.Unmarshal(body, v) != nil {
		return ErrBadRequest
	}
	return nil
}

// routes is a mux as a server has it.
func routes() *http.ServeMux {
	a := New(nil)
	MountPricing(a, billing.DefaultRateCard)
	mux := a.mux
	mux.HandleFunc("POST /things", func(w http.ResponseWriter, r *http.Request) {
		var v struct{ Name string }
		if err := readJSON(w, r, 100, &v); err != nil {
			WriteError(w, err)
			return
		}
		WriteJSON(w, 201, v)
	})
	mux.HandleFunc("DELETE /things", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) })
	mux.HandleFunc("GET /private", func(w http.ResponseWriter, r *http.Request) {
		p, err := Authenticate(rated, r, Service)
		if err != nil {
			WriteError(w, err)
			return
		}
		io.WriteString(w, p.Account)
	})
	mux.HandleFunc("GET /panic", func(http.ResponseWriter, *http.Request) { panic("sk_secret") })
	mux.HandleFunc("GET /late", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(202)
		panic(errors.New("sk_secret"))
	})
	mux.Handle("GET /broken", HandlerFunc(func(http.ResponseWriter, *http.Request) error { return errors.New("the column is not there") }))
	mux.HandleFunc("GET /abort", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	return mux
}

func send(h http.Handler, method, target, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	for i := 0; i < len(header); i += 2 {
		if header[i] == "from" {
			r.RemoteAddr = header[i+1]
		} else {
			r.Header.Add(header[i], header[i+1])
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestRoutes(t *testing.T) {
	bare, full := routes(), routes()
	full.Handle("/", Fallback())
	for _, mux := range []*http.ServeMux{bare, full} {
		h := Wrap(mux, Options{})
		for _, tt := range []struct {
			method, path, body string
			status             int
			code, allow        string
		}{
			{"GET", "/v1/pricing", "", 200, `"version"`, ""},
			{"HEAD", "/v1/pricing", "", 200, "", ""},
			{"POST", "/v1/pricing", "", 405, "request.method_not_allowed", "GET, HEAD"},
			{"GET", "/things", "", 405, "request.method_not_allowed", "POST, DELETE"},
			{"GET", "/nothing", "", 404, "request.not_found", ""},
			{"PUT", "/", "", 404, "request.not_found", ""},
			{"POST", "/things", `{"name":"x","more":1}`, 201, `"x"`, ""},
			{"POST", "/things", `{"name":`, 400, "validation.invalid_request_format", ""},
			{"POST", "/things", `{"name":"` + strings.Repeat("x", 100) + `"}`, 413, "request.too_large", ""},
			{"GET", "/panic", "", 500, "internal.error", ""},
			{"GET", "/late", "", 202, "", ""},
		} {
			w := send(h, tt.method, tt.path, tt.body)
			if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.code) || w.Header().Get("Allow") != tt.allow {
				t.Errorf("%s %s: %d %v %.100s, want %d %s %s", tt.method, tt.path, w.Code, w.Header(), w.Body, tt.status, tt.code, tt.allow)
			}
			if w.Header().Get("X-Content-Type-Options") != "nosniff" || w.Header().Get("Referrer-Policy") != "no-referrer" {
				t.Errorf("%s %s: header %v", tt.method, tt.path, w.Header())
			}
		}
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/v1/pricing", nil)) // it is still there
	}
}

func TestPricing(t *testing.T) {
	w := send(Wrap(routes(), Options{}), "GET", "/v1/pricing", "", "Origin", "https://shop.example")
	h := w.Header()
	if h.Get("Access-Control-Allow-Origin") != "*" || h.Get("Cache-Control") != "public, max-age=300" || h.Get("Content-Type") != "application/json" {
		t.Errorf("header %v", h)
	}
	if !bytes.Equal(w.Body.Bytes(), billing.DefaultRateCard().JSON()) {
		t.Errorf("body %.80s", w.Body)
	}
	if got := send(Wrap(routes(), Options{}), "GET", "/private", "").Header().Get("Cache-Control"); got != "no-store" {
		t.Errorf("of others: Cache-Control %q", got)
	}
}

func TestAbortIsLeftToTheServer(t *testing.T) {
	defer func() {
		if recover() != http.ErrAbortHandler {
			t.Error("the panic was swallowed")
		}
	}()
	send(Wrap(routes(), Options{}), "GET", "/abort", "")
}

// closings are the ends of a server's connections, in their order: a half is its
// sending side alone.
type closings struct {
	net.Listener
	half chan bool
}

type closing struct {
	*net.TCPConn
	half chan<- bool
}

func (l closings) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return closing{conn.(*net.TCPConn), l.half}, nil
}

func (c closing) CloseWrite() error {
	c.half <- true
	return c.TCPConn.CloseWrite()
}

func (c closing) Close() error {
	c.half <- false
	return c.TCPConn.Close()
}

// TestTooLargeIsHeard: a client that still sends its body, having been told to go
// on, is not cut off before it can read that it is too large.
func TestTooLargeIsHeard(t *testing.T) {
	for _, tt := range []struct{ name, method, path string }{
		{"a handler that reads the body", "POST", "/public"},
		{"a handler that is given the body", "PUT", "/notes/1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := httptest.NewUnstartedServer(testAPI())
			half := make(chan bool, 10)
			s.Listener = closings{s.Listener, half}
			s.Start()
			defer s.Close()
			req, err := http.NewRequest(tt.method, s.URL+tt.path, io.MultiReader(strings.NewReader(strings.Repeat(" ", 2<<20))))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Expect", "100-continue")
			req.Header.Set("Authorization", "Bearer sk_a")
			resp, err := s.Client().Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if resp.StatusCode != http.StatusRequestEntityTooLarge || !<-half {
				t.Errorf("status %d, or hung up at once", resp.StatusCode)
			}
		})
	}
}

// TestLog: each request has its line, and an internal error one with its cause, which the client does not learn. No line holds a
// credential.
func TestLog(t *testing.T) {
	var out bytes.Buffer
	h := Wrap(routes(), Options{Log: slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	send(h, "GET", "/private?api_key=sk_secret&x=1", "", "X-API-Key", "sk_secret", "Authorization", "Bearer sk_secret", "from", "192.0.2.7:1")
	send(h, "GET", "/panic?api_key=sk_secret", "")
	send(h, "GET", "/late?api_key=sk_secret", "")
	if w := send(h, "GET", "/broken?api_key=sk_secret", ""); w.Code != 500 || strings.Contains(w.Body.String(), "column") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	for _, want := range []string{"level=ERROR msg=\"a request failed\" request=req_", " method=GET path=/broken err=\"the column is not there\"", "path=/private status=401 from=192.0.2.7", "a request panicked", "path=/panic status=500", "path=/late status=202", "wrap_test.go"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in the log", want)
		}
	}
	if strings.Contains(out.String(), "sk_secret") || strings.Contains(out.String(), "api_key") {
		t.Errorf("the log holds a credential:\n%s", out.String())
	}
}

// TestFailedCredentials: ten a minute for an address, and then nobody is asked
// about credentials from there except those that were right before.
func TestFailedCredentials(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := Wrap(routes(), Options{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}})
		try := func(key, from, forwarded string) int {
			return send(h, "GET", "/private", "", "X-API-Key", key, "from", from, "X-Forwarded-For", forwarded).Code
		}
		if got := try("sk_good", "10.0.0.1:1", "192.0.2.1"); got != 200 {
			t.Fatalf("status %d", got)
		}
		for i := range 15 {
			want := 401
			if i >= 10 {
				want = 429
			}
			if got := try(fmt.Sprint("sk_bad", i), "10.0.0.1:1", "192.0.2.1"); got != want {
				t.Errorf("attempt %d: status %d, want %d", i, got, want)
			}
		}
		for _, tt := range []struct {
			name, key, from, forwarded string
			want                       int
		}{
			{"known to be right", "sk_good", "10.0.0.1:1", "192.0.2.1", 200},
			{"right, not seen before", "sk_other", "10.0.0.1:1", "192.0.2.1", 429},
			{"another address", "sk_other", "10.0.0.1:1", "192.0.2.2", 200},
			{"the address forged before a proxy's word", "sk_bad", "10.0.0.1:1", "192.0.2.9, 192.0.2.1", 429},
			{"no proxy of ours", "sk_bad", "192.0.2.3:1", "192.0.2.1", 401},
			{"no credential", "", "10.0.0.1:1", "192.0.2.1", 401},
		} {
			if got := try(tt.key, tt.from, tt.forwarded); got != tt.want {
				t.Errorf("%s: status %d, want %d", tt.name, got, tt.want)
			}
		}
		time.Sleep(6 * time.Second)
		if got := try("sk_bad", "10.0.0.1:1", "192.0.2.1"); got != 401 {
			t.Errorf("after 6 s: status %d, want 401", got)
		}
	})
}

func TestClientAddr(t *testing.T) {
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128")}
	for _, tt := range []struct {
		peer      string
		forwarded []string
		want      string
	}{
		{"192.0.2.1:5", nil, "192.0.2.1"},
		{"192.0.2.1:5", []string{"203.0.113.1"}, "192.0.2.1"},
		{"10.0.0.1:5", nil, "10.0.0.1"},
		{"10.0.0.1:5", []string{"203.0.113.1"}, "203.0.113.1"},
		{"10.0.0.1:5", []string{"198.51.100.1, 203.0.113.1, 10.0.0.2"}, "203.0.113.1"},
		{"10.0.0.1:5", []string{"198.51.100.1", "203.0.113.1"}, "203.0.113.1"},
		{"10.0.0.1:5", []string{"203.0.113.1, nonsense"}, "10.0.0.1"},
		{"10.0.0.1:5", []string{"10.0.0.3,10.0.0.2"}, "10.0.0.3"},
		{"[::ffff:10.0.0.1]:5", []string{"2001:db8::1"}, "2001:db8::/64"},
		{"[::1]:5", []string{"::ffff:203.0.113.1"}, "203.0.113.1"},
		{"pipe", nil, "invalid IP"},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = tt.peer
		for _, f := range tt.forwarded {
			r.Header.Add("X-Forwarded-For", f)
		}
		if got := network(clientAddr(r, proxies)); got != tt.want {
			t.Errorf("%s %v: %s, want %s", tt.peer, tt.forwarded, got, tt.want)
		}
	}
}
