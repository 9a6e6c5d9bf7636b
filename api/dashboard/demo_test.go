package dashboard_test

import (
	"parley/store/people"

	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"parley/api/dashboard"
	"parley/api/dashboard/dashboardtest"
	"parley/billing"

	"parley/store/ledger"
)

// newDemo is a site that is a demonstration, and a maker of links to it.
func newDemo(t *testing.T) (*dashboardtest.Site, *dashboard.DemoLinks) {
	var links dashboard.DemoLinks
	return dashboardtest.NewSite(t, dashboardtest.Options{Change: func(s *dashboardtest.Site, d *dashboard.Options) {
		d.Demo, d.DemoLinks = s.Account, &links
	}}), &links
}

// TestNobodyIsSignedInByAddress: where a packet came from, or what it says of that, opens
// nothing in a demonstration.
func TestNobodyIsSignedInByAddress(t *testing.T) {
	s, _ := newDemo(t)
	for _, tt := range []struct {
		remote, host string
		header       []string
	}{
		{"127.0.0.1:1", "127.0.0.1:8080", nil},
		{"127.0.0.1:1", "localhost", nil},
		{"[::1]:1", "[::1]:8080", nil},
		{"127.0.0.1:1", "localhost:8080", []string{"X-Forwarded-For", "127.0.0.1"}},
		{"192.0.2.1:1", "localhost", nil},
	} {
		for _, path := range []string{"/app/", "/app/people", "/app/operator", "/v1/balance", "/app/demo", "/app/demo?token=", "/app/demo?token=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"} {
			r := httptest.NewRequest("GET", path, nil)
			r.RemoteAddr, r.Host = tt.remote, tt.host
			r.Header.Set("Sec-Fetch-Site", "same-origin")
			for i := 0; i+1 < len(tt.header); i += 2 {
				r.Header.Set(tt.header[i], tt.header[i+1])
			}
			w := httptest.NewRecorder()
			s.Handler.ServeHTTP(w, r)
			if w.Code < 300 || cookieOf(dashboardtest.Answer{Header: w.Header()}) != nil {
				t.Errorf("%s from %s: %d %v", path, tt.remote, w.Code, w.Header())
			}
		}
	}
}

// TestDemoLink opens the demonstration once, leads to an address without its token, and
// signs in who owns the account and is no operator.
func TestDemoLink(t *testing.T) {
	s, links := newDemo(t)
	link := links.New()
	token := regexp.MustCompile(`^/app/demo\?token=([A-Za-z0-9_-]{43})$`).FindStringSubmatch(link)
	if token == nil {
		t.Fatalf("the link is %s", link)
	}
	s.Ask(s.NewClient(), "HEAD", link, "") // what previews links does not use it up
	a := s.Get(link)
	if a.Status != http.StatusSeeOther || a.Header.Get("Location") != "/app/" || cookieOf(a) == nil || a.Header.Get("Referrer-Policy") != "no-referrer" {
		t.Fatalf("%d %v", a.Status, a.Header)
	}
	if strings.Contains(cookieOf(a).Value, token[1]) {
		t.Error("the cookie is the token")
	}
	if a := s.Get("/app/people"); a.Status != 200 || !strings.Contains(a.Body, "Demonstration") || strings.Contains(a.Body, "/app/operator") {
		t.Errorf("the pages: %d", a.Status)
	}
	if a := s.Get("/app/operator"); a.Status != http.StatusForbidden {
		t.Errorf("an operator's page: %d", a.Status)
	}
	if a := s.Ask(s.NewClient(), "GET", link, ""); a.Status != http.StatusNotFound || cookieOf(a) != nil {
		t.Errorf("the link once more: %d", a.Status)
	}
	// Nobody has a password for the demonstration's user.
	if a := s.Ask(s.NewClient(), "POST", "/app/sign-in", "email=demo%40localhost&password=", "Content-Type", "application/x-www-form-urlencoded"); cookieOf(a) != nil {
		t.Error("the demonstration's user signs in")
	}
	// Of many links the latest are good.
	first := links.New()
	for range 16 {
		link = links.New()
	}
	if a := s.Ask(s.NewClient(), "GET", first, ""); a.Status != http.StatusNotFound {
		t.Errorf("the oldest of many links: %d", a.Status)
	}
	if a := s.Ask(s.NewClient(), "GET", link, ""); a.Status != http.StatusSeeOther {
		t.Errorf("the latest: %d", a.Status)
	}
}

