package dashboard_test

import (
	"encoding/json"
	"html"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"parley/api"
	"parley/api/dashboard"
	"parley/api/dashboard/dashboardtest"
	"parley/api/dashboard/voicetest"
	"parley/api/wire"
	"parley/api/wsagent"
	"parley/store"
)

// TestEmbedPage: what is copied from it is right for a page of any site, whatever the agent is called
// and its variables hold.
func TestEmbedPage(t *testing.T) {
	s := dashboardtest.NewSite(t, dashboardtest.Options{Mount: mountAgents, Change: func(_ *dashboardtest.Site, d *dashboard.Options) { d.Base = "https://voice.example.com" }}).SignIn()
	plain := makeAgent(s, s.Account, store.Agent{Name: "Max", Voice: "M1", Language: "en"})
	open := makeAgent(s, s.Account, store.Agent{Name: `Lola "L" <b>`, Voice: "F1", Language: "en",
		Settings: json.RawMessage(`{"variables":{"name":"nobody","page":"Lola's <rooms>","plan":""},"public_variables":["plan","page"]}`)})
	page := s.Get("/app/agents/" + open.ID + "/embed")
	shown := html.UnescapeString(page.Body)
	for _, want := range []string{
		`<script src="https://voice.example.com/widget.js" data-agent-name="Lola &#34;L&#34; &lt;b&gt;" data-ticket-url="/talk-ticket" data-variables='{"plan":"","page":"Lola&#39;s \u003crooms\u003e"}' async></script>`,
		`-d '{"agent_id":"` + open.ID + `","ttl_seconds":60,"max_sessions":1,"max_duration_seconds":300}'`,
		"script-src https://voice.example.com; connect-src 'self' https://voice.example.com wss://voice.example.com\n",
		"<dt><code>plan</code></dt>", "<dt><code>page</code></dt>",
	} {
		if !strings.Contains(shown, want) {
			t.Errorf("the page has no %s", want)
		}
	}
	if page.Status != http.StatusOK || strings.Contains(shown, "<code>name</code>") {
		t.Errorf("%d, and a variable that pages may not set: %v", page.Status, strings.Contains(shown, "<code>name</code>"))
	}
	if page := s.Get("/app/agents/" + plain.ID + "/embed").Body; !strings.Contains(page, "The page may set none.") || strings.Contains(page, "data-variables=") {
		t.Error("an agent without public variables has some")
	}
	if a := s.Get("/app/agents/ag_0/embed"); a.Status != http.StatusNotFound {
		t.Errorf("a foreign agent: %d", a.Status)
	}
}

// TestEmbedTickets: the preview gets what visitors get, a ticket for one conversation with this agent.
func TestEmbedTickets(t *testing.T) {
	s := agentSite(t).SignIn()
	a := makeAgent(s, s.Account, lola)
	at := "/app/agents/" + a.ID + "/embed/ticket"
	answer := s.Post(at)
	var minted struct {
		wire.Minted
		AgentID     string `json:"agent_id"`
		MaxSessions int    `json:"max_sessions"`
	}
	answer.JSON(t, &minted)
	if answer.Status != http.StatusOK || minted.AgentID != a.ID || minted.MaxSessions != 1 || answer.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%d %+v %v", answer.Status, minted, answer.Header)
	}
	if bound := s.Ask(s.NewClient(), http.MethodGet, "/v1/agents", "", "Authorization", "Bearer "+minted.Ticket); bound.Status != http.StatusForbidden {
		t.Errorf("the ticket opens agents: %d %s", bound.Status, bound.Body)
	}
	if foreign := s.Post("/app/agents/ag_0/embed/ticket"); foreign.Status != http.StatusNotFound {
		t.Errorf("a foreign agent: %d", foreign.Status)
	}
	if other := s.Ask(s.Client, http.MethodPost, at, "", "Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"); other.Status != http.StatusForbidden {
		t.Errorf("from another site: %d", other.Status)
	}
	if stranger := s.Ask(s.NewClient(), http.MethodPost, at, "", "Sec-Fetch-Site", "same-origin"); stranger.Status == http.StatusOK {
		t.Errorf("without a sign-in: %s", stranger.Body)
	}
}

// TestEmbedPreview: the button of the page talks with its agent, as a visitor would.
func TestEmbedPreview(t *testing.T) {
	agent := &voicetest.Agent{}
	s := dashboardtest.NewSite(t, dashboardtest.Options{Mount: func(s *dashboardtest.Site, a *api.API) {
		mountAgents(s, a)
		wsagent.Mount(a, &wsagent.Handler{Agents: agent})
	}})
	a := makeAgent(s, s.Account, lola)
	b := s.Tab(voicetest.Microphone(t, faint())...)
	b.Go("/app/agents/" + a.ID + "/embed")
	b.Click("[data-preview]")
	b.Wait(widgetJS("find('.launch')"))
	dashboardtest.Eval[bool](b, widgetJS("(find('.launch').focus(), true)"))
	b.Press(kb.Enter)
	b.Wait(widgetJS("session.state === 'live' && seen().includes('Talk to Lola')"))
	eventually(t, "a conversation", func() bool { return len(agent.Talks()) == 1 })
	if ticket := agent.Talks()[0].Who.Ticket; ticket == nil || ticket.Agent != a.ID {
		t.Errorf("it talks as %+v", agent.Talks()[0].Who)
	}
}

func embedsAgent(_ *world, b *dashboardtest.Tab) {
	b.Skip()
	b.TabTo("[data-copy=tag]")
	b.Press(kb.Enter)
	b.Wait(`/^(Copied|Selected)/.test(document.querySelector("[data-copy=tag]").textContent)`)
	b.TabTo("[data-preview]")
	b.Press(kb.Enter)
	b.Wait(`document.querySelector("parley-talk")?.shadowRoot.querySelector(".launch")?.checkVisibility()`)
	b.Says("at the bottom right")
	b.Accessible()
	b.Shot("preview")
}
