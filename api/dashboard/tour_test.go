package dashboard_test

import (
	"slices"
	"strings"
	"testing"

	"parley/api/dashboard"
	"parley/api/dashboard/dashboardtest"
)

// stop is a page with what it is there for.
type stop struct {
	route string
	path  string // its address: see world.at
	out   bool   // for who has not signed in
	task  string // the main one
	do    func(*world, *dashboardtest.Tab)
}

// tour are all pages. What a page shows is changed by the tasks before it.
var tour = []stop{
	{"/app/sign-in", "/app/sign-in", true, "sign in, and out", asksForASignIn},
	{"/app/password", "/app/password?token={reset}", true, "choose a password", choosesPassword("Casa Lola")},
	{"/app/invitation", "/app/invitation?token={invited}", true, "join an account", choosesPassword("Casa Lola")},
	{"/app/welcome", "/app/welcome?token={first}", true, "set up a server: TestWelcomeByKeyboard", func(*world, *dashboardtest.Tab) {}},
	{"/app/{$}", "/app/", false, "see how things are, and go on from there", opens(`main a[href="/app/playground"].primary`, "/app/playground")},
	{"/app/find", "/app/find?q=Lola", false, "find an agent", opens(`.hits a[href="/app/agents/{agent}"]`, "/app/agents/{agent}")},
	{"/app/keys", "/app/keys", false, "make a key, and revoke it", makesKey},
	{"/app/keys/{id}/limit", "/app/keys/{key}/limit", false, "limit what a key may spend", limits},
	{"/app/webhooks", "/app/webhooks", false, "make a webhook", makesWebhook},
	{"/app/webhooks/{id}", "/app/webhooks/{hook}", false, "try a webhook, and delete it", triesWebhook},
	{"/app/people", "/app/people", false, "invite somebody", invitesSomebody},
	{"/app/accounts", "/app/accounts", false, "look at another account", switchesAccount},
	{"/app/me", "/app/me", false, "change one's password", changesPassword},
	{"/app/engines", "/app/engines", false, "see whether the engines work, and keep a key for one", keepsEngineKey},
	{"/app/setup", "/app/setup", false, "check the server again", checksServer},
	{"/app/nodes", "/app/nodes", false, "see which servers there are", reads("Nodes")},
	{"/app/operator/{id}", "/app/operator/{account}", false, "suspend an account", suspendsAccount},
	{"/app/operator", "/app/operator", false, "make an account", makesAccount},
	{"/app/agents", "/app/agents", false, "begin a new agent", opens(`a[href="/app/agents/new"].primary`, "/app/agents/new")},
	{"/app/agents/new", "/app/agents/new", false, "make an agent", makesAgent},
	{"/app/agents/{id}", "/app/agents/{agent}", false, "change an agent", changesAgent},
	{"/app/agents/{id}/document", "/app/agents/{agent}/document", false, "change the whole of it", changesDocument},
	{"/app/agents/{id}/versions", "/app/agents/{agent}/versions", false, "open a version", opens(`a[href$="/versions/1"]`, "/app/agents/{agent}/versions/1")},
	{"/app/agents/{id}/versions/{version}", "/app/agents/{agent}/versions/{version}", false, "go back to a version", presses("main .button.primary", "is again what it was in version 2")},
	{"/app/agents/{id}/functions", "/app/agents/{agent}/functions", false, "open a function", opens(`a[href$="/functions/1"]`, "/app/agents/{agent}/functions/1")},
	{"/app/agents/{id}/functions/{no}", "/app/agents/{agent}/functions/1", false, "change a function", presses(".savebar button", "order was saved")},
	{"/app/agents/{id}/functions/new", "/app/agents/{agent}/functions/new", false, "make a function, and try it", makesFunction},
	{"/app/agents/{id}/embed", "/app/agents/{agent}/embed", false, "copy the tag, and try the button", embedsAgent},
	{"/app/agents/{id}/compare", "/app/agents/{agent}/compare?calls=5", false, "compare with recorded calls", comparesAgent},
	{"/app/agents/import", "/app/agents/import", false, "import an agent", importsAgent},
	{"/app/agents/{id}/delete", "/app/agents/{doomed}/delete", false, "delete an agent", presses("main .danger", "Doomed was deleted.")},
	{"/app/agents/{id}/tests", "/app/agents/{agent}/tests", false, "run the test cases", runsTests},
	{"/app/agents/{id}/tests/new", "/app/agents/{agent}/tests/new", false, "write a test case", writesCase},
	{"/app/agents/{id}/tests/{case}", "/app/agents/{agent}/tests/{case}", false, "change a test case", changesCase},
	{"/app/agents/{id}/simulations/{simulation}", "/app/agents/{agent}/simulations/{simulation}", false, "read what a simulation came to", readsSimulation},
	{"/app/knowledge", "/app/knowledge", false, "make a collection of documents", makesCollection},
	{"/app/knowledge/{id}", "/app/knowledge/{base}", false, "add a document, and search", asksDocuments},
	{"/app/playground", "/app/playground", false, "talk with an agent", talks},
	{"/app/speech", "/app/speech", false, "have a text spoken", speaks},
	{"/app/calls", "/app/calls", false, "find calls", filters("#end_reason", "C", "/app/calls", "Caller hung up")},
	{"/app/insights", "/app/insights", false, "see how calls go", filters("#direction", "C", "/app/insights", "Seeing that the caller has finished")},
	{"/app/latency", "/app/latency", false, "see how long callers wait", filters("#direction", "I", "/app/latency", "By engine")},
	{"/app/calls/{id}", "/app/calls/{over}", false, "listen to a call", listens},
	{"/app/calls/{id}/completions/{no}", "/app/calls/{over}/completions/0", false, "read what the model was asked", reads("telephone of Casa Lola")},
	{"/app/calls/{id}/recording/delete", "/app/calls/{over}/recording/delete", false, "delete a recording", presses("main .danger", "The recording was deleted")},
	{"/app/calls/{id}/delete", "/app/calls/{over}/delete", false, "delete what was said", presses("main .danger", "The transcript and the recording were deleted")},
	{"/app/requests", "/app/requests", false, "find what was refused", filters("#outcome", "R", "/app/requests", "validation.invalid_voice")},
	{"/app/requests/{id}", "/app/requests/{asked}", false, "copy a request", reads("Send it again")},
	{"/app/messages", "/app/messages", false, "find a number that sends messages", opens(`main a[href="/app/numbers/search"]`, "/app/numbers/search")},
	{"/app/do-not-call", "/app/do-not-call", false, "put a number on the do-not-call list, and remove it", listsNumber},
	{"/app/consents", "/app/consents", false, "see who confirmed consent", reads("192.0.2.7")},
	{"/app/sounds", "/app/sounds", false, "add a sound, and delete it", keepsSound},
	{"/app/secrets", "/app/secrets", false, "store a secret, and delete it", storesSecret},
	{"/app/live", "/app/live", false, "follow what goes on", watches},
	{"/app/live/{id}", "/app/live/{lasts}", false, "end a call", hangsUp},
	{"/app/balance", "/app/balance", false, "limit a day, and top up", topsUp},
	{"/app/balance/statement", "/app/balance/statement", false, "see what was charged", filters("#kind", "U", "/app/balance/statement", "Conversation")},
	{"/app/balance/receipts/{id}", "/app/balance/receipts/{over}", false, "see what a call has cost", reads("Total")},
	{"/app/numbers", "/app/numbers", false, "choose who answers", assignsNumber},
	{"/app/numbers/search", "/app/numbers/search", false, "look for a number", filters("#country", "F", "/app/numbers/search", "Buy")},
	{"/app/numbers/buy", "/app/numbers/buy?number=%2B{offer}", false, "buy a number", buysNumber},
	{"/app/numbers/{id}/rules", "/app/numbers/{spare}/rules", false, "set opening hours", setsHours},
	{"/app/numbers/{id}/release", "/app/numbers/{spare}/release", false, "release a number", releasesNumber},
	{"/app/trunks", "/app/trunks", false, "make a trunk", makesTrunk},
	{"/app/trunks/{id}", "/app/trunks/{trunk}", false, "check a trunk, and have an agent answer an extension", changesTrunk},
	{"/app/dial", "/app/dial", false, "call somebody", calls},
	{"/app/bulk", "/app/bulk", false, "begin a batch", opens(`main a.primary`, "/app/bulk/new")},
	{"/app/bulk/new", "/app/bulk/new", false, "queue a batch", queuesBatch},
	{"/app/bulk/{id}", "/app/bulk/{batch}", false, "cancel a batch", presses("#cancel", "The batch is cancelled.")},
	{"/app/{rest...}", "/app/nothing", false, "find the way back", opens("main a.button", "/app/")},
}

