package dashboard_test

import (
	"parley/api/wire"
	"parley/store/people"
	"parley/store/storetest"

	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"parley/api/dashboard"
	"parley/api/dashboard/dashboardtest"
	"parley/api/dashboard/page"
)

// TestSetupCheck: who runs the server sees what is wrong first, with what to change, as a
// part of the page and as a page of its own; others see nothing of it.
func TestSetupCheck(t *testing.T) {
	broken := false
	s := dashboardtest.NewSite(t, dashboardtest.Options{Checks: func(found []wire.Check) ([]wire.Check, error) {
		if broken {
			return nil, errors.New("it took too long")
		}
		return append(slices.Clone(found), wire.Check{Name: "<b>disk</b>", Status: "ok", Detail: "<i>2 GB left</i>"}), nil
	}}).SignIn()
	if a := s.Get("/app/setup"); a.Status != http.StatusOK || !strings.Contains(a.Body, `hx-get="/app/setup/checks" hx-trigger="load"`) || !strings.Contains(a.Body, `aria-current="page"`) ||
		strings.Contains(a.Body, "OK") {
		t.Errorf("the page waits for the checks: %d %s", a.Status, a.Body)
	}
	for _, header := range [][]string{{"HX-Request", "true"}, nil} {
		a := s.Get("/app/setup/checks", header...)
		worst, odd, fine := strings.Index(a.Body, "webrtc port"), strings.Index(a.Body, "microphone"), strings.Index(a.Body, "http port")
		if a.Status != http.StatusOK || worst < 0 || odd < worst || fine < odd || !strings.Contains(a.Body, "1 thing is broken") || strings.Contains(a.Body, "<b>disk") || strings.Contains(a.Body, "<i>2 GB") ||
			!strings.Contains(a.Body, "To change:</strong> stop that program (ss -lptun shows it), or set PARLEY_WEBRTC_UDP_PORT") || strings.Contains(a.Body, "<html") == (header != nil) {
			t.Errorf("%v: %d %s", header, a.Status, a.Body)
		}
	}
	broken = true
	if a := s.Get("/app/setup/checks"); a.Status != http.StatusInternalServerError || strings.Contains(a.Body, "too long") {
		t.Errorf("checks that fail: %d %s", a.Status, a.Body)
	}
	member := s.NewUser("luis@example.com", people.RoleMember)
	s.OK(people.New(s.DB).AddMember(storetest.At(t.Context(), s.Stamp()), s.Account, member, people.RoleOwner))
	s.SignInAs(s.Client, member)
	for _, at := range []string{"/app/setup", "/app/setup/checks"} {
		if a := s.Get(at); a.Status != http.StatusForbidden {
			t.Errorf("a member sees %s: %d", at, a.Status)
		}
	}
	if a := s.Get("/app/"); strings.Contains(a.Body, "/app/setup") {
		t.Error("a member is led to it")
	}
}

// TestNotices: what is played on a server stands on every page of those who answer for it or
// for an account, to each in their own words; members and strangers read nothing of it.
func TestNotices(t *testing.T) {
	s := dashboardtest.NewSite(t, dashboardtest.Options{Change: func(_ *dashboardtest.Site, d *dashboard.Options) {
		d.Notices = []page.Notice{{Operator: "Set PARLEY_PAYMENTS.", Owner: "No card is charged."}}
	}}).SignIn()
	shows := func(who string, operator, owner bool) {
		t.Helper()
		for _, at := range []string{"/app/", "/app/keys"} {
			body := s.Get(at).Body
			if strings.Contains(body, "Set PARLEY_PAYMENTS.") != operator || strings.Contains(body, "No card is charged.") != owner {
				t.Errorf("%s at %s: %s", who, at, body)
			}
		}
	}
	shows("an operator", true, false)
	user := s.NewUser("luis@example.com", people.RoleMember)
	s.OK(people.New(s.DB).AddMember(storetest.At(t.Context(), s.Stamp()), s.Account, user, people.RoleOwner))
	s.SignInAs(s.Client, user)
	shows("an owner", false, true)
	user = s.NewUser("eva@example.com", people.RoleMember)
	s.OK(people.New(s.DB).AddMember(storetest.At(t.Context(), s.Stamp()), s.Account, user, people.RoleMember))
	s.SignInAs(s.Client, user)
	shows("a member", false, false)
}
