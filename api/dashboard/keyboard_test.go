package dashboard_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"parley/api/dashboard/dashboardtest"
	"parley/store"
)

// TestSignInByKeyboard signs in, makes a key, uses it, revokes it and signs out, without
// a mouse.
func TestSignInByKeyboard(t *testing.T) {
	s, _ := fullSite(t)
	b := dashboardtest.Open(t, s.URL)
	b.Go("/app/keys")
	b.At("/app/sign-in")
	b.Press(s.Email)
	b.TabTo("#password")
	b.Press("wrong password", kb.Enter)
	b.Says("do not belong together")
	if dashboardtest.Eval[string](b, `document.querySelector("#password").value`) != "" {
		t.Error("the password came back")
	}
	b.Accessible()
	b.TabTo("#password")
	b.Press(s.Password, kb.Enter)
	b.At("/app/keys")

	b.TabTo("#name")
	b.Press("by keyboard", kb.Enter)
	b.Wait(`document.querySelector("#new-key")`)
	secret := dashboardtest.Eval[string](b, `document.querySelector("#new-key").textContent`)
	b.Accessible()
	b.Shot("new-key")
	if p, err := s.DB.Authenticate(t.Context(), secret, s.Stamp()); err != nil || p.Account != s.Account {
		t.Errorf("the key does not open the account: %v", err)
	}
	b.TabTo(`button[aria-label="Revoke by keyboard"]`)
	b.Press(kb.Enter)
	b.Wait(`document.querySelector("dialog[open]")`)
	b.Accessible()
	b.Shot("revoke")
	b.Press(kb.Escape)
	b.Wait(`!document.querySelector("dialog[open]")`)
	b.Wait(`document.activeElement.matches('[aria-label="Revoke by keyboard"]')`)
	b.Press(kb.Enter)
	b.TabTo("dialog[open] .danger")
	b.Press(kb.Enter)
	b.Says("The key was revoked")
	if _, err := s.DB.Authenticate(t.Context(), secret, s.Stamp()); err == nil {
		t.Error("the key still opens the account")
	}
	if strings.Contains(dashboardtest.Eval[string](b, `document.documentElement.outerHTML`), secret) {
		t.Error("the key is shown again")
	}
	b.TabTo(".menu summary")
	b.Press(kb.Enter)
	b.Wait(`document.querySelector(".menu[open]")`)
	b.Accessible()
	b.Shot("menu")
	b.TabTo(`form[action="/app/sign-out"] button`)
	b.Press(kb.Enter)
	b.At("/app/sign-in")
}

// TestWebhookByKeyboard makes one, with a mistake at first, sends a test event and
// deletes it.
func TestWebhookByKeyboard(t *testing.T) {
	s, _ := fullSite(t)
	b := s.Tab()
	b.Go("/app/webhooks")
	b.TabTo("#url")
	b.Press("https://10.0.0.1/x", kb.Enter)
	b.Says("not on the public Internet")
	b.Accessible()
	b.Shot("refused")
	b.TabTo("#url")
	b.Press(kb.Delete, "https://example.com/events")
	b.TabTo(`input[value="call.ended"]`)
	b.Press(" ", kb.Enter)
	b.Says("Keep this secret now")
	b.Says("whsec_")
	b.Shot("made")
	b.TabTo(`form[action$="/test"] button`)
	b.Press(kb.Enter)
	b.Says("A test event is on its way")
	b.Says("webhook.test")
	b.TabTo(`[data-open=delete]`)
	b.Press(kb.Enter)
	b.TabTo("dialog[open] .danger")
	b.Press(kb.Enter)
	b.Says("The webhook was deleted")
	b.At("/app/webhooks")
	hooks, err := s.Hooks.List(t.Context(), s.Account)
	s.OK(err)
	for _, h := range hooks {
		if h.URL == "https://example.com/events" {
			t.Error("it is still there")
		}
	}
}

// TestPeopleByKeyboard invites somebody, and changes a role.
func TestPeopleByKeyboard(t *testing.T) {
	s, _ := fullSite(t)
	b := s.Tab()
	b.Go("/app/people")
	b.TabTo("#email")
	b.Press("noor@example.com")
	b.TabTo("#role")
	b.Press("o") // Owner
	b.TabTo("form[action='/app/people'] button")
	b.Press(kb.Enter)
	b.Says("Send this link to noor@example.com")
	b.Shot("invited")
	b.TabTo(`button[aria-label="Make owner: luis@example.com"]`)
	b.Press(kb.Enter)
	b.Says("The role was changed")
	list, err := s.DB.Members(t.Context(), s.Account)
	s.OK(err)
	for _, m := range list {
		if m.Role != store.RoleOwner {
			t.Errorf("%+v", m)
		}
	}
	invitations, err := s.DB.Invitations(t.Context(), s.Account, s.Stamp())
	s.OK(err)
	if len(invitations) != 2 || invitations[0].Role != store.RoleOwner {
		t.Errorf("%+v", invitations)
	}
}

// TestOperatorByKeyboard suspends an account.
func TestOperatorByKeyboard(t *testing.T) {
	s, pages := fullSite(t)
	b := s.Tab()
	b.Go(pages[7])
	b.TabTo(`button[name=suspended]`)
	b.Press(kb.Enter)
	b.Says("The account is suspended")
	b.TabTo("#concurrency")
	b.Press("0.5", kb.Enter)
	b.Says("Enter a whole number")
	b.Wait(`document.activeElement.id === "concurrency"`) // the mistake has the focus
	b.Accessible()
	b.Press(kb.Delete, "12", kb.Enter)
	b.Says("The limit was changed")
}
