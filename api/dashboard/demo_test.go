package dashboard_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"parley/api/dashboard"
	"parley/api/dashboard/dashboardtest"
	"parley/store"
)

// from is a request of a page as it arrives from an address.
func from(s *dashboardtest.Site, remote, host string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("GET", "/app/people", nil)
	r.RemoteAddr, r.Host = remote, host
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	s.Handler.ServeHTTP(w, r)
	return w
}

// TestDemoNeedsNoPassword only from this machine, to a name that only this machine has,
// and passed on by nobody; also where the browser has a session that began so.
func TestDemoNeedsNoPassword(t *testing.T) {
	s := dashboardtest.NewSite(t, dashboardtest.Options{Change: func(s *dashboardtest.Site, d *dashboard.Services) { d.Demo = s.Account }})
	first := from(s, "127.0.0.1:4000", "localhost:8080")
	c := cookieOf(dashboardtest.Answer{Header: first.Header()})
	if first.Code != 200 || c == nil || !strings.Contains(first.Body.String(), "Demonstration") {
		t.Fatalf("%d %v", first.Code, first.Header())
	}
	for _, tt := range []struct {
		name, remote, host string
		header             []string
		want               int
	}{
		{"IPv4", "127.0.0.1:1", "127.0.0.1:8080", nil, 200},
		{"without a port", "127.0.0.1:1", "LOCALHOST", nil, 200},
		{"another loopback address", "127.8.9.1:1", "127.0.0.2", nil, 200},
		{"IPv6", "[::1]:1", "[::1]:8080", nil, 200},
		{"IPv6 without a port", "[::1]:1", "[::1]", nil, 200},
		{"IPv4 in IPv6", "[::ffff:127.0.0.1]:1", "127.0.0.1", nil, 200},
		{"another machine", "192.0.2.1:1", "127.0.0.1:8080", nil, 303},
		{"another machine in IPv6", "[2001:db8::1]:1", "localhost", nil, 303},
		{"a name that leads here", "127.0.0.1:1", "evil.example:8080", nil, 303},
		{"a name that looks like it", "127.0.0.1:1", "localhost.evil.example", nil, 303},
		{"a number that looks like it", "127.0.0.1:1", "127.0.0.1.evil.example", nil, 303},
		{"no name", "127.0.0.1:1", "", nil, 303},
		{"a proxy", "127.0.0.1:1", "localhost", []string{"X-Forwarded-For", "127.0.0.1"}, 303},
		{"a proxy of another kind", "127.0.0.1:1", "localhost", []string{"Forwarded", "for=127.0.0.1"}, 303},
		{"a proxy that names the host", "127.0.0.1:1", "localhost", []string{"X-Forwarded-Host", "localhost"}, 303},
		{"a proxy that says little", "127.0.0.1:1", "localhost", []string{"x-forwarded-proto", "http"}, 303},
	} {
		for _, cookie := range []string{"", cookieIn(c)} {
			header := tt.header
			if cookie != "" {
				header = append([]string{"Cookie", cookie}, tt.header...)
			}
			w := from(s, tt.remote, tt.host, header...)
			if w.Code != tt.want {
				t.Errorf("%s (with a session: %v): %d", tt.name, cookie != "", w.Code)
			}
			if fresh := cookieOf(dashboardtest.Answer{Header: w.Header()}); (fresh != nil) != (tt.want == 200 && cookie == "") {
				t.Errorf("%s: a cookie: %v", tt.name, fresh)
			}
		}
	}
	// The API takes such a session under the same conditions.
	ask := func(remote string) int {
		r := httptest.NewRequest("GET", "/v1/balance", nil)
		r.RemoteAddr, r.Host = remote, "localhost"
		r.Header.Set("Cookie", cookieIn(c))
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		w := httptest.NewRecorder()
		s.Handler.ServeHTTP(w, r)
		return w.Code
	}
	if here, there := ask("127.0.0.1:1"), ask("192.0.2.1:1"); here != 200 || there != http.StatusUnauthorized {
		t.Errorf("the API: %d here, %d elsewhere", here, there)
	}
	// What is not a page does not open a session.
	r := httptest.NewRequest("POST", "/app/people", strings.NewReader("email=eve%40example.com"))
	r.RemoteAddr, r.Host = "127.0.0.1:1", "localhost"
	w := httptest.NewRecorder()
	if s.Handler.ServeHTTP(w, r); w.Code != http.StatusSeeOther {
		t.Errorf("a form without a session: %d", w.Code)
	}
	// Nobody has a password for the demonstration's user.
	if a := s.Ask(s.NewClient(), "POST", "/app/sign-in", "email=demo%40localhost&password=", "Content-Type", "application/x-www-form-urlencoded"); cookieOf(a) != nil {
		t.Error("the demonstration's user signs in")
	}
}

