package dashboard_test

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"parley/api/dashboard"
	"parley/api/dashboard/dashboardtest"
	"parley/billing"
	"parley/store"
	"parley/store/ledger"
	"parley/store/people"
)

// cookieOf is the sign-in that an answer sets.
func cookieOf(a dashboardtest.Answer) *http.Cookie {
	for _, c := range (&http.Response{Header: a.Header}).Cookies() {
		if strings.HasSuffix(c.Name, "parley") {
			return c
		}
	}
	return nil
}

// cookieIn is what a browser then sends.
func cookieIn(c *http.Cookie) string { return c.Name + "=" + c.Value }

func TestSignInAndOut(t *testing.T) {
	s := dashboardtest.NewSite(t, dashboardtest.Options{})
	a := s.Get("/app/people?x=1")
	if a.Status != http.StatusSeeOther || a.Header.Get("Location") != "/app/sign-in?next=%2Fapp%2Fpeople%3Fx%3D1" {
		t.Errorf("a stranger: %d %v", a.Status, a.Header)
	}
	if a := s.Get("/"); a.Status != http.StatusFound || a.Header.Get("Location") != "/app/" {
		t.Errorf("the front door: %d %v", a.Status, a.Header)
	}
	a = s.Post("/app/sign-in", "email", " ANA@example.com", "password", s.Password, "next", "/app/people?x=1")
	c := cookieOf(a)
	if a.Status != http.StatusSeeOther || a.Header.Get("Location") != "/app/people?x=1" || c == nil {
		t.Fatalf("%d %v", a.Status, a.Header)
	}
	if !c.HttpOnly || c.Secure || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" || len(c.Value) != 43 || c.MaxAge != 14*24*3600 {
		t.Errorf("the cookie is %+v", c)
	}
	if a := s.Get("/app/people"); a.Status != 200 || !strings.Contains(a.Body, "ana@example.com") {
		t.Errorf("signed in: %d", a.Status)
	}
	if a := s.Get("/app/sign-in"); a.Status != http.StatusSeeOther {
		t.Errorf("the sign-in page, signed in: %d", a.Status)
	}
	second := s.NewClient()
	s.SignInAs(second, s.User)
	if a := s.Post("/app/sign-out"); a.Status != http.StatusSeeOther || cookieOf(a).MaxAge >= 0 {
		t.Errorf("signing out: %d %v", a.Status, a.Header)
	}
	// The cookie is worth nothing any more, also where somebody kept it.
	if a := s.Ask(s.NewClient(), "GET", "/app/people", "", "Cookie", cookieIn(c)); a.Status != http.StatusSeeOther {
		t.Errorf("after signing out: %d", a.Status)
	}
	if a := s.Ask(second, "GET", "/app/people", ""); a.Status != 200 {
		t.Errorf("another browser was signed out: %d", a.Status)
	}
	s.SignIn()
	s.Post("/app/sign-out-everywhere")
	if a := s.Ask(second, "GET", "/app/people", ""); a.Status != http.StatusSeeOther {
		t.Errorf("after signing out everywhere: %d", a.Status)
	}
}

// TestSignInLeadsWithin: no link makes the sign-in page lead to another site.
func TestSignInLeadsWithin(t *testing.T) {
	s := dashboardtest.NewSite(t, dashboardtest.Options{})
	for _, next := range []string{"", "https://evil.example/", "//evil.example/app/", "/\\evil.example", "/app/\\evil.example", "/appetite", "javascript:alert(1)", "/app/\r\nSet-Cookie: x=y", "/docs",
		"/app/../docs", "/app/..//evil.example", "/app/%2e%2e/v1/keys"} {
		a := s.Post("/app/sign-in", "email", s.Email, "password", s.Password, "next", next)
		if a.Status != http.StatusSeeOther || a.Header.Get("Location") != "/app/" {
			t.Errorf("%q leads to %q", next, a.Header.Get("Location"))
		}
		s.Client = s.NewClient()
	}
}

