package dashboard_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"parley/api"
	"parley/api/dashboard/dashboardtest"
	"parley/billing"
	"parley/store/ledger"
	"parley/store/people"
	"parley/store/storetest"
)

// limited is a site with a key and an agent, and where the limits of the three are.
type limited struct {
	*dashboardtest.Site
	key, agent string
	places     []place
}

// place is where a limit is shown, where its form is, where it is sent and what page follows.
type place struct{ subject, shown, form, at, next string }

func newLimited(t *testing.T) *limited {
	t.Helper()
	s := &limited{Site: agentSite(t).SignIn()}
	k, _, err := people.New(s.DB).MakeKey(storetest.At(t.Context(), stamp()), people.NewKey{Account: s.Account, Name: "website", Role: people.RoleMember})
	s.OK(err)
	s.key, s.agent = k.ID, makeAgent(s.Site, s.Account, lola).ID
	own := "/app/agents/" + s.agent
	s.places = []place{
		{s.Account, "/app/balance", "/app/balance", "/app/balance/limit", "/app/balance"},
		{s.key, "/app/keys", "/app/keys/" + s.key + "/limit", "/app/keys/" + s.key + "/limit", "/app/keys"},
		{s.agent, own, own, own + "/limit", own},
	}
	return s
}

// is holds the limit of a subject to want; empty: there is none.
func (s *limited) is(subject, want string) {
	s.T.Helper()
	l, err := ledger.New(s.DB).SpendingLimit(s.T.Context(), s.Account, subject)
	s.OK(err)
	got := ""
	if l.Limit != nil {
		got = l.Limit.String()
	}
	if got != want {
		s.T.Errorf("the limit of %s is %q, want %q", subject, got, want)
	}
}

// set sets it without the dashboard.
func (s *limited) set(subject string, limit billing.Money) {
	s.T.Helper()
	_, err := ledger.New(s.DB).SetSpendingLimit(s.T.Context(), s.Account, subject, &limit)
	s.OK(err)
}

var limitMistake = regexp.MustCompile(`<p class="error" id="daily_limit-error">([^<]*)`)

// TestLimitForms sets limits of the account, a key and an agent as a browser without scripts
// does, and takes them away.
func TestLimitForms(t *testing.T) {
	s := newLimited(t)
	for _, p := range s.places {
		if a := s.Get(p.form); !strings.Contains(a.Body, `<form method="post" action="`+p.at+`"`) || !strings.Contains(a.Body, "There is no limit") {
			t.Errorf("%s has no form: %d", p.form, a.Status)
		}
		for text, want := range map[string]string{"lots": "Write a number of dollars, such as 25.", "-1": "From 0 to 1000000 US dollars.", "1000000.01": "From 0 to 1000000 US dollars."} {
			a := s.Post(p.at, "daily_limit", text)
			if m := limitMistake.FindStringSubmatch(a.Body); a.Status != http.StatusUnprocessableEntity || m == nil || m[1] != want || !strings.Contains(a.Body, `value="`+text+`"`) {
				t.Errorf("%s, %q: %d %v", p.at, text, a.Status, m)
			}
			if !strings.Contains(a.Body, "<h1>") {
				t.Errorf("%s, %q: no page", p.at, text)
			}
		}
		a := s.Ask(s.Client, "POST", p.at, "daily_limit=lots", "Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin", "HX-Request", "true")
		if a.Status != http.StatusUnprocessableEntity || !strings.HasPrefix(strings.TrimSpace(a.Body), "<form") || !limitMistake.MatchString(a.Body) {
			t.Errorf("%s for a script: %d %s", p.at, a.Status, a.Body)
		}
		s.is(p.subject, "")
		if a := s.Post(p.at, "daily_limit", " $2.50 "); a.Status != http.StatusSeeOther || a.Header.Get("Location") != p.next {
			t.Errorf("%s: %d to %q", p.at, a.Status, a.Header.Get("Location"))
		}
		s.is(p.subject, "2.5")
		for _, path := range []string{p.next, p.shown} {
			if a := s.Get(path); !strings.Contains(a.Body, "$0.00 of $2.50 spent today") {
				t.Errorf("%s does not show the limit", path)
			}
		}
		if a := s.Get(p.form); !strings.Contains(a.Body, `value="2.5"`) {
			t.Errorf("%s does not fill in the limit", p.form)
		}
		s.Post(p.at, "daily_limit", "")
		s.is(p.subject, "")
		if a := s.Get(p.next); !strings.Contains(a.Body, "There is no daily limit any more.") {
			t.Errorf("%s does not say that the limit is gone", p.next)
		}
	}
}

