package dashboard_test

import (
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"parley/api/apitest"
	"parley/api/dashboard/dashboardtest"
	"parley/billing"
	"parley/store"
	"parley/store/ledger"
	"parley/store/people"
	"parley/store/storetest"
	"parley/store/webhook"
)

var invitationLink = regexp.MustCompile(`http://[^<"]*/app/(invitation\?token=[A-Za-z0-9_-]{43})`)

// TestInvitation: somebody new and somebody with another account join by links.
func TestInvitation(t *testing.T) {
	s := dashboardtest.NewSite(t, dashboardtest.Options{}).SignIn()
	invite := func(email, role string) string {
		t.Helper()
		a := s.Post("/app/people", "email", email, "role", role)
		m := invitationLink.FindStringSubmatch(a.Body)
		if a.Status != 200 || m == nil || !strings.HasPrefix(m[0], s.URL) {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		return "/app/" + m[1]
	}
	for email, what := range map[string]string{"": "Enter the address", "nonsense": "not a mail address", s.Email: "belongs to the account already"} {
		if a := s.Post("/app/people", "email", email, "role", "member"); a.Status != http.StatusUnprocessableEntity || !strings.Contains(strings.ToLower(a.Body), strings.ToLower(what)) {
			t.Errorf("%q: %d %s", email, a.Status, regexp.MustCompile(`class="error"[^<]*<?[^<]*`).FindString(a.Body))
		}
	}
	link := invite("luis@example.com", "member")
	if a := s.Get(link); !strings.Contains(a.Body, "You are signed in as "+s.Email) {
		t.Error("who is signed in as somebody else is not told")
	}
	c := s.NewClient()
	if a := s.Ask(c, "GET", link, ""); a.Status != 200 || !strings.Contains(a.Body, "Casa Lola") || !strings.Contains(a.Body, s.Email) {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	_, token, _ := strings.Cut(link, "token=")
	join := func(c *http.Client, token, password string) dashboardtest.Answer {
		return s.Ask(c, "POST", "/app/invitation", "token="+token+"&password="+password+"&again="+password, "Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin")
	}
	if a := join(c, token, "short"); a.Status != http.StatusUnprocessableEntity {
		t.Errorf("a weak password: %d", a.Status)
	}
	if a := join(c, token, "correct+horse+battery"); a.Status != http.StatusSeeOther || cookieOf(a) == nil {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	if a := s.Ask(c, "GET", "/app/", ""); a.Status != 200 || !strings.Contains(a.Body, "Casa Lola") {
		t.Errorf("the account: %d", a.Status)
	}
	for _, path := range []string{"/app/people", "/app/operator", "/app/operator/" + s.Account} {
		if a := s.Ask(c, "GET", path, ""); a.Status != http.StatusForbidden {
			t.Errorf("a member opens %s: %d", path, a.Status)
		}
	}
	for _, path := range []string{"/app/people", "/app/people/" + s.User + "/remove", "/app/operator/" + s.Account + "/suspend"} {
		if a := s.Ask(c, "POST", path, "email=eve%40example.com&role=owner&suspended=yes", "Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin"); a.Status != http.StatusForbidden {
			t.Errorf("a member posts %s: %d", path, a.Status)
		}
	}
	if a := s.Ask(c, "GET", link, ""); a.Status != http.StatusNotFound {
		t.Errorf("the link again: %d", a.Status)
	}

	// Somebody who has a user signs in, and then sees both accounts.
	eva := s.NewUser("eva@example.com", people.RoleMember)
	own, err := ledger.New(s.DB).OwnAccount(t.Context(), eva, "Eva's own", billing.DefaultRateCard())
	s.OK(err)
	link = invite("eva@example.com", "owner")
	_, token, _ = strings.Cut(link, "token=")
	stranger := s.NewClient()
	seen := func(link, email string) string { // without what differs between any two invitations
		_, token, _ := strings.Cut(link, "token=")
		return strings.NewReplacer(token, "TOKEN", email, "ADDRESS").Replace(s.Ask(stranger, "GET", link, "").Body)
	}
	if known, unknown := seen(link, "eva@example.com"), seen(invite("nobody@example.com", "owner"), "nobody@example.com"); known != unknown {
		t.Errorf("the page tells who is a user:\n%s\n%s", known, unknown)
	}
	if a := s.Ask(stranger, "GET", link, ""); !strings.Contains(a.Body, "/app/sign-in?next=%2fapp%2finvitation%3ftoken%3d"+token) {
		t.Errorf("%s", a.Body)
	}
	if a := join(stranger, token, "stolen+horse+battery"); cookieOf(a) != nil || !strings.Contains(a.Body, "has a user already") {
		t.Errorf("a stranger joins as somebody else: %d", a.Status)
	}
	s.SignInAs(stranger, eva)
	if a := join(stranger, token, ""); a.Status != http.StatusSeeOther {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	if a := s.Ask(stranger, "GET", "/app/people", ""); a.Status != 200 || !strings.Contains(a.Body, "luis@example.com") {
		t.Errorf("after joining she looks at another account: %d", a.Status)
	}
	move := func(account string) dashboardtest.Answer {
		return s.Ask(stranger, "POST", "/app/accounts/switch", "account="+account, "Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin")
	}
	if a := move(own.ID); a.Status != http.StatusSeeOther {
		t.Errorf("%d", a.Status)
	}
	if a := s.Ask(stranger, "GET", "/app/people", ""); strings.Contains(a.Body, "luis@example.com") || !strings.Contains(html.UnescapeString(a.Body), "Eva's own") {
		t.Error("she still looks at the other account")
	}
	foreign, err := ledger.New(s.DB).CreateAccount(t.Context(), "Foreign", billing.DefaultRateCard())
	s.OK(err)
	if unknown, known := move("acc_x"), move(foreign.ID); unknown.Status != http.StatusNotFound || known.Status != http.StatusNotFound || apitest.Anonymous(known.Body) != apitest.Anonymous(unknown.Body) {
		t.Errorf("a foreign account: %d, an unknown one: %d", known.Status, unknown.Status)
	}
	if a := s.Post("/app/people/"+eva+"/remove", ""); a.Status != http.StatusSeeOther {
		t.Errorf("%d", a.Status)
	}
	if a := s.Post("/app/people/"+s.User+"/remove", ""); a.Status != http.StatusUnprocessableEntity || !strings.Contains(a.Body, "keeps at least one owner") || !strings.Contains(a.Body, "<h1>People") {
		t.Errorf("the last owner goes: %d %s", a.Status, a.Body)
	}
	if a := s.Post("/app/people/"+s.User+"/role", "role", "member"); a.Status != http.StatusUnprocessableEntity || !strings.Contains(a.Body, "keeps at least one owner") || !strings.Contains(a.Body, "<h1>People") {
		t.Errorf("the last owner becomes a member: %d %s", a.Status, a.Body)
	}
	if a := s.Get("/app/people"); strings.Contains(a.Body, "/app/people/"+s.User+"/role") || strings.Contains(a.Body, "/app/people/"+s.User+"/remove") || !strings.Contains(a.Body, "The only owner") || !strings.Contains(a.Body, "Make owner") {
		t.Error("the last owner is offered what cannot be")
	}
}

// TestOperator looks after accounts without seeing into them.
func TestOperator(t *testing.T) {
	s, _ := fullSite(t)
	s.SignIn()
	ctx := t.Context()
	list, err := ledger.New(s.DB).Accounts(ctx, store.Page{})
	s.OK(err)
	other := list[0]
	at := "/app/operator/" + other.ID
	for _, step := range []struct {
		path   string
		fields []string
		status int
		check  func(a *ledger.Account) bool
	}{
		{"/suspend", []string{"suspended", "yes"}, 303, func(a *ledger.Account) bool { return a.Suspended }},
		{"/suspend", []string{"suspended", "no"}, 303, func(a *ledger.Account) bool { return !a.Suspended }},
		{"/concurrency", []string{"concurrency", "7"}, 303, func(a *ledger.Account) bool { return a.Concurrency != nil && *a.Concurrency == 7 }},
		{"/concurrency", []string{"concurrency", "-7"}, 422, func(a *ledger.Account) bool { return *a.Concurrency == 7 }},
		{"/concurrency", []string{"concurrency", "many"}, 422, func(a *ledger.Account) bool { return *a.Concurrency == 7 }},
		{"/concurrency", []string{"concurrency", ""}, 303, func(a *ledger.Account) bool { return a.Concurrency == nil }},
		{"/resolve", nil, 303, func(a *ledger.Account) bool { return a.OpenDisputes == 0 }},
	} {
		a := s.Post(at+step.path, step.fields...)
		acc, err := ledger.New(s.DB).Account(ctx, other.ID)
		s.OK(err)
		if a.Status != step.status || !step.check(acc) {
			t.Errorf("%s %q: %d, %+v", step.path, step.fields, a.Status, acc)
		}
	}
	if a := s.Post("/app/operator", "name", "A third"); a.Status != http.StatusSeeOther {
		t.Errorf("a new account: %d", a.Status)
	}
	if a := s.Get("/app/operator/acc_x"); a.Status != http.StatusNotFound {
		t.Errorf("an unknown account: %d", a.Status)
	}
}

// TestHostileNames: what people call things is shown as they wrote it, and never run.
func TestHostileNames(t *testing.T) {
	const evil = `"><img src=x onerror=alert(1)><script>alert(2)</script>{{.}}'`
	s, _ := fullSite(t)
	s.SignIn()
	ctx, now := t.Context(), time.Now()
	_, err := s.DB.CreateAgent(ctx, s.Account, store.Agent{Name: evil, Voice: "F1", Language: "en"})
	s.OK(err)
	_, _, err = people.New(s.DB).MakeKey(storetest.At(ctx, now), people.NewKey{Account: s.Account, Name: evil, Role: people.RoleMember})
	s.OK(err)
	other, err := ledger.New(s.DB).OwnAccount(ctx, s.User, evil, billing.DefaultRateCard())
	s.OK(err)
	_, _, err = s.Hooks.Create(storetest.At(ctx, now), s.Account, webhook.Webhook{URL: "https://example.com/x", Description: evil})
	s.OK(err)
	b := s.Tab()
	for _, path := range []string{"/app/", "/app/keys", "/app/webhooks", "/app/accounts", "/app/operator", "/app/operator/" + other.ID} {
		a := s.Get(path)
		if a.Status != 200 || strings.Contains(a.Body, "<img src=x") || strings.Contains(a.Body, "<script>alert") {
			t.Errorf("%s: %d", path, a.Status)
		}
		b.Go(path) // the console would say what was blocked
		if dashboardtest.Eval[int](b, `document.querySelectorAll("img[src=x], [onerror]").length`) != 0 {
			t.Errorf("%s runs it", path)
		}
	}
	for _, path := range []string{"/app/sign-in?next=" + evil, "/app/password?token=" + evil, "/app/keys?cursor=" + evil} {
		if a := s.Ask(s.NewClient(), "GET", strings.NewReplacer(`"`, "%22", "<", "%3C", ">", "%3E", " ", "%20", "{", "%7B", "}", "%7D").Replace(path), ""); strings.Contains(a.Body, "<img") && strings.Contains(a.Body, "onerror=alert(1)>") {
			t.Errorf("%s echoes it", path)
		}
	}
}