// TestSessionFixation: a secret that somebody planted is worth nothing before the sign-in
// and after it, and one that was good ends with the next sign-in.
func TestSessionFixation(t *testing.T) {
	s := dashboardtest.NewSite(t, dashboardtest.Options{})
	const planted = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
	stranger := s.NewClient()
	form := "email=ana%40example.com&password=" + strings.ReplaceAll(s.Password, " ", "+")
	sign := func(cookie string) *http.Cookie {
		a := s.Ask(stranger, "POST", "/app/sign-in", form, "Content-Type", "application/x-www-form-urlencoded", "Cookie", cookie, "Sec-Fetch-Site", "same-origin")
		stranger = s.NewClient() // forgets
		return cookieOf(a)
	}
	first := sign("parley=" + planted)
	if first == nil || first.Value == planted {
		t.Fatalf("the planted secret was taken: %v", first)
	}
	second := sign(cookieIn(first))
	if second == nil || second.Value == first.Value {
		t.Fatalf("the secret stayed: %v", second)
	}
	for name, c := range map[string]string{"planted": "parley=" + planted, "before": cookieIn(first)} {
		if a := s.Ask(s.NewClient(), "GET", "/app/people", "", "Cookie", c); a.Status != http.StatusSeeOther {
			t.Errorf("the secret %s opens the page: %d", name, a.Status)
		}
	}
	if a := s.Ask(s.NewClient(), "GET", "/app/people", "", "Cookie", cookieIn(second)); a.Status != 200 {
		t.Errorf("the new one: %d", a.Status)
	}
}

// shown is a page without what the person entered themselves.
func shown(a dashboardtest.Answer) string {
	return regexp.MustCompile(` value="[^"]*"`).ReplaceAllString(a.Body, "")
}

// TestNobodyLearnsWhoIsThere: whoever has no password is answered as somebody who mistyped
// theirs, and after the same work.
func TestNobodyLearnsWhoIsThere(t *testing.T) {
	s := dashboardtest.NewSite(t, dashboardtest.Options{})
	_, err := people.New(s.DB).CreateUser(t.Context(), "new@example.com", people.RoleMember)
	s.OK(err)
	before := s.Dashboard.Hashed()
	want := s.Post("/app/sign-in", "email", s.Email, "password", "wrong password")
	if want.Status != http.StatusUnprocessableEntity || cookieOf(want) != nil || !strings.Contains(want.Body, "do not belong together") {
		t.Fatalf("%d %s", want.Status, want.Body)
	}
	work := s.Dashboard.Hashed() - before
	for _, email := range []string{"nobody@example.com", "new@example.com", "no address", "ana@example.com\x00", strings.Repeat("a", 5000)} {
		before := s.Dashboard.Hashed()
		got := s.Post("/app/sign-in", "email", email, "password", "wrong password")
		if got.Status != want.Status || shown(got) != shown(want) || cookieOf(got) != nil {
			t.Errorf("%.30q: %d\n%s", email, got.Status, got.Body)
		}
		if n := s.Dashboard.Hashed() - before; n != work || n != 1 {
			t.Errorf("%.30q: %d passwords were hashed, %d for a user", email, n, work)
		}
		if strings.Contains(got.Body, "wrong password") {
			t.Error("the password is sent back")
		}
	}
	if a := s.Post("/app/sign-in", "email", s.Email, "password", strings.Repeat("x", 10_000)); a.Status != http.StatusUnprocessableEntity {
		t.Errorf("an endless password: %d", a.Status)
	}
}

// TestGuessingIsLimited by address and by who is named, whether they exist or not.
func TestGuessingIsLimited(t *testing.T) {
	for _, email := range []string{dashboardtest.Email, "nobody@example.com"} {
		s := dashboardtest.NewSite(t, dashboardtest.Options{})
		n, before := 0, int64(0)
		for ; n < 60; n++ {
			before = s.Dashboard.Hashed()
			if a := s.Post("/app/sign-in", "email", email, "password", "wrong password"); strings.Contains(a.Body, "too many attempts") {
				break
			}
		}
		if n < 10 || n > 19 { // the user's own bound is 20, and a slow machine gets a few back
			t.Errorf("%s: %d guesses", email, n)
		}
		if s.Dashboard.Hashed() != before {
			t.Error("a refused guess is weighed all the same")
		}
	}
}