// parts are what pages load besides, and files: no pages.
var parts = map[string]string{
	"/app/overview/live":                                 "/app/overview/live",
	"/app/engines/state":                                 "/app/engines/state",
	"/app/setup/checks":                                  "/app/setup/checks",
	"/app/live/rows":                                     "/app/live/rows",
	"/app/webhooks/{id}/deliveries":                      "/app/webhooks/{hook}/deliveries",
	"/app/calls/{id}/meter":                              "/app/calls/{lasts}/meter",
	"/app/calls/{id}/signalling":                         "/app/calls/{over}/signalling",
	"/app/calls/{id}/completions":                        "/app/calls/{over}/completions",
	"/app/bulk/{id}/progress":                            "/app/bulk/{batch}/progress",
	"/app/bulk/{id}/results.csv":                         "/app/bulk/{batch}/results.csv",
	"/app/bulk/template.csv":                             "/app/bulk/template.csv",
	"/app/knowledge/{id}/documents":                      "/app/knowledge/{base}/documents",
	"/app/agents/{id}/simulations/{simulation}/progress": "/app/agents/{agent}/simulations/{simulation}/progress",
	"/app/agents/{id}/export":                            "/app/agents/{agent}/export",
	"/app/playground/test-call/{id}":                     "/app/playground/test-call/{agent}",
}

