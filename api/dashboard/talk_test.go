package dashboard_test

import (
	"testing"

	"parley/api"
	"parley/api/dashboard/dashboardtest"
	"parley/api/dashboard/voicetest"
	"parley/api/wsagent"
)

// TestSaveAndTalk: one button saves what is entered and begins a conversation with it beside the form, as often as it is
// pressed; what cannot be saved is said, and nothing begins.
func TestSaveAndTalk(t *testing.T) {
	agent := &voicetest.Agent{}
	s := dashboardtest.NewSite(t, dashboardtest.Options{Mount: func(s *dashboardtest.Site, a *api.API) {
		mountAgents(s, a)
		wsagent.Mount(a, &wsagent.Handler{Agents: agent})
	}})
	a := makeAgent(s, s.Account, lola)
	b := s.Tab(voicetest.Microphone(t, faint())...)
	b.Allow("status of 422")
	b.Go("/app/agents/" + a.ID)
	b.Wait(js("panel && session.state === 'idle'"))
	for n, prompt := range []string{"Be brief.", "Be briefer."} {
		b.Fill("#prompt", prompt)
		b.Wait(`document.querySelector("[data-state]").textContent === "Not saved"`)
		b.Click("[data-talk]")
		eventually(t, "a conversation", func() bool { return len(agent.Talks()) == n+1 })
		b.Wait(js("session.state === 'live' && text('state') === 'Connected. Say something.'"))
		saved, err := s.DB.Agent(t.Context(), s.Account, a.ID)
		s.OK(err)
		if saved.Prompt != prompt || saved.Version != int64(n+2) {
			t.Errorf("version %d: %s", saved.Version, saved.Prompt)
		}
		b.Wait(`document.querySelector("[data-state]").textContent.startsWith("Version ") && location.pathname.endsWith("` + a.ID + `")`)
		if n > 0 {
			eventually(t, "the end of the first", agent.Talks()[0].Over)
		}
	}
	b.Accessible()
	b.Shot("talking")
	b.Fill("#speed", "9")
	b.Click("[data-talk]")
	b.Says("1 problem to fix")
	b.Wait(`document.querySelector("#speed").ariaInvalid === "true"`)
	if n := len(agent.Talks()); n != 2 {
		t.Errorf("%d conversations", n)
	}
}