func TestGuessingOneUserFromManyAddresses(t *testing.T) {
	s := dashboardtest.NewSite(t, dashboardtest.Options{TrustProxy: true})
	guess := func(i int, password string) dashboardtest.Answer {
		return s.Ask(s.NewClient(), "POST", "/app/sign-in", "email=ana%40example.com&password="+password, "Content-Type", "application/x-www-form-urlencoded",
			"X-Forwarded-For", fmt.Sprintf("192.0.2.%d", i), "Sec-Fetch-Site", "same-origin")
	}
	n := 0
	for ; n < 100; n++ {
		if strings.Contains(guess(n, "wrong").Body, "too many attempts") {
			break
		}
	}
	if n < 20 || n > 60 { // one more each minute, on a slow machine
		t.Errorf("%d guesses", n)
	}
	if a := s.Ask(s.NewClient(), "POST", "/app/sign-in", "email=luis%40example.com&password=x", "Content-Type", "application/x-www-form-urlencoded",
		"X-Forwarded-For", "192.0.2.200", "Sec-Fetch-Site", "same-origin"); strings.Contains(a.Body, "too many attempts") {
		t.Error("others cannot sign in any more")
	}
}

// TestGuessingLocksNobodyOut: who has signed in from a network still does, whoever guesses
// elsewhere, and whatever program sends wrong keys from beside them.
func TestGuessingLocksNobodyOut(t *testing.T) {
	s := dashboardtest.NewSite(t, dashboardtest.Options{TrustProxy: true})
	form := []string{"Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin", "X-Forwarded-For"}
	try := func(from, password string) dashboardtest.Answer {
		return s.Ask(s.NewClient(), "POST", "/app/sign-in", "email=ANA%40example.com&password="+strings.ReplaceAll(password, " ", "+"), append(form, from)...)
	}
	if cookieOf(try("198.51.100.7", s.Password)) == nil {
		t.Fatal("no sign-in")
	}
	for i := range 60 {
		try(fmt.Sprintf("192.0.2.%d", i), "wrong")
	}
	for range 30 {
		s.Ask(s.NewClient(), "GET", "/v1/balance", "", "Authorization", "Bearer sk_revoked", "X-Forwarded-For", "198.51.100.7")
	}
	if a := try("198.51.100.7", s.Password); cookieOf(a) == nil {
		t.Errorf("locked out at home: %d %s", a.Status, shown(a))
	}
	if a := try("203.0.113.9", s.Password); !strings.Contains(a.Body, "too many attempts") {
		t.Errorf("guessing goes on elsewhere: %d", a.Status)
	}
	for range 12 {
		try("198.51.100.7", "wrong")
	}
	if a := try("198.51.100.7", s.Password); !strings.Contains(a.Body, "too many attempts") {
		t.Errorf("guessing goes on at home: %d", a.Status)
	}
}

// TestOtherSitesChangeNothing: what another site's page sends in the name of somebody who
// is signed in here is refused.
func TestOtherSitesChangeNothing(t *testing.T) {
	s := dashboardtest.NewSite(t, dashboardtest.Options{}).SignIn()
	form := []string{"Content-Type", "application/x-www-form-urlencoded"}
	for name, header := range map[string][]string{
		"cross-site": {"Sec-Fetch-Site", "cross-site"}, "same-site": {"Sec-Fetch-Site", "same-site"}, "another origin": {"Origin", "https://evil.example"},
		"no origin": {"Origin", "null"}, "another port": {"Origin", "http://127.0.0.1:1"},
	} {
		for path, body := range map[string]string{"/app/people": "email=eve%40evil.example&role=owner", "/app/sign-out": "", "/app/operator": "name=x",
			"/app/sign-in": "email=eve%40evil.example&password=x", "/app/ticket": ""} {
			a := s.Ask(s.Client, "POST", path, body, append(form, header...)...)
			if a.Status != http.StatusForbidden && a.Status != http.StatusUnauthorized {
				t.Errorf("%s, %s: %d", name, path, a.Status)
			}
		}
	}
	if list, err := people.New(s.DB).Invitations(t.Context(), s.Account, store.Page{}); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
	if a := s.Get("/app/people"); a.Status != 200 {
		t.Errorf("signed out: %d", a.Status)
	}
}

