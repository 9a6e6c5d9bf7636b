package dashboard_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"parley/api/dashboard/dashboardtest"
)

func makesAgent(w *world, b *dashboardtest.Tab) {
	b.Skip()
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
	b.Says("1 problem to fix")
	b.Wait(`document.activeElement.id === "speed"`) // the first that is wrong
	b.Press(kb.End, kb.Backspace, "1.5")
	b.Wait(`!document.querySelector("#speed-error") && !document.querySelector("#complaints li")`)
	b.TabTo("#knows > summary")
	b.Press(kb.Enter)
	b.TabTo("[data-more][value=knowledge]")
	b.Press(kb.Enter)
	b.Wait(`document.activeElement.id === "knowledge_title_1"`)
	b.Press("Hours", kb.Tab, "Nine to six.")
	b.TabTo("[data-more][value=knowledge]")
	b.Press(kb.Enter)
	b.Wait(`document.activeElement.id === "knowledge_title_2"`)
	b.Press("Never mind")
	b.TabTo("#knowledge .entry:last-child [data-remove]")
	b.Press(kb.Enter)
	b.Wait(`document.activeElement.value === "knowledge" && !document.querySelector("#knowledge_title_2")`)
	b.TabTo(".savebar button")
	b.Press(kb.Enter)
	b.Wait(`location.pathname.startsWith("/app/agents/ag_") && document.readyState === "complete"`)
	b.Says("Lola is there.")
	id := strings.TrimPrefix(dashboardtest.Eval[string](b, "location.pathname"), "/app/agents/")
	made, err := w.DB.Agent(w.T.Context(), w.Account, id)
	w.OK(err)
	if made.Prompt != "You answer the telephone of Casa Lola." || made.FirstMessage != "Hello, how can I help you? Welcome." ||
		strings.ReplaceAll(string(made.Settings), " ", "") != `{"knowledge":[{"title":"Hours","text":"Ninetosix."}],"speed":1.5}` {
		w.T.Errorf("%+v %s", made, made.Settings)
	}
}

func changesAgent(w *world, b *dashboardtest.Tab) {
	b.Skip()
	b.TabTo("#prompt")
	b.Press(kb.End, " Be brief.")
	b.Wait(`document.querySelector("[data-state]").textContent === "Not saved"`)
	b.TabTo("[type=checkbox][name=knowledge_bases]")
	b.Press(" ")
	b.TabTo("#knowledge_mode")
	b.Press("E") // Each time the caller has spoken
	b.TabTo("[data-more][value=transfer_to]")
	b.Press(kb.Enter)
	b.Wait(`document.activeElement.id === "transfer_to_number_2"`)
	b.Press("12")
	b.Wait(`document.querySelector("#transfer_to_number_2-error") && document.activeElement.id === "transfer_to_number_2" && document.activeElement.ariaInvalid === "true"`)
	b.Accessible()
	b.Press(kb.Backspace, kb.Backspace, "+34911234569", kb.Tab, "Boss")
	b.Wait(`!document.querySelector("#transfer_to_number_2-error")`)
	b.TabTo("#on_machine")
	b.Press("H") // Hang up
	b.TabTo("#opt_out")
	b.Press(" ")
	b.TabTo("[data-more][value=analysis_extract]")
	b.Press(kb.Enter)
	b.Wait(`document.activeElement.id === "analysis_extract_name_3" && document.querySelector("#analysis_extract_choices_3").checkVisibility() === false`)
	b.Press("mood", kb.Tab, "O", kb.Tab) // One of several answers
	b.Wait(`document.activeElement.id === "analysis_extract_choices_3"`)
	b.Press("good, bad")
	b.TabTo("#engines_asr_engine_0")
	b.Press("p") // pocketsphinx
	b.Shot("changed")
	b.TabTo(".savebar button")
	b.Press(kb.Enter)
	b.Says("Saved as version 4")
	saved, err := w.DB.Agent(w.T.Context(), w.Account, w.ids["agent"])
	w.OK(err)
	for _, want := range []string{`{"number":"+34911234569","name":"Boss"}`, `"on_machine":"hangup"`, `"opt_out":false`, `"mood":{"type":"string","enum":["good","bad"]}`, `"asr":"pocketsphinx"`, `"knowledge_bases":["` + w.ids["base"] + `"]`, `"knowledge_mode":"turn"`,
		`"later":{"than":["this","form"]}`} {
		if settings := strings.ReplaceAll(strings.ReplaceAll(string(saved.Settings), `", "`, `","`), `": `, `":`); !strings.Contains(settings, want) {
			w.T.Errorf("no %s in %s", want, settings)
		}
	}
}

func changesDocument(w *world, b *dashboardtest.Tab) {
	b.Skip()
	b.TabTo("#document")
	b.Press("# reviewed", kb.Enter)
	b.TabTo(".savebar button")
	b.Press(kb.Enter)
	b.Says("Nothing was changed.") // a comment is no part of it
}

func importsAgent(_ *world, b *dashboardtest.Tab) {
	b.Skip()
	b.TabTo("#document")
	b.Press("name: Imported")
	b.TabTo("main form .primary")
	b.Press(kb.Enter)
	b.Says("Imported was imported.")
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
	dashboardtest.Eval[string](b, `document.querySelector("#language").value = "auto-es"`) // its caller's, and Spanish at first
	b.Click("[data-listen]")
	b.Says("Speaking…")
	b.Wait(`document.querySelector("[data-listen]").textContent === "Listen" && document.querySelector("#listen-said").textContent === ""`)
	b.Press(kb.Escape)
	b.Click(".savebar button")
	b.Says("Saved as version 2")
}
