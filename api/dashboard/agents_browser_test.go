package dashboard_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"parley/api/dashboard/dashboardtest"
	"parley/store"
)

// TestAgentByKeyboard: an agent is made, put right, saved, compared and restored without
// a mouse.
func TestAgentByKeyboard(t *testing.T) {
	s := agentSite(t)
	b := s.Tab()
	b.Go("/app/agents")
	b.Says("No agent yet")
	b.Accessible()
	b.TabTo(`a[href="/app/agents/new"].primary`)
	b.Press(kb.Enter)
	b.At("/app/agents/new")
	b.TabTo("#name")
	b.Press("Lola")
	b.TabTo("#first_message")
	b.Press(kb.End, " Welcome.")
	b.TabTo("#prompt")
	b.Press("You answer the telephone of Casa Lola.")
	b.TabTo("#speed")
	b.Press("9")
	b.Wait(`document.querySelector("#speed-error")?.textContent.includes("allowed are 0.5 to 2")`)
	b.Wait(`document.querySelector("#speed").getAttribute("aria-describedby").split(" ")[0] === "speed-error" && document.querySelector("#speed").ariaInvalid === "true"`)
	b.Wait(`document.activeElement.id === "speed"`) // nothing took the focus away
	b.Accessible()
	b.Shot("wrong")
	b.Press(kb.Enter) // the server says the same, and nothing is made
	b.At("/app/agents")
	b.Says("1 thing to mend")
	b.Wait(`document.activeElement.id === "speed"`) // the first that is wrong
	b.Press(kb.End, kb.Backspace, "1.5")
	b.Wait(`!document.querySelector("#speed-error") && !document.querySelector("#complaints li")`)
	b.TabTo(".savebar button")
	b.Press(kb.Enter)
	b.Wait(`location.pathname.startsWith("/app/agents/ag_") && document.readyState === "complete"`)
	b.Says("Lola is there.")
	at := dashboardtest.Eval[string](b, "location.pathname")

	b.TabTo("#prompt")
	b.Press(kb.End, " Be brief.")
	b.Wait(`document.querySelector("[data-state]").textContent === "Not saved"`)
	b.TabTo("#knows > summary")
	b.Press(kb.Enter)
	b.TabTo("[data-more]")
	b.Press(kb.Enter)
	b.Wait(`document.activeElement.id === "knowledge_title_1"`)
	b.Press("Hours")
	b.Press(kb.Tab, "Nine to six.")
	b.TabTo(".savebar button")
	b.Press(kb.Enter)
	b.Says("Saved as version 2")
	saved, err := s.DB.Agent(t.Context(), s.Account, strings.TrimPrefix(at, "/app/agents/"))
	s.OK(err)
	if saved.Prompt != "You answer the telephone of Casa Lola. Be brief." || !strings.Contains(string(saved.Settings), `{"title": "Hours", "text": "Nine to six."}`) &&
		!strings.Contains(string(saved.Settings), `{"title":"Hours","text":"Nine to six."}`) || saved.FirstMessage != "Hello, how can I help you? Welcome." {
		t.Errorf("%+v %s", saved, saved.Settings)
	}

	b.TabTo(`.tabs a[href$="/versions"]`)
	b.Press(kb.Enter)
	b.At(at + "/versions")
	b.Accessible()
	b.Shot("versions")
	b.TabTo(`a[href$="/versions/1"]`)
	b.Press(kb.Enter)
	b.At(at + "/versions/1")
	b.Accessible()
	b.TabTo("main .button.primary")
	b.Press(kb.Enter)
	b.Says("is again what it was in version 1")
	b.Go(at + "/versions/3")
	b.Says("− You answer the telephone of Casa Lola. Be brief.")
	b.Accessible()
	b.Shot("difference")
}

// TestEditorLooks: with data, light and dark, on a phone; hostile names are text.
func TestEditorLooks(t *testing.T) {
	s := agentSite(t)
	hostile := lola
	hostile.Name = `Lola <img src=x onerror=alert(1)> "'&`
	hostile.Prompt = "</textarea><script>alert(1)</script>\n" + strings.Repeat("We are open from nine to six. ", 12)
	a := makeAgent(s, s.Account, hostile)
	makeAgent(s, s.Account, store.Agent{Name: "Reception", Voice: "M1", Language: "en", Prompt: "Be kind."})
	_, err := s.DB.ImportNumber(t.Context(), s.Account, "+34911234567", a.ID, stamp())
	s.OK(err)
	changed := *a
	changed.Version = 0
	changed.Prompt, changed.Settings = "Be kind.", json.RawMessage(`{"speed":1}`)
	_, err = s.DB.UpdateAgent(t.Context(), s.Account, changed, stamp())
	s.OK(err)
	changed.Prompt, changed.Settings = hostile.Prompt, hostile.Settings
	_, err = s.DB.UpdateAgent(t.Context(), s.Account, changed, stamp())
	s.OK(err)
	b := s.Tab()
	for name, path := range map[string]string{"list": "", "new": "/new", "import": "/import", "edit": "/" + a.ID, "document": "/" + a.ID + "/document",
		"version": "/" + a.ID + "/versions/3", "delete": "/" + a.ID + "/delete"} {
		b.Go("/app/agents" + path)
		if name != "new" && name != "import" {
			b.Says(hostile.Name)
		}
		b.Accessible()
		b.Shot(name + "-light")
		b.Dark(true)
		b.Shot(name + "-dark")
		b.Dark(false)
		b.Phone()
		b.NoSidewaysScroll()
		b.Shot(name + "-phone")
		b.Wide()
		if dashboardtest.Eval[bool](b, `document.querySelector("img[src=x]") !== null || document.querySelectorAll("main script").length > 0`) {
			t.Errorf("%s: a name has become a part of the page", name)
		}
	}
}

// TestLeavingAnEditor: what was not saved is asked about, and the voice is heard on request.
func TestLeavingAnEditor(t *testing.T) {
	s := agentSite(t)
	a := makeAgent(s, s.Account, lola)
	b := s.Tab()
	b.Go("/app/agents/" + a.ID)
	asks := func() bool {
		return dashboardtest.Eval[bool](b, `(() => { const e = new Event("beforeunload", {cancelable: true}); return !dispatchEvent(e) })()`)
	}
	if asks() {
		t.Error("it asks though nothing was changed")
	}
	b.Fill("#name", "Somebody")
	if !asks() {
		t.Error("it does not ask though the name was changed")
	}
	b.Click(`input[name=speaks][value=caller]`)
	b.Wait(`document.querySelector("#first_message").offsetParent === null`)
	b.Click(`input[name=speaks][value=agent]`)
	b.Wait(`document.querySelector("#first_message").offsetParent !== null`)
	b.Click("[data-listen]")
	b.Says("Speaking…")
	b.Wait(`document.querySelector("[data-listen]").textContent === "Listen" && document.querySelector("#listen-said").textContent === ""`)
	b.Press(kb.Escape)
	b.Click(".savebar button")
	b.Says("Saved as version 2")
}