// TestTicketsOfASignIn open what tickets open, for as long as the sign-in lasts.
func TestTicketsOfASignIn(t *testing.T) {
	s := dashboardtest.NewSite(t, dashboardtest.Options{})
	own := []string{"Sec-Fetch-Site", "same-origin"}
	if a := s.Ask(s.Client, "POST", "/app/ticket", "", own...); a.Status != http.StatusUnauthorized {
		t.Errorf("a stranger: %d", a.Status)
	}
	s.SignIn()
	a := s.Ask(s.Client, "POST", "/app/ticket", "", own...)
	var made struct {
		Ticket    string
		ExpiresIn int `json:"expires_in"`
	}
	a.JSON(t, &made)
	if a.Status != 200 || made.ExpiresIn != 600 || a.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	ask := func(path string) int {
		method := "GET"
		if path == "/ws-ticket" {
			method = "POST"
		}
		return s.Ask(s.NewClient(), method, path, "", "Authorization", "Bearer "+made.Ticket).Status
	}
	if got := ask("/v1/balance"); got != http.StatusForbidden {
		t.Errorf("management: %d", got)
	}
	if got := ask("/ws-ticket"); got != 200 {
		t.Errorf("a service: %d", got)
	}
	s.Post("/app/sign-out")
	if got := ask("/ws-ticket"); got != http.StatusUnauthorized {
		t.Errorf("after signing out: %d", got)
	}
}