// TestDemoAsSomebodyElse: whoever tries people out on one machine signs out, opens the
// invitation as the colleague, and comes back.
func TestDemoAsSomebodyElse(t *testing.T) {
	s := dashboardtest.NewSite(t, dashboardtest.Options{Change: func(s *dashboardtest.Site, d *dashboard.Services) { d.Demo = s.Account }})
	s.Get("/app/")
	_, token, err := s.DB.Invite(t.Context(), s.Account, "noor@example.com", store.RoleMember, s.User, s.Stamp())
	s.OK(err)
	invitation := "/app/invitation?token=" + token
	if a := s.Get(invitation); !strings.Contains(a.Body, "You are signed in as demo@localhost") {
		t.Errorf("while the demonstration is open: %d", a.Status)
	}
	if a := s.Post("/app/sign-out"); a.Header.Get("Location") != "/app/sign-in" {
		t.Errorf("after signing out: %v", a.Header)
	}
	if a := s.Get("/app/sign-in"); a.Status != 200 || !strings.Contains(a.Body, "Open the demonstration") || cookieOf(a) != nil {
		t.Errorf("the sign-in: %d", a.Status)
	}
	if a := s.Get(invitation); a.Status != 200 || !strings.Contains(a.Body, "Choose a password") {
		t.Fatalf("the invitation: %d %s", a.Status, a.Body)
	}
	if a := s.Post("/app/invitation", "token", token, "password", s.Password, "again", s.Password); a.Status != http.StatusSeeOther {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	if a := s.Get("/app/me"); !strings.Contains(a.Body, "noor@example.com") {
		t.Error("the colleague is not signed in")
	}
	if a := s.Get("/app/people"); a.Status != http.StatusForbidden {
		t.Errorf("a member sees the people: %d", a.Status)
	}
	s.Post("/app/sign-out")
	if a := s.Get("/app/people"); a.Status != 200 {
		t.Errorf("the demonstration does not open again: %d", a.Status)
	}
}

// TestNoDemoNoDoor: the same browser at the same address finds a closed door when the
// server is started as usual.
func TestNoDemoNoDoor(t *testing.T) {
	s := dashboardtest.NewSite(t, dashboardtest.Options{})
	token, err := s.DB.OpenBrowser(t.Context(), s.User, true, s.Stamp()) // of an earlier demonstration
	s.OK(err)
	for _, cookie := range []string{"", "parley=" + token} {
		if w := from(s, "127.0.0.1:1", "localhost", "Cookie", cookie); w.Code != http.StatusSeeOther {
			t.Errorf("%q: %d", cookie, w.Code)
		}
	}
}

// TestSecureCookie: where browsers come by https, the cookie goes nowhere else.
func TestSecureCookie(t *testing.T) {
	s := dashboardtest.NewSite(t, dashboardtest.Options{Change: func(_ *dashboardtest.Site, d *dashboard.Services) { d.Secure = true }})
	a := s.Post("/app/sign-in", "email", s.Email, "password", s.Password)
	c := cookieOf(a)
	if c == nil || c.Name != "__Host-parley" || !c.Secure || c.Path != "/" || c.Domain != "" {
		t.Fatalf("%+v", c)
	}
	// A cookie of the name that http has, which others can set, is not looked at.
	if a := s.Ask(s.NewClient(), "GET", "/app/people", "", "Cookie", "parley="+c.Value); a.Status != http.StatusSeeOther {
		t.Errorf("another name: %d", a.Status)
	}
	if a := s.Ask(s.NewClient(), "GET", "/app/people", "", "Cookie", cookieIn(c)); a.Status != 200 {
		t.Errorf("its own: %d", a.Status)
	}
}
