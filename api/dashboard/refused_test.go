package dashboard_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"parley/api/dashboard"
	"parley/api/dashboard/dashboardtest"
	"parley/store/people"
	"parley/store/storetest"
	"parley/store/webhook"
)

// TestRefusedFormHasTheFocus: whoever has no mouse is where the mistake is, whether a
// script sent the form or the browser; and a form is sent once.
func TestRefusedFormHasTheFocus(t *testing.T) {
	s := newShop(t)
	s.buy()
	b := s.Tab()
	b.Go("/app/webhooks")
	b.Fill("#url", "https://10.0.0.1/x")
	b.Press(kb.Enter)
	b.Wait(`document.activeElement.id === "url" && document.activeElement.ariaInvalid === "true"`)
	b.Go("/app/dial")
	b.Fill("#to", "12")
	b.Click("#consent")
	b.TabTo("form .button.primary")
	b.Press(kb.Enter)
	b.Wait(`document.activeElement.id === "to" && document.activeElement.ariaInvalid === "true"`)
	b.Fill("#to", "+34912345678") // which this site cannot call
	b.Press(kb.Enter)
	b.Wait(`document.activeElement.matches("form > .notice[role=alert]")`)
	b.Accessible()

	b.Go("/app/webhooks")
	sent := dashboardtest.Eval[int](b, `(() => {
		let sent = 0;
		document.addEventListener("submit", (e) => { sent += e.defaultPrevented ? 0 : 1; e.preventDefault(); });
		const form = document.querySelector("main form[method=post]");
		form.noValidate = true;
		form.requestSubmit();
		form.requestSubmit();
		return sent;
	})()`)
	if sent != 1 {
		t.Errorf("a form is sent %d times", sent)
	}
}

// TestTooMuch: whoever sends too much reads so on a page, and of a list in its form.
func TestTooMuch(t *testing.T) {
	s := newShop(t)
	from := s.buy()
	much := strings.Repeat("x", 100_000)
	if a := s.Post("/app/keys", "name", much); a.Status != http.StatusRequestEntityTooLarge || !strings.Contains(a.Body, "<h1>This did not work</h1>") {
		t.Errorf("a name: %d %.200s", a.Status, a.Body)
	}
	list := "--b\r\nContent-Disposition: form-data; name=\"from\"\r\n\r\n" + from + "\r\n--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.csv\"\r\n\r\n" +
		strings.Repeat(much, 12) + "\r\n--b--\r\n"
	a := s.Ask(s.Client, "POST", "/app/bulk/review", list, "Content-Type", "multipart/form-data; boundary=b", "Sec-Fetch-Site", "same-origin")
	if a.Status != http.StatusUnprocessableEntity || !strings.Contains(a.Body, "larger than 256 kB") || !strings.Contains(a.Body, `id="file"`) {
		t.Errorf("a list: %d %.200s", a.Status, a.Body)
	}
}

// TestLinksOfTheServer are of the address that it has, whatever a proxy or a stranger puts
// into the Host header.
func TestLinksOfTheServer(t *testing.T) {
	s := dashboardtest.NewSite(t, dashboardtest.Options{Change: func(_ *dashboardtest.Site, d *dashboard.Options) { d.Base = "https://voice.example.com" }}).SignIn()
	a := s.Post("/app/people", "email", "noor@example.com", "role", people.RoleMember)
	if !strings.Contains(a.Body, ">https://voice.example.com/app/invitation?token=") || strings.Contains(a.Body, strings.TrimPrefix(s.URL, "http://")+"/app/invitation") {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}

// TestStrictTransport: where browsers come by https they do not come otherwise again.
func TestStrictTransport(t *testing.T) {
	for _, secure := range []bool{false, true} {
		s := dashboardtest.NewSite(t, dashboardtest.Options{Empty: true, Change: func(_ *dashboardtest.Site, d *dashboard.Options) { d.Secure = secure }})
		h := s.Get("/app/sign-in").Header
		if got := fmt.Sprint(h.Get("Strict-Transport-Security") != "", h.Get("Cross-Origin-Opener-Policy") != ""); got != fmt.Sprint(secure, secure) {
			t.Errorf("secure %v: %v", secure, h)
		}
	}
}

// TestFavicon: browsers ask for it where no page names another.
func TestFavicon(t *testing.T) {
	s := dashboardtest.NewSite(t, dashboardtest.Options{Empty: true})
	a := s.Get("/favicon.ico")
	if icon := s.Get(a.Header.Get("Location")); a.Status != http.StatusFound || icon.Status != http.StatusOK || icon.Header.Get("Content-Type") != "image/svg+xml" {
		t.Errorf("%d to %q, which is %d %s", a.Status, a.Header.Get("Location"), icon.Status, icon.Header.Get("Content-Type"))
	}
}

// TestDeliveriesFollow: after a test event the page asks for what becomes of it, in the part
// of the deliveries that is shown.
func TestDeliveriesFollow(t *testing.T) {
	s := dashboardtest.NewSite(t, dashboardtest.Options{}).SignIn()
	hook, _, err := s.Hooks.Create(storetest.At(t.Context(), s.Stamp()), s.Account, webhook.Webhook{URL: "https://example.com/parley"})
	s.OK(err)
	at := "/app/webhooks/" + hook.ID
	if a := s.Get(at); strings.Contains(a.Body, "hx-trigger") {
		t.Error("it is asked for nothing")
	}
	s.Post(at + "/test")
	want := `hx-get="` + at + `/deliveries?cursor="`
	if a := s.Get(at); !strings.Contains(a.Body, want) {
		t.Errorf("no %s in %s", want, a.Body)
	}
	if a := s.Get(at + "/deliveries"); a.Status != 200 || !strings.Contains(a.Body, want) || !strings.Contains(a.Body, "webhook.test") || strings.Contains(a.Body, "<html") {
		t.Errorf("the part: %d %s", a.Status, a.Body)
	}
	if a := s.Get("/app/webhooks/wh_of_others/deliveries"); a.Status != http.StatusNotFound {
		t.Errorf("a foreign one: %d", a.Status)
	}
}