// TestManagementTakesTheSignIn, of the account that is looked at.
func TestManagementTakesTheSignIn(t *testing.T) {
	s := dashboardtest.NewSite(t, dashboardtest.Options{}).SignIn()
	var balance struct{ Balance float64 }
	a := s.Get("/v1/balance", "Sec-Fetch-Site", "same-origin")
	if a.JSON(t, &balance); a.Status != 200 || balance.Balance != 25 {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	for name, header := range map[string][]string{"another site": {"Sec-Fetch-Site", "cross-site"}, "a wrong key": {"Sec-Fetch-Site", "same-origin", "X-API-Key", "sk_x"}} {
		if a := s.Get("/v1/balance", header...); a.Status != http.StatusUnauthorized {
			t.Errorf("%s: %d", name, a.Status)
		}
	}
	if a := s.Ask(s.Client, "POST", "/ws-ticket", "", "Sec-Fetch-Site", "same-origin"); a.Status != http.StatusUnauthorized {
		t.Errorf("no management: %d", a.Status)
	}
	lone := s.NewClient()
	s.SignInAs(lone, s.NewUser("lone@example.com", people.RoleOperator))
	if a := s.Ask(lone, "GET", "/v1/balance", "", "Sec-Fetch-Site", "same-origin"); a.Status != http.StatusUnauthorized {
		t.Errorf("without an account: %d", a.Status)
	}
}

func TestFirstRun(t *testing.T) {
	var seeded string
	s := dashboardtest.NewSite(t, dashboardtest.Options{Empty: true, Change: func(s *dashboardtest.Site, d *dashboard.Options) {
		d.Seed = seed(s, &seeded)
	}})
	if a := s.Get("/app/sign-in"); !strings.Contains(a.Body, "Nobody can sign in") {
		t.Error("the sign-in page does not say that nobody can")
	}
	dead, err := dashboard.FirstRun(t.Context(), s.DB)
	s.OK(err)
	link, err := dashboard.FirstRun(t.Context(), s.DB) // the next start
	s.OK(err)
	if a := s.Get(dead); a.Status != http.StatusNotFound {
		t.Errorf("the link of an earlier start: %d", a.Status)
	}
	if a := s.Get(link); a.Status != 200 || !strings.Contains(a.Body, "Set up Parley") {
		t.Fatalf("%d", a.Status)
	}
	_, token, _ := strings.Cut(link, "token=")
	fields := func(more ...string) []string {
		return append([]string{"token", token, "email", "ana@example.com", "password", "correct horse battery", "again", "correct horse battery", "begin", "demo"}, more...)
	}
	short := fields()
	short[5], short[7] = "short", "other"
	if a := s.Post("/app/welcome", short...); a.Status != http.StatusUnprocessableEntity || !strings.Contains(a.Body, "at least 10 characters") || !strings.Contains(a.Body, "do not match") {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	if a := s.Post("/app/welcome", fields()...); a.Status != http.StatusSeeOther || cookieOf(a) == nil {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	if a := s.Get("/app/"); a.Status != 200 || !strings.Contains(a.Body, "Demo of a test") || seeded == "" {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	if a := s.Get(link); a.Status != http.StatusNotFound {
		t.Errorf("the link again: %d", a.Status)
	}
	if again, err := dashboard.FirstRun(t.Context(), s.DB); err != nil || again != "" {
		t.Errorf("a server that has been set up offers %q, %v", again, err)
	}
	c := s.NewClient()
	if a := s.Ask(c, "POST", "/app/sign-in", "email=ana%40example.com&password=correct+horse+battery", "Content-Type", "application/x-www-form-urlencoded"); cookieOf(a) == nil {
		t.Errorf("the password does not open: %d", a.Status)
	}
}

// seed makes the demonstration of a test.
func seed(s *dashboardtest.Site, made *string) func(ctx context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		a, err := ledger.New(s.DB).CreateAccount(ctx, "Demo of a test", billing.DefaultRateCard())
		if err == nil {
			*made = a.ID
		}
		return *made, err
	}
}

func TestChoosingAPassword(t *testing.T) {
	s := dashboardtest.NewSite(t, dashboardtest.Options{}).SignIn()
	token, err := people.New(s.DB).NewSignInLink(t.Context(), s.User)
	s.OK(err)
	c := s.NewClient()
	choose := func(password string) dashboardtest.Answer {
		return s.Ask(c, "POST", "/app/password", "token="+token+"&password="+password+"&again="+password, "Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin")
	}
	if a := s.Ask(c, "GET", dashboard.PasswordLink(token), ""); a.Status != 200 || !strings.Contains(a.Body, s.Email) {
		t.Errorf("%d", a.Status)
	}
	for _, weak := range []string{"", "short", "aaaaaaaaaaaa", "ana%40example.com", strings.Repeat("long", 100)} {
		if a := choose(weak); a.Status != http.StatusUnprocessableEntity {
			t.Errorf("%.20q: %d", weak, a.Status)
		}
	}
	if a := choose("another+horse+battery"); a.Status != http.StatusSeeOther || cookieOf(a) == nil {
		t.Fatalf("%d", a.Status)
	}
	if a := choose("one+more+horse+battery"); a.Status != http.StatusNotFound {
		t.Errorf("twice: %d", a.Status)
	}
	if a := s.Get("/app/me"); a.Status != http.StatusSeeOther {
		t.Errorf("a browser from before: %d", a.Status)
	}
	s.Client = c
	for _, tt := range []struct {
		current string
		status  int
	}{{"wrong", http.StatusUnprocessableEntity}, {"another horse battery", http.StatusSeeOther}} {
		if a := s.Post("/app/me/password", "current", tt.current, "password", "a third horse", "again", "a third horse"); a.Status != tt.status {
			t.Errorf("%q: %d %s", tt.current, a.Status, a.Body)
		}
	}
	if a := s.Get("/app/me"); a.Status != 200 || !strings.Contains(a.Body, "Your password was changed") {
		t.Errorf("where it was changed: %d", a.Status)
	}
	if a := s.Get("/app/me"); strings.Contains(a.Body, "Your password was changed") {
		t.Error("it is said twice")
	}
}

// TestLinksComeBeforePasswords: a password is hashed only for who has a link that opens
// something.
func TestLinksComeBeforePasswords(t *testing.T) {
	s := dashboardtest.NewSite(t, dashboardtest.Options{})
	before := s.Dashboard.Hashed()
	for _, path := range []string{"/app/welcome", "/app/password", "/app/invitation"} {
		a := s.Post(path, "token", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "email", "eve@example.com", "account", "Eve's", "password", "correct horse battery", "again", "correct horse battery")
		if a.Status != http.StatusNotFound {
			t.Errorf("%s: %d", path, a.Status)
		}
	}
	if n := s.Dashboard.Hashed() - before; n != 0 {
		t.Errorf("%d passwords were hashed", n)
	}
}
