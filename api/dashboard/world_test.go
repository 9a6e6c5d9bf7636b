package dashboard_test

import (
	"encoding/json"
	"net/netip"
	"strings"
	"testing"
	"time"

	"parley/api"
	"parley/api/callcenter"
	"parley/api/dashboard/dashboardtest"
	"parley/api/dashboard/voicetest"
	"parley/api/wsagent"
	"parley/billing"
	"parley/store"
	"parley/store/history"
	"parley/store/ledger"
	"parley/store/numbers"
	"parley/store/people"
	"parley/store/requests"
	"parley/store/storetest"
	"parley/store/trunks"
	"parley/store/webhook"
)

// world is a site with one of everything that pages show.
type world struct {
	*exchange
	ids map[string]string // of what the addresses of pages name
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{exchange: &exchange{changes: make(chan callcenter.Change, 10)}}
	dir := t.TempDir()
	w.Site = dashboardtest.NewSite(t, dashboardtest.Options{Mount: func(s *dashboardtest.Site, a *api.API) {
		w.mount(dir)(s, a)
		w.mountShop(s, a)
		mountTill(s, a)
		mountAgents(s, a)
		wsagent.Mount(a, &wsagent.Handler{Agents: &voicetest.Agent{}})
	}})
	w.SignIn()
	w.fill(dir)
	ctx := t.Context()
	agent := w.agent()
	number, err := numbers.New(w.DB).Import(ctx, w.Account, "+34911234567", agent)
	w.OK(err)
	spare, err := numbers.New(w.DB).Import(ctx, w.Account, "+34911234568", agent)
	w.OK(err)
	k, _, err := people.New(w.DB).MakeKey(ctx, people.NewKey{Account: w.Account, Name: "old website", Role: people.RoleMember})
	w.OK(err)
	w.OK(people.New(w.DB).RevokeKey(ctx, w.Account, k.ID))
	good, _, err := people.New(w.DB).MakeKey(ctx, people.NewKey{Account: w.Account, Name: "website", Role: people.RoleMember})
	w.OK(err)
	hook, _, err := w.Hooks.Create(ctx, w.Account, webhook.Webhook{URL: "https://example.com/parley", Description: "Bookings", Kinds: []string{store.CallEnded}})
	w.OK(err)
	line, err := w.Trunks.Create(ctx, w.Account, trunks.Draft{Name: "office", Sources: []netip.Prefix{},
		Settings: json.RawMessage(`{"targets":[{"host":"sip.carrier.example","transport":"tls"},{"host":"192.0.2.10","port":5080}],"allow":["192.0.2.0/28"],"username":"account","register":true,"country":"DE",` +
			`"extensions":[{"match":"1xx","agent_id":"` + agent + `"}]}`)})
	w.OK(err)
	_, err = numbers.New(w.DB).ImportOwn(ctx, w.Account, line.ID, "+4934112345678", agent)
	w.OK(err)
	w.OK(people.New(w.DB).AddMember(ctx, w.Account, w.NewUser("luis@example.com", people.RoleMember), people.RoleMember))
	_, _, err = people.New(w.DB).Invite(ctx, w.Account, "eva@example.com", people.RoleOwner, w.User)
	w.OK(err)
	asked, code, sent := store.NewID(store.RequestID, stamp()), "validation.invalid_voice", `{"text":"`+hostile+`"}`
	w.OK(requests.New(w.DB).Write(ctx, []requests.Request{{ID: asked, Account: w.Account, At: stamp(), Key: good.ID, Method: "POST", Route: "/tts/synthesize", Target: "/tts/synthesize?x=" + strings.Repeat("long", 40),
		Status: 400, Code: &code, TookMS: 12, BytesIn: 40, BytesOut: 120, Body: &sent, BodyCut: true}}))
	batch := w.Post("/app/bulk", "list", "34912345678\n34912345679\n", "name", "Friday "+hostile, "from", number.E164, "agent_id", agent, "on_machine", "continue", "consent", "on")
	other, err := ledger.New(w.DB).CreateAccount(ctx, "Another account with a name that is rather long", billing.DefaultRateCard())
	w.OK(err)
	w.OK(ledger.New(w.DB).OpenDispute(ctx, other.ID, "pi_1"))
	w.consents(agent, good.ID)
	w.ids = map[string]string{"agent": agent, "doomed": makeAgent(w.Site, w.Account, store.Agent{Name: "Doomed", Voice: "M1", Language: "en"}).ID,
		"zoe": makeAgent(w.Site, w.Account, store.Agent{Name: "Zoe", Voice: "F1", Language: "en"}).ID, "offer": forSale.FindStringSubmatch(w.Get("/app/numbers/search?country=ES").Body)[1],
		"number": number.ID, "spare": spare.ID, "hook": hook.ID, "trunk": line.ID, "key": good.ID, "account": other.ID, "over": w.over, "lasts": w.lasts, "version": "2", "asked": asked,
		"batch": strings.TrimPrefix(batch.Header.Get("Location"), "/app/bulk/")}
	w.ids["base"], w.ids["document"] = w.collection()
	w.ids["case"], w.ids["simulation"] = w.simulation(agent)
	w.ids["reset"], err = people.New(w.DB).NewSignInLink(ctx, w.User)
	w.OK(err)
	w.ids["first"], err = people.New(w.DB).NewSignInLink(ctx, "") // as if nobody had used it yet
	w.OK(err)
	_, w.ids["invited"], err = people.New(w.DB).Invite(ctx, w.Account, "noor@example.com", people.RoleMember, w.User)
	w.OK(err)
	return w
}

