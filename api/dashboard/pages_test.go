package dashboard_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/api"
	"parley/api/dashboard/dashboardtest"
	"parley/api/export"
	"parley/api/manage"
	"parley/billing"
	"parley/store"
)

// visited are the pages that the tests of all pages visit. What needs data of its own
// is tested beside its page.
var visited = []string{"/app/", "/app/keys", "/app/webhooks", "/app/webhooks/{hook}", "/app/people", "/app/engines", "/app/operator", "/app/operator/{account}",
	"/app/me", "/app/accounts", "/app/nothing"}

// fullSite has one of everything that pages show.
func fullSite(t *testing.T) (s *dashboardtest.Site, pages []string) {
	s = dashboardtest.NewSite(t, dashboardtest.Options{Mount: func(s *dashboardtest.Site, a *api.API) {
		manage.Mount(a, s.DB, export.New(s.DB), fakeDefinition)
	}})
	ctx, now := t.Context(), time.Now().UTC().Truncate(time.Microsecond)
	agent, err := s.DB.CreateAgent(ctx, s.Account, store.Agent{Name: "Lola", Voice: "F1", Language: "en", Prompt: "Be brief."}, now)
	s.OK(err)
	_, err = s.DB.ImportNumber(ctx, s.Account, "+34911234567", agent.ID, now)
	s.OK(err)
	k, _, err := s.DB.CreateKey(ctx, s.Account, "old website", now)
	s.OK(err)
	s.OK(s.DB.RevokeKey(ctx, s.Account, k.ID, now))
	_, _, err = s.DB.CreateKey(ctx, s.Account, "website", now)
	s.OK(err)
	hook, _, err := s.Hooks.Create(ctx, s.Account, store.Webhook{URL: "https://example.com/parley", Description: "Bookings", Kinds: []string{store.CallEnded}}, now)
	s.OK(err)
	s.OK(s.DB.AddMember(ctx, s.Account, s.NewUser("luis@example.com", store.RoleMember), store.RoleMember, now))
	_, _, err = s.DB.Invite(ctx, s.Account, "eva@example.com", store.RoleOwner, s.User, now)
	s.OK(err)
	other, err := s.DB.CreateAccount(ctx, "Another account with a name that is rather long", billing.DefaultRateCard(), now)
	s.OK(err)
	s.OK(s.DB.OpenDispute(ctx, other.ID, "pi_1", now))
	node, _, err := s.DB.RegisterNode(ctx, "node", "127.0.0.1:1", now)
	s.OK(err)
	for i, end := range []string{"user_hangup", "failed", ""} {
		at := now.Add(time.Duration(i-3) * time.Minute)
		session, err := s.DB.StartSession(ctx, store.Start{Account: s.Account, Terms: billing.Terms{Kind: billing.Web}, Agent: agent.ID, Node: node, Card: billing.DefaultRateCard()}, at)
		s.OK(err)
		if end == "" {
			continue
		}
		_, err = s.DB.CloseSession(ctx, session, store.Closing{Reason: end}, at.Add(40*time.Second))
		s.OK(err)
	}
	for _, p := range visited {
		pages = append(pages, strings.NewReplacer("{hook}", hook.ID, "{account}", other.ID).Replace(p))
	}
	return s, pages
}

// TestEveryPage visits them in a browser, light and dark, wide and on a phone.
func TestEveryPage(t *testing.T) {
	s, pages := fullSite(t)
	b := s.Tab()
	b.Allow("status of 404")
	for i, path := range pages {
		name := strings.Trim(strings.NewReplacer("/app/", "", "/", "-", "{", "", "}", "").Replace(visited[i]), "-")
		if name == "" {
			name = "home"
		}
		b.Wide()
		b.Go(path)
		b.Accessible()
		b.Shot(name)
		b.Dark(true)
		b.Shot(name + "-dark")
		b.Dark(false)
		b.Phone()
		b.NoSidewaysScroll()
		b.Shot(name + "-phone")
		b.Check()
	}
}

// TestPagesBeforeTheSignIn visits those that anybody sees.
func TestPagesBeforeTheSignIn(t *testing.T) {
	s, _ := fullSite(t)
	ctx, now := t.Context(), time.Now()
	reset, err := s.DB.NewSignInLink(ctx, s.User, now)
	s.OK(err)
	_, invited, err := s.DB.Invite(ctx, s.Account, "noor@example.com", store.RoleMember, s.User, now)
	s.OK(err)
	first, err := s.DB.NewSignInLink(ctx, "", now) // as if nobody had used it yet
	s.OK(err)
	b := dashboardtest.Open(t, s.URL)
	b.Allow("status of 404")
	for name, path := range map[string]string{"sign-in": "/app/sign-in", "password": "/app/password?token=" + reset, "invitation": "/app/invitation?token=" + invited,
		"welcome": "/app/welcome?token=" + first, "dead-link": "/app/password?token=x"} {
		b.Wide()
		b.Go(path)
		b.Accessible()
		b.Shot(name)
		b.Phone()
		b.NoSidewaysScroll()
		b.Shot(name + "-phone")
		b.Check()
	}
}

var forbidden = regexp.MustCompile(`<style|<script[^>]*>[^<]|<[^>]+ (?:style|on[a-z]+)="|(?:src|href)="(?:https?:)?//|hx-on|"js:`)

// firstLoad bounds what a browser must fetch before it shows a page, compressed, in bytes.
const firstLoad = 300_000

var loaded = regexp.MustCompile(`(?:src|href)="(/app/assets/[^"]+)"`)

// TestPagesAreLight: a page with all that it loads.
func TestPagesAreLight(t *testing.T) {
	s, pages := fullSite(t)
	s.SignIn()
	for _, path := range pages {
		a := s.Get(path)
		sum := len(a.Body) // pages themselves are not compressed
		for _, m := range loaded.FindAllStringSubmatch(a.Body, -1) {
			f := s.Get(m[1], "Accept-Encoding", "gzip")
			if f.Status != 200 || f.Header.Get("Content-Encoding") != "gzip" || !strings.HasSuffix(f.Header.Get("Cache-Control"), "immutable") {
				t.Errorf("%s: %d %v", m[1], f.Status, f.Header)
			}
			sum += len(f.Body)
		}
		if sum > firstLoad {
			t.Errorf("%s takes %d bytes", path, sum)
		}
	}
}

// TestPagesAreStrict: nothing inline, nothing from elsewhere, a policy that says so, one
// main heading, no identifier twice.
func TestPagesAreStrict(t *testing.T) {
	s, pages := fullSite(t)
	s.SignIn()
	ids := regexp.MustCompile(` id="([^"]*)"`)
	for _, path := range pages {
		a := s.Get(path)
		if got, want := a.Header.Get("Content-Security-Policy"), "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self' ws"+
			strings.TrimPrefix(s.URL, "http")+"; media-src 'self' blob:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"; got != want {
			t.Errorf("%s: policy %q", path, got)
		}
		if a.Header.Get("Cache-Control") != "no-store" || a.Header.Get("X-Content-Type-Options") != "nosniff" || a.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: %v", path, a.Header)
		}
		if m := forbidden.FindString(a.Body); m != "" {
			t.Errorf("%s holds %q", path, m)
		}
		if n := strings.Count(a.Body, "<h1"); n != 1 {
			t.Errorf("%s has %d main headings", path, n)
		}
		var seen []string
		for _, m := range ids.FindAllStringSubmatch(a.Body, -1) {
			if slices.Contains(seen, m[1]) {
				t.Errorf("%s has two things called %s", path, m[1])
			}
			seen = append(seen, m[1])
		}
	}
}