// TestDemoLinksByKey: an owner's key of the demonstration's account makes links, no other.
func TestDemoLinksByKey(t *testing.T) {
	s, _ := newDemo(t)
	other := s.NewUser("luis@example.com", people.RoleMember)
	account, err := ledger.New(s.DB).OwnAccount(t.Context(), other, "Another", billing.DefaultRateCard())
	s.OK(err)
	for _, tt := range []struct {
		account, role string
		want          int
	}{{s.Account, people.RoleOwner, 201}, {s.Account, people.RoleMember, 403}, {account.ID, people.RoleOwner, 404}} {
		_, key, err := people.New(s.DB).MakeKey(t.Context(), people.NewKey{Account: tt.account, Name: "test", Role: tt.role})
		s.OK(err)
		a := s.Ask(s.NewClient(), "POST", "/v1/demonstration-links", "", "X-API-Key", key)
		if a.Status != tt.want {
			t.Errorf("%s of %s: %d %s", tt.role, tt.account, a.Status, a.Body)
		}
		if tt.want == 201 {
			var made struct{ Path string }
			a.JSON(t, &made)
			if a := s.Ask(s.NewClient(), "GET", made.Path, ""); a.Status != http.StatusSeeOther || cookieOf(a) == nil {
				t.Errorf("the link: %d", a.Status)
			}
		}
	}
}

// TestDemoAsSomebodyElse: whoever tries people out on one machine signs out, opens the
// invitation as the colleague, and comes back with another link.
func TestDemoAsSomebodyElse(t *testing.T) {
	s, links := newDemo(t)
	s.Get(links.New())
	_, token, err := people.New(s.DB).Invite(t.Context(), s.Account, "noor@example.com", people.RoleMember, s.User)
	s.OK(err)
	invitation := "/app/invitation?token=" + token
	if a := s.Get(invitation); !strings.Contains(a.Body, "You are signed in as demo@localhost") {
		t.Errorf("while the demonstration is open: %d", a.Status)
	}
	if a := s.Post("/app/sign-out"); a.Header.Get("Location") != "/app/sign-in" {
		t.Errorf("after signing out: %v", a.Header)
	}
	if a := s.Get("/app/sign-in"); a.Status != 200 || !strings.Contains(a.Body, "parley demo link") || cookieOf(a) != nil {
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
	s.Get(links.New())
	if a := s.Get("/app/people"); a.Status != 200 {
		t.Errorf("the demonstration does not open again: %d", a.Status)
	}
}

// TestNoDemoNoDoor: the browser of an earlier demonstration finds a closed door when the
// server is started as usual, and there are no links.
func TestNoDemoNoDoor(t *testing.T) {
	s := dashboardtest.NewSite(t, dashboardtest.Options{})
	token, err := people.New(s.DB).OpenBrowser(t.Context(), s.User, true) // of an earlier demonstration
	s.OK(err)
	for _, cookie := range []string{"", "parley=" + token} {
		if a := s.Ask(s.NewClient(), "GET", "/app/people", "", "Cookie", cookie); a.Status != http.StatusSeeOther {
			t.Errorf("%q: %d", cookie, a.Status)
		}
	}
	s.SignIn()
	if a := s.Get("/app/demo?token=x"); a.Status != http.StatusNotFound {
		t.Errorf("a link: %d", a.Status)
	}
}

// TestSecureCookie: where browsers come by https, the cookie goes nowhere else.
func TestSecureCookie(t *testing.T) {
	s := dashboardtest.NewSite(t, dashboardtest.Options{Change: func(_ *dashboardtest.Site, d *dashboard.Options) { d.Secure = true }})
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
