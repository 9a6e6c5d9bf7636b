package dashboard_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"parley/api/dashboard"
	"parley/api/dashboard/dashboardtest"
	"parley/store"
	"parley/store/ledger"
	"parley/store/numbers"
	"parley/store/payments"
	"parley/store/people"
	"parley/store/storetest"
)

// TestEveryTaskByKeyboard does what each page is there for without a mouse, in the order
// of the tour.
func TestEveryTaskByKeyboard(t *testing.T) {
	w := newWorld(t)
	for _, p := range tour {
		t.Run(strings.Trim(strings.TrimPrefix(p.route, "/app"), "/"), func(t *testing.T) {
			b := dashboardtest.Open(t, w.URL, denied...)
			b.Allow("status of 404")
			b.Allow("ERR_") // the page of a payment provider that is not there
			if !p.out {
				w.SignInTab(b, w.User)
			}
			b.Go(w.at(p.path))
			t.Log(p.task)
			p.do(w, b)
		})
	}
}

// TestWelcomeByKeyboard sets up a server that nobody has used yet.
func TestWelcomeByKeyboard(t *testing.T) {
	s := dashboardtest.NewSite(t, dashboardtest.Options{Empty: true})
	first, err := dashboard.FirstRun(t.Context(), s.DB)
	s.OK(err)
	b := dashboardtest.Open(t, s.URL, denied...)
	b.Go(first)
	b.Press("ana@example.com", kb.Tab, "correct horse battery", kb.Tab, "correct horse", kb.Enter)
	isAt(b, "again") // after the form came back
	b.Fill("#password", "correct horse battery")
	b.Fill("#again", "correct horse battery")
	b.Press(kb.Enter)
	b.At("/app/")
	b.Says("My company")
}

// isAt waits until a field with a mistake has the focus, and the part of the page that a script replaced
// is settled.
func isAt(b *dashboardtest.Tab, id string) {
	b.Wait(fmt.Sprintf(`document.activeElement.id === %q && document.activeElement.ariaInvalid === "true" && !document.querySelector(".htmx-settling, .htmx-request")`, id))
}

func asksForASignIn(w *world, b *dashboardtest.Tab) {
	b.Press(w.Email)
	b.TabTo("#password")
	b.Press("wrong password", kb.Enter)
	b.Says("do not belong together")
	// The page moves the focus to the notice when it has settled: a key that is pressed before goes astray.
	b.Wait(`document.activeElement.matches("form > .notice.bad") && !document.querySelector(".htmx-settling, .htmx-request")`)
	if dashboardtest.Eval[string](b, `document.querySelector("#password").value`) != "" {
		w.T.Error("the password came back")
	}
	b.Accessible()
	b.TabTo("#password")
	b.Press(w.Password, kb.Enter)
	b.At("/app/")
	b.TabTo(".menu summary")
	b.Press(kb.Enter)
	b.Wait(`document.querySelector(".menu[open]")`)
	b.Accessible()
	b.Shot("menu")
	b.TabTo(`form[action="/app/sign-out"] button`)
	b.Press(kb.Enter)
	b.At("/app/sign-in")
}

func choosesPassword(done string) func(*world, *dashboardtest.Tab) {
	return func(w *world, b *dashboardtest.Tab) {
		b.Press(w.Password, kb.Tab, "another", kb.Enter)
		b.Says("Passwords do not match.")
		isAt(b, "again")
		b.Fill("#password", w.Password)
		b.Press(kb.Tab, w.Password, kb.Enter)
		b.Wait(`location.pathname !== "/app/password" && location.pathname !== "/app/invitation" && document.readyState === "complete"`)
		b.Says(done)
	}
}

func opens(link, page string) func(*world, *dashboardtest.Tab) {
	return func(w *world, b *dashboardtest.Tab) {
		b.Skip()
		b.TabTo(w.at(link))
		b.Press(kb.Enter)
		b.At(w.at(page))
	}
}

// reads is for pages that are there to be read: past the navigation one is at what they say.
func reads(text string) func(*world, *dashboardtest.Tab) {
	return func(_ *world, b *dashboardtest.Tab) {
		b.Skip()
		b.Says(text)
		b.Press(kb.Tab)
		b.Wait(`document.activeElement === document.body || document.activeElement.closest("main")`)
	}
}