// consents has a call with evidence of consent.
func (w *world) consents(agent, key string) {
	w.T.Helper()
	l, ctx := ledger.New(w.DB), storetest.At(w.T.Context(), stamp().Add(-time.Minute))
	node, _, err := l.RegisterNode(ctx, "placing", "127.0.0.1:1")
	w.OK(err)
	c, err := l.StartSession(ctx, ledger.Start{Node: node, Account: w.Account, Agent: agent, From: "+34911234567", To: "+34612345678", Terms: billing.Terms{Kind: billing.Outbound, Country: "ES"},
		Card: billing.DefaultRateCard(), Consent: &ledger.Consent{Key: key, IP: "192.0.2.7"}})
	w.OK(err)
	_, err = l.CloseSession(ctx, c, ledger.Closing{Reason: "busy"})
	w.OK(err)
	w.OK(history.New(w.DB).SaveConversation(ctx, w.Account, c.ID, history.Conversation{Replay: []byte("record")}))
}

// agent makes one with something in each part of its form, and three versions.
func (w *world) agent() string {
	w.T.Helper()
	a := lola
	a.Name, a.Settings = "Lola "+hostile, json.RawMessage(rich)
	a.Prompt = "</textarea><script>alert(1)</script>\n" + strings.Repeat("We are open from nine to six. ", 12)
	made := makeAgent(w.Site, w.Account, a)
	changed := *made
	changed.Version = 0
	for _, prompt := range []string{"Be kind.", a.Prompt} {
		changed.Prompt = prompt
		_, err := w.DB.UpdateAgent(w.T.Context(), w.Account, changed)
		w.OK(err)
	}
	return made.ID
}

// at is an address in which names stand for what there is: "/app/agents/{agent}".
func (w *world) at(path string) string {
	for name, id := range w.ids {
		path = strings.ReplaceAll(path, "{"+name+"}", id)
	}
	return path
}

// fullSite is the world's site, with the addresses of its pages.
func fullSite(t *testing.T) (s *dashboardtest.Site, pages []string) {
	w := newWorld(t)
	for _, p := range tour {
		if !p.out {
			pages = append(pages, w.at(p.path))
		}
	}
	return w.Site, pages
}