// TestLimitsShowWhatIsSpent: what a conversation by the key with the agent has cost stands beside
// all three, and that nothing more begins.
func TestLimitsShowWhatIsSpent(t *testing.T) {
	s := newLimited(t)
	for _, p := range s.places {
		s.set(p.subject, 50*billing.Cent)
	}
	at := s.DB.Now()
	node, _, err := ledger.New(s.DB).RegisterNode(t.Context(), "node", "127.0.0.1:1")
	s.OK(err)
	call, err := ledger.New(s.DB).StartSession(t.Context(), ledger.Start{Node: node, Account: s.Account, Key: s.key, Agent: s.agent, Terms: billing.Terms{Kind: billing.Web}, Card: billing.DefaultRateCard()})
	s.OK(err)
	cost, err := ledger.New(s.DB).CloseSession(storetest.At(t.Context(), at.Add(10*time.Minute)), call, ledger.Closing{Reason: "user_hangup", StartedAt: at, Usage: billing.Usage{billing.AgentTime: 600_000}})
	s.OK(err)
	if cost < 50*billing.Cent {
		t.Fatalf("it cost %s", cost)
	}
	for _, p := range s.places {
		if a := s.Get(p.shown); !strings.Contains(a.Body, "of $0.50 spent today") || strings.Contains(a.Body, "$0.00 of") {
			t.Errorf("%s does not show what was spent", p.shown)
		}
		if a := s.Get(p.form); !strings.Contains(a.Body, "The limit is reached") {
			t.Errorf("%s does not say that it is reached", p.form)
		}
	}
}

// TestLimitsAreOwners: members see limits and have no form; what they send anyway changes nothing,
// and nobody reaches what is another account's.
func TestLimitsAreOwners(t *testing.T) {
	s := newLimited(t)
	luis := s.NewUser("luis@example.com", people.RoleMember)
	s.OK(people.New(s.DB).AddMember(storetest.At(t.Context(), stamp()), s.Account, luis, people.RoleMember))
	member := s.NewClient()
	s.SignInAs(member, luis)
	post := func(c *http.Client, at string) dashboardtest.Answer {
		return s.Ask(c, "POST", at, "daily_limit=7", "Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin")
	}
	for _, p := range s.places {
		s.set(p.subject, 3*billing.USD)
		if a := s.Ask(member, "GET", p.shown, ""); a.Status != http.StatusOK || !strings.Contains(a.Body, "of $3.00 spent today") || strings.Contains(a.Body, "daily_limit") || strings.Contains(a.Body, "/limit\"") {
			t.Errorf("%s for a member: %d", p.shown, a.Status)
		}
		if a := post(member, p.at); a.Status != http.StatusForbidden {
			t.Errorf("a member posts %s: %d", p.at, a.Status)
		}
		if a := post(s.NewClient(), p.at); a.Status != http.StatusSeeOther || !strings.HasPrefix(a.Header.Get("Location"), "/app/sign-in") {
			t.Errorf("a stranger posts %s: %d", p.at, a.Status)
		}
		s.is(p.subject, "3")
	}
	if a := s.Ask(member, "GET", "/app/keys/"+s.key+"/limit", ""); a.Status != http.StatusForbidden {
		t.Errorf("a member opens the form of a key: %d", a.Status)
	}
	other, err := ledger.New(s.DB).CreateAccount(t.Context(), "Foreign", billing.DefaultRateCard())
	s.OK(err)
	theirs, _, err := people.New(s.DB).MakeKey(storetest.At(t.Context(), stamp()), people.NewKey{Account: other.ID, Name: "theirs", Role: people.RoleMember})
	s.OK(err)
	for _, at := range []string{"/app/keys/" + theirs.ID, "/app/agents/" + makeAgent(s.Site, other.ID, lola).ID, "/app/keys/account", "/app/keys/" + s.agent, "/app/keys/%00", "/app/agents/%00"} {
		if a := post(s.Client, at+"/limit"); a.Status != http.StatusNotFound {
			t.Errorf("%s: %d", at, a.Status)
		}
	}
	s.is(s.Account, "3")
	s.is(s.agent, "3")
}

// TestLimitWithoutPayments: where a server takes none the balance page has the limit all the same.
func TestLimitWithoutPayments(t *testing.T) {
	for _, mount := range []func(*dashboardtest.Site, *api.API){nil, func(s *dashboardtest.Site, a *api.API) { mountTill(s, a) }} {
		s := dashboardtest.NewSite(t, dashboardtest.Options{Mount: mount}).SignIn()
		if a := s.Get("/app/balance"); !strings.Contains(a.Body, `action="/app/balance/limit"`) || strings.Contains(a.Body, `action="/app/balance/topups"`) != (mount != nil) {
			t.Errorf("with payments: %v: %d", mount != nil, a.Status)
		}
	}
}

// limits sets a limit by keyboard, after a mistake.
func limits(_ *world, b *dashboardtest.Tab) {
	b.Skip()
	b.TabTo("#daily_limit")
	b.Press("-1", kb.Enter)
	b.Says("From 0 to 1000000 US dollars.")
	isAt(b, "daily_limit")
	b.Accessible()
	b.Shot("limit-refused")
	b.Press(kb.Delete, "30", kb.Enter)
	b.Says("The daily limit was saved.")
	b.Says("of $30.00 spent today")
}