func makesKey(w *world, b *dashboardtest.Tab) {
	t := w.T
	b.TabTo("#name")
	b.Press("by keyboard", kb.Enter)
	b.Wait(`document.querySelector("#new-key")`)
	secret := dashboardtest.Eval[string](b, `document.querySelector("#new-key").textContent`)
	b.Accessible()
	b.Shot("new-key")
	if p, err := people.New(w.DB).Authenticate(storetest.At(t.Context(), w.Stamp()), secret); err != nil || p.Account != w.Account {
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
	if _, err := people.New(w.DB).Authenticate(storetest.At(t.Context(), w.Stamp()), secret); err == nil {
		t.Error("the key still opens the account")
	}
	if strings.Contains(dashboardtest.Eval[string](b, `document.documentElement.outerHTML`), secret) {
		t.Error("the key is shown again")
	}
}

func makesWebhook(w *world, b *dashboardtest.Tab) {
	b.TabTo("#url")
	b.Press("https://10.0.0.1/x", kb.Enter)
	b.Says("not on the public Internet")
	b.Accessible()
	b.Shot("refused")
	b.TabTo("#url")
	b.Press(kb.Delete, "https://example.com/events")
	b.TabTo(`input[value="call.ended"]`)
	b.Press(" ", kb.Enter)
	b.Says("Copy your secret now")
	b.Says("whsec_")
	b.Shot("made")
}

func makesTrunk(w *world, b *dashboardtest.Tab) {
	b.TabTo("#preset")
	b.Press("asterisk")
	b.TabTo("#name")
	b.Press("desk")
	b.TabTo("#targets")
	b.Press("192.0.2.7:5080")
	b.TabTo("#country")
	b.Press("qq", kb.Enter)
	b.Says("There is no QQ.")
	b.Accessible()
	b.TabTo("#country")
	b.Press(kb.Delete, "de", kb.Enter)
	b.Says("The trunk works from now on")
	b.Says("SIP Server: voice.example.com, SIP Server Port: 5060.")
	b.Accessible()
}

func changesTrunk(w *world, b *dashboardtest.Tab) {
	b.TabTo(`form[action$="/check"] button`)
	b.Press(kb.Enter)
	b.Says("The other side does not answer")
	b.TabTo("#match")
	b.Press("lola", kb.Enter)
	b.Says("lola is answered by")
	b.TabTo("#phone_number")
	b.Press("+4934112345679", kb.Enter)
	b.Says("The number is on the trunk.")
	b.TabTo("[data-open=delete]")
	b.Press(kb.Enter)
	b.Says("Delete this trunk?")
}

func triesWebhook(w *world, b *dashboardtest.Tab) {
	b.Skip()
	b.TabTo(`form[action$="/test"] button`)
	b.Press(kb.Enter)
	b.Says("A test event is on its way")
	b.Says("webhook.test")
	b.TabTo("#url") // a form that a script sends and puts back
	b.Press("https://10.0.0.1/x", kb.Enter)
	isAt(b, "url")
	b.TabTo("[data-open=delete]")
	b.Press(kb.Enter)
	b.TabTo("dialog[open] .danger")
	b.Press(kb.Enter)
	b.Says("The webhook was deleted")
	b.At("/app/webhooks")
	hooks, err := w.Hooks.List(w.T.Context(), w.Account, store.Page{})
	w.OK(err)
	for _, h := range hooks {
		if h.ID == w.ids["hook"] {
			w.T.Error("it is still there")
		}
	}
}

func invitesSomebody(w *world, b *dashboardtest.Tab) {
	b.Skip()
	b.TabTo("#email")
	b.Press("mia@example.com")
	b.TabTo("#role")
	b.Press("o") // Owner
	b.TabTo("form[action='/app/people'] button")
	b.Press(kb.Enter)
	b.Says("Send this link to mia@example.com")
	b.Shot("invited")
	b.TabTo(`button[aria-label="Make owner: luis@example.com"]`)
	b.Press(kb.Enter)
	b.Says("The role was changed")
	list, err := people.New(w.DB).Members(w.T.Context(), w.Account, store.Page{})
	w.OK(err)
	owners := 0
	for _, m := range list {
		if m.Role == people.RoleOwner {
			owners++
		}
	}
	invitations, err := people.New(w.DB).Invitations(storetest.At(w.T.Context(), w.Stamp()), w.Account, store.Page{})
	w.OK(err)
	if owners != 2 || len(invitations) == 0 || invitations[0].Role != people.RoleOwner {
		w.T.Errorf("%+v %+v", list, invitations)
	}
}

func suspendsAccount(w *world, b *dashboardtest.Tab) {
	b.Skip()
	b.TabTo(`button[name=suspended]`)
	b.Press(kb.Enter)
	b.Says("The account is suspended")
	b.TabTo("#concurrency")
	b.Press("0.5", kb.Enter)
	b.Says("Enter a whole number")
	isAt(b, "concurrency") // the mistake has the focus
	b.Accessible()
	b.Press(kb.Delete, "12", kb.Enter)
	b.Says("The limit was changed")
}

func makesAccount(w *world, b *dashboardtest.Tab) {
	b.Skip()
	b.TabTo("#name")
	b.Press("A third", kb.Enter)
	b.Says("A third")
	list, err := ledger.New(w.DB).Accounts(w.T.Context(), store.Page{})
	if err != nil || list[0].Name != "A third" {
		w.T.Errorf("%+v %v", list, err)
	}
}

func changesPassword(w *world, b *dashboardtest.Tab) {
	b.Skip()
	b.TabTo("#current")
	b.Press("wrong", kb.Tab, w.Password, kb.Tab, w.Password, kb.Enter)
	isAt(b, "current")
	b.Press(w.Password, kb.Tab, w.Password, kb.Tab, w.Password, kb.Enter)
	b.Says("password was changed")
}

func switchesAccount(_ *world, b *dashboardtest.Tab) {
	b.Skip()
	b.TabTo("button[name=account]")
	b.Press(kb.Enter)
	b.At("/app/")
}

func talks(_ *world, b *dashboardtest.Tab) {
	b.Skip()
	b.TabTo("[data-voice=start-typed]")
	b.Press(kb.Enter)
	b.Wait(`document.querySelector("[data-voice-panel]").voice.session.state === "live" && document.activeElement.dataset.voice === "stop"`)
	b.TabTo("[data-voice=interrupt]")
	b.Press(" ")
	b.Wait(`document.querySelector("[data-voice=events]").textContent.includes("interrupted")`)
	b.TabTo("[data-voice=text]")
	b.Press("h", "i", kb.Enter)
	b.Says("You said hi.")
	b.TabTo("[data-voice=told]")
	b.TabTo("#voice-turns")
	b.TabTo("[data-voice=stop]")
	b.Press(kb.Enter)
	b.Wait(`document.querySelector("[data-voice-panel]").voice.session.state === "ended" && document.activeElement.dataset.voice === "start"`)
}

func topsUp(w *world, b *dashboardtest.Tab) {
	b.Wait(`document.querySelectorAll("#legend li").length > 0 && document.querySelector("#chart canvas").width > 100`)
	limits(w, b)
	b.Skip()
	b.TabTo("#amount")
	b.Press(kb.Delete, "5", kb.Enter)
	b.Says("from 10 to 2000")
	isAt(b, "amount")
	b.Accessible()
	b.Press(kb.Delete, "25", kb.Enter)
	topped := func() bool {
		all, err := payments.New(w.DB).TopUps(w.T.Context(), w.Account, store.Page{})
		w.OK(err)
		return len(all) == 1
	}
	eventually(w.T, "the top-up", topped)
}

func filters(field, key, page, says string) func(*world, *dashboardtest.Tab) {
	return func(w *world, b *dashboardtest.Tab) {
		b.Skip()
		b.TabTo(field)
		b.Press(key)
		b.TabTo("main form button")
		b.Press(kb.Enter)
		b.Wait(`location.search !== "" && document.readyState === "complete"`)
		b.At(page)
		b.Says(says)
	}
}

func listens(_ *world, b *dashboardtest.Tab) {
	b.Wait(`document.getElementById("audio")?.duration > 2.9`)
	b.Wait(`(() => { const c = document.getElementById("waves"), d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data; return d.some((v) => v > 0) })()`)
	b.Skip()
	b.TabTo(`#said li:nth-child(5) button.at`)
	b.Press(kb.Enter)
	b.Wait(`document.getElementById("audio").currentTime >= 2.1 && document.querySelector("#said li:nth-child(5)").hasAttribute("aria-current")`)
	b.TabTo(`main details[hx-get$="/completions"] > summary`)
	b.Press(kb.Enter)
	b.Says("Answered")
	b.TabTo(`main details[hx-get$="/signalling"] > summary`)
	b.Press(kb.Enter)
	b.Says("INVITE sip:x SIP/2.0")
	b.Accessible()
}

// watches follows what goes on; the list is replaced by the page again and again, and
// who has the focus in it keeps it.
func watches(w *world, b *dashboardtest.Tab) {
	b.Skip()
	link := fmt.Sprintf("#follow-%s", w.lasts)
	b.TabTo(link)
	b.Wait(fmt.Sprintf(`(document.querySelector(%q).stale = true)`, link))
	b.Wait(fmt.Sprintf(`!document.querySelector(%q).stale && document.activeElement.matches(%[1]q)`, link))
	b.Press(kb.Enter)
	b.At("/app/calls/" + w.lasts)
}

func hangsUp(w *world, b *dashboardtest.Tab) {
	b.Skip()
	b.TabTo(`form[action$="/hangup"] button`)
	b.Press(kb.Enter)
	eventually(w.T, "the end of the call", func() bool { return w.ended() == w.lasts })
}

func presses(button, says string) func(*world, *dashboardtest.Tab) {
	return func(_ *world, b *dashboardtest.Tab) {
		b.Skip()
		b.TabTo(button)
		b.Press(kb.Enter)
		b.Says(says)
	}
}

func assignsNumber(w *world, b *dashboardtest.Tab) {
	b.Skip()
	b.TabTo("#agent_id-" + w.ids["number"])
	b.Press("Z") // Zoe
	b.TabTo("main td button")
	b.Press(kb.Enter)
	eventually(w.T, "another agent", func() bool {
		n, err := numbers.New(w.DB).Number(w.T.Context(), w.Account, w.ids["number"])
		w.OK(err)
		return n.AgentID != nil && *n.AgentID == w.ids["zoe"]
	})
}

func buysNumber(w *world, b *dashboardtest.Tab) {
	b.Skip()
	b.TabTo("form .button.primary")
	b.Press(kb.Enter)
	b.At("/app/numbers")
	b.Says("is yours")
	all, err := numbers.New(w.DB).Numbers(w.T.Context(), w.Account, store.Page{})
	if err != nil || !slices.ContainsFunc(all, func(n numbers.Number) bool { return n.E164 == "+"+w.ids["offer"] }) {
		w.T.Errorf("%+v %v", all, err)
	}
}

func setsHours(w *world, b *dashboardtest.Tab) {
	b.Skip()
	b.TabTo("#time_zone")
	b.Press("Europe/Madrid")
	b.TabTo("#scheduled")
	b.Press(" ")
	b.TabTo("#monday")
	b.Press("09:00-14:00", kb.Enter)
	b.Says("go by these rules from now on")
	n, err := numbers.New(w.DB).Number(w.T.Context(), w.Account, w.ids["spare"])
	if err != nil || !strings.Contains(string(n.Rules), `"09:00-14:00"`) {
		w.T.Errorf("kept is %+v, %v", n, err)
	}
}

func releasesNumber(w *world, b *dashboardtest.Tab) {
	b.Skip()
	b.TabTo("#number")
	b.Press("yes", kb.Enter)
	isAt(b, "number")
	b.Press(kb.Delete, "+34911234568", kb.Enter)
	b.At("/app/numbers")
	if _, err := numbers.New(w.DB).Number(w.T.Context(), w.Account, w.ids["spare"]); err == nil {
		w.T.Error("the number is still there")
	}
}

func calls(w *world, b *dashboardtest.Tab) {
	b.Skip()
	b.TabTo("#to")
	b.Press("+34912345678", kb.Enter)
	b.Wait(`document.activeElement.id === "consent"`) // the browser itself says that it is missing
	b.Press(" ")
	b.TabTo("main form .primary")
	b.Press(kb.Enter)
	b.At("/app/calls/" + w.lasts)
	b.Says("Calling +34912345678")
}

func queuesBatch(w *world, b *dashboardtest.Tab) {
	batch := filepath.Join(w.T.TempDir(), "batch.csv")
	w.OK(os.WriteFile(batch, []byte("phone,name\n34912345678,Eva\n34912345679,Luis\n"), 0o600))
	b.Skip()
	b.TabTo("#file") // what Enter opens then is the browser's own
	b.Do(chromedp.SetUploadFiles(chromedp.CSS("#file"), []string{batch}))
	b.TabTo("main form .primary")
	b.Press(kb.Enter)
	b.At("/app/bulk/review")
	b.Accessible()
	b.Skip()
	b.TabTo("#consent")
	b.Press(" ")
	b.TabTo("main form .card .primary")
	b.Press(kb.Enter)
	b.Wait(`location.pathname.startsWith("/app/bulk/bulk_")`)
}

func checksServer(_ *world, b *dashboardtest.Tab) {
	b.Says("thing is broken")
	b.Skip()
	b.TabTo("#checks a.button")
	b.Wait(`(document.querySelector("#checks table").stale = true)`)
	b.Press(kb.Enter)
	b.Wait(`document.querySelector("#checks table")?.stale !== true`)
	b.Says("stop that program")
}
