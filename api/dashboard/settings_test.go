package dashboard_test

import (
	"fmt"
	"strings"
	"testing"

	"parley/api/dashboard/dashboardtest"
	"parley/api/wire"
	"parley/store/people"
)

// TestSettings: what somebody may set for themselves stands beside what holds for the account, as the API has it.
func TestSettings(t *testing.T) {
	s := dashboardtest.NewSite(t, dashboardtest.Options{}).SignIn()
	var account wire.OwnAccount
	s.Get("/v1/account", "Sec-Fetch-Site", "same-origin").JSON(t, &account)
	page := s.Get("/app/me").Body
	for _, want := range []string{s.Email, ">Operator<", `id="account-id">` + s.Account + "<", "Casa Lola", fmt.Sprintf("0 of %d in use", account.Concurrency.Limit), "50 per second and key",
		fmt.Sprintf("kept for %d days", account.RecordingDays), "kept until they are deleted", `href="/app/balance#limit"`, `href="/app/keys"`, `href="/app/people"`, `action="/app/theme"`,
		`href="/app/me" aria-current="page">Settings</a>`, "Sign out everywhere", `name="current"`} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
	if page := s.Get("/app/me", "Cookie", "parley-theme=dark").Body; strings.Count(page, `value="dark" aria-current="true">Dark</button>`) != 2 {
		t.Error("neither the menu nor the page says which theme was chosen")
	}
	if a := s.Post("/app/me/password", "current", "wrong", "password", "a third horse", "again", "a third horse"); a.Status != 422 || !strings.Contains(a.Body, "This is not your password.") || !strings.Contains(a.Body, s.Account) {
		t.Errorf("a wrong password: %d %s", a.Status, a.Body)
	}
	alone := s.NewClient()
	s.SignInAs(alone, s.NewUser("luis@example.com", people.RoleMember))
	if a := s.Ask(alone, "GET", "/app/me", ""); a.Status != 200 || strings.Contains(a.Body, "Account ID") || !strings.Contains(a.Body, "luis@example.com") {
		t.Errorf("who has no account: %d %s", a.Status, a.Body)
	}
}