// TestTheTourIsComplete: a page that is added has its place in it, and a task.
func TestTheTourIsComplete(t *testing.T) {
	registered := dashboard.Readable()
	for _, route := range registered {
		n := 0
		for _, p := range tour {
			if p.route == route {
				n++
			}
		}
		if _, part := parts[route]; part == (n == 1) {
			t.Errorf("%s is in the tour %d times, and a part: %v", route, n, part)
		}
	}
	for _, p := range tour {
		if !slices.Contains(registered, p.route) || p.task == "" || p.do == nil {
			t.Errorf("%s: there is no such page, or no task", p.route)
		}
	}
	for route := range parts {
		if !slices.Contains(registered, route) {
			t.Errorf("there is no %s", route)
		}
	}
}

// TestWidthsBetween: on small screens, and on large ones at 200 %, nothing scrolls sideways (WCAG 2.2, 1.4.10).
func TestWidthsBetween(t *testing.T) {
	w := newWorld(t)
	b := w.Tab(denied...)
	b.Allow("status of 404")
	for _, p := range tour {
		if p.out {
			continue
		}
		b.Go(w.at(p.path))
		for _, width := range []int64{640, 720, 768, 900, 962, 1024, 1100, 1280} {
			b.Width(width)
			b.NoSidewaysScroll()
		}
		b.Check()
	}
}

// TestEveryPage visits them in a browser: light and dark, wide and on a phone, and with
// the Tab key from end to end. Names and texts are hostile.
func TestEveryPage(t *testing.T) {
	w := newWorld(t)
	in, out := w.Tab(denied...), dashboardtest.Open(t, w.URL, denied...)
	in.Allow("status of 404")
	out.Allow("status of 404")
	for _, p := range tour {
		b := in
		if p.out {
			b = out
		}
		name := strings.Trim(strings.NewReplacer("/app/", "", "/", "-", "{", "", "}", "", "$", "", "...", "").Replace(p.route), "-")
		if name == "" {
			name = "home"
		}
		b.Go(w.at(p.path))
		if p.route == "/app/setup" {
			b.Says("thing is broken")
		}
		b.Accessible()
		b.Walk()
		b.Shot(name)
		b.Dark(true)
		b.Shot(name + "-dark")
		b.Dark(false)
		b.Phone()
		b.NoSidewaysScroll()
		b.Shot(name + "-phone")
		b.Wide()
		if dashboardtest.Eval[bool](b, `document.querySelector("img[src=x], [onerror], main script:not([type='application/json'])") !== null`) {
			t.Errorf("%s: a name has become a part of the page", p.path)
		}
		b.Check()
	}
	out.Go("/app/password?token=x") // a link that leads nowhere
	out.Accessible()
	out.Shot("dead-link")
	for _, path := range parts {
		if a := w.Get(w.at(path)); a.Status != 200 {
			t.Errorf("%s: %d", path, a.Status)
		}
	}
}
