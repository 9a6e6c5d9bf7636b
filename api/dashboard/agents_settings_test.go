package dashboard_test

import (
	"encoding/json"
	"html"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"parley/api/apitest"
	"parley/api/dashboard/dashboardtest"
	"parley/api/manage"
	"parley/store"
)

// TestEverySettingHasAField: what the API describes can be set in the form.
func TestEverySettingHasAField(t *testing.T) {
	s := agentSite(t).SignIn()
	page := s.Get("/app/agents/new").Body
	settings := apitest.Published(t).Components.Schemas["AgentSettings"].Value.Properties
	if len(settings) < 20 {
		t.Fatalf("%d settings", len(settings))
	}
	for name, ref := range settings {
		described := ref.Value
		fields := []string{name}
		if len(described.Properties) > 0 {
			fields = nil
			for inner := range described.Properties {
				fields = append(fields, name+"_"+inner)
			}
		}
		for _, field := range fields {
			if !strings.Contains(page, ` name="`+field+`"`) && !strings.Contains(page, ` name="`+field+`_`) {
				t.Errorf("there is no field for %s", field)
			}
		}
	}
}

// TestNewSettingsHaveFields: what the schema gets is entered, said to be wrong and saved without
// an edit of the pages, whatever its type.
func TestNewSettingsHaveFields(t *testing.T) {
	schema := agentSchema(t)
	settings := schema["properties"].(map[string]any)["settings"].(map[string]any)
	properties := settings["properties"].(map[string]any)
	names := []string{}
	for name, described := range map[string]string{
		"mood":    `{"type":"string","title":"Mood","enum":["calm","merry"],"default":"calm"}`,
		"pauses":  `{"type":"integer","title":"Pauses","minimum":1,"maximum":9,"default":3}`,
		"sings":   `{"type":"boolean","title":"Sings"}`,
		"sleeps":  `{"type":"boolean","title":"Sleeps","default":true}`,
		"motto":   `{"type":"string","title":"Motto","x-form":{"label":"What it lives by","hint":"In a few words."}}`,
		"heroes":  `{"type":"array","title":"Heroes","items":{"type":"string"}}`,
		"friends": `{"type":"array","title":"Friends","items":{"type":"object","title":"A friend","properties":{"name":{"type":"string","title":"Their name"}},"required":["name"],"x-form":{"fields":["name"]}},"x-form":{"add":"Add a friend"}}`,
	} {
		var of any
		if err := json.Unmarshal([]byte(described), &of); err != nil {
			t.Fatal(err)
		}
		properties[name], names = of, append(names, name)
	}
	form := settings["x-form"].(map[string]any)
	form["sections"] = append(form["sections"].([]any), map[string]any{"id": "soul", "title": "Its soul", "fields": names})
	s := dashboardtest.NewSite(t, dashboardtest.Options{Mount: mountAgentsOf(schema)}).SignIn()
	page := s.Get("/app/agents/new").Body
	for _, want := range []string{`<details class="card" id="soul"`, `>What it lives by <`, `In a few words.`, `<option value="merry">merry</option>`, `name="pauses" type="number"`,
		`min="1" max="9"`, `placeholder="3"`, `name="sleeps" type="checkbox" value="on" checked`, `Add a friend`, `>Their name<`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s", want)
		}
	}
	a := makeAgent(s, s.Account, lola)
	at := "/app/agents/" + a.ID
	fields := entries(s.Get(at).Body)
	for _, pair := range [][2]string{{"mood", "merry"}, {"pauses", "4"}, {"sings", "on"}, {"sleeps", ""}, {"motto", "Be."}, {"heroes", "Ada\r\nAlan"}, {"friends_name", "Eve"}} {
		fields = with(fields, pair[0], pair[1])
	}
	if w := s.Post(at, fields...); w.Status != http.StatusSeeOther {
		t.Fatalf("%d %s", w.Status, w.Body)
	}
	saved, err := s.DB.Agent(t.Context(), s.Account, a.ID)
	s.OK(err)
	changes, err := manage.Changes(a, saved)
	s.OK(err)
	text, err := json.Marshal(changes)
	s.OK(err)
	const want = `[{"path":"settings.friends[0]","after":{"name":"Eve"}},{"path":"settings.heroes[0]","after":"Ada"},{"path":"settings.heroes[1]","after":"Alan"},` +
		`{"path":"settings.mood","after":"merry"},{"path":"settings.motto","after":"Be."},{"path":"settings.pauses","after":4},{"path":"settings.sings","after":true},{"path":"settings.sleeps","after":false}]`
	if string(text) != want {
		t.Errorf("saved is %s", text)
	}
}

// rich are settings of all kinds, some of which say what counts anyway, or more than a
// field can show.
const rich = `{"speed":1.0,"interruptible":"always","first_message_interruptible":"never","key_interrupts":true,"record":false,"send_dtmf":false,"opt_out":true,
	"min_endpoint_ms":150,"max_endpoint_ms":3000,"barge_in_ms":500,"ring_ms":0,"speculative_llm":false,"speculative_voice":true,"goodbye":" Bye. ",
	"phrases":["half board","a = b"],"pronunciation":[{"word":"a = b","say":"c"}],"variables":{"text":"one\ntwo"},"later":{"than":["this","form"]},
	"transfer_to":[{"number":"+34911234567","name":"Sales","description":"Prices","warm":true},{"number":"+34911234568","stay":true}],"hold_announcement_seconds":30,"hold_announcement":"Wait.","listening_tone":true,"transfer_any":false,
	"on_machine":"message","machine_message":"Call us.","engines":{"llm":["gone",{"engine":"mind","model":"m","options":{"temperature":0.3,"stop":["a","b"],"deep":{"x":"1"}}},{"engine":"scripted"}],"tts":"espeak","asr":[],"vad":["silero"],"denoise":"gtcrn","nose":1},
	"analysis":{"summary":true,"summary_prompt":"Dishes","later":1,"extract":{"type":"object","required":["status","guests"],"properties":{"guests":{"type":"integer","description":"How many"},
	"status":{"type":"string","enum":["booked","cancelled"]},"when":{"type":"string"}}}}}`

// TestRichAgentsStayAsTheyAre: a form that is saved as it is shown changes nothing, and
// one in which a field is changed nothing else.
func TestRichAgentsStayAsTheyAre(t *testing.T) {
	s := agentSite(t).SignIn()
	nested := strings.Replace(rich, `"when":{"type":"string"}`, `"when":{"type":"array","items":{"type":"string"}}`, 1)
	for settings, version := range map[string]int64{rich: 2, nested: 2,
		`{"engines":{},"analysis":{},"goodbye":null,"transfer_to":null,"send_dtmf":null}`: 3} { // its empty fields go when it is first saved
		rich := lola
		rich.Settings, rich.Prompt = json.RawMessage(settings), "Be kind.\n\n  Be brief.\n"
		a := makeAgent(s, s.Account, rich)
		at := "/app/agents/" + a.ID
		fields := entries(s.Get(at).Body)
		for _, name := range []string{"Lola", "Another"} {
			fields = with(fields, "name", name)
			if w := s.Post(at, fields...); w.Status != http.StatusSeeOther {
				t.Fatalf("%d %s\n%q", w.Status, w.Body, fields)
			}
			fields = entries(s.Get(at).Body)
		}
		saved, err := s.DB.Agent(t.Context(), s.Account, a.ID)
		s.OK(err)
		changes, err := manage.Changes(a, saved)
		if err != nil || len(changes) != 1 || changes[0].Path != "name" || saved.Version != version {
			t.Errorf("version %d: %+v %v", saved.Version, changes, err)
		}
	}
}

// TestSettingsAreEntered: what is written into the fields is what the document has then.
func TestSettingsAreEntered(t *testing.T) {
	s := agentSite(t).SignIn()
	for _, tt := range []struct{ from, fields, want string }{
		{`{}`, "transfer_to_number=+34911234567&transfer_to_name=Sales&transfer_to_description=&transfer_to_warm=on&on_machine=message&machine_message=Call us.",
			`{"transfer_to":[{"number":"+34911234567","name":"Sales","warm":true}],"on_machine":"message","machine_message":"Call us."}`},
		{`{}`, "transfer_to_number=+34911234567&transfer_to_name=&transfer_to_description=&transfer_to_warm=&transfer_to_stay=on&hold_announcement_seconds=30&hold_announcement=Wait.&listening_tone=on",
			`{"transfer_to":[{"number":"+34911234567","stay":true}],"hold_announcement_seconds":30,"hold_announcement":"Wait.","listening_tone":true}`},
		{`{}`, "engines_llm_engine=scripted&engines_llm_engine=&engines_llm_engine=espeak&engines_tts_engine=espeak", `{"engines":{"llm":["scripted","espeak"],"tts":"espeak"}}`},
		{`{"engines":{"llm":"scripted","tts":"espeak"}}`, "engines_llm_engine=", `{"engines":{"tts":"espeak"}}`},
		{`{"engines":{"llm":"scripted"}}`, "engines_llm_engine=", `{}`},
		{`{}`, "engines_llm_engine=scripted&engines_llm_model=m&engines_llm_options=temperature: 0.3\r\neffort: low", `{"engines":{"llm":{"engine":"scripted","model":"m","options":{"temperature":0.3,"effort":"low"}}}}`},
		{`{"engines":{"llm":[{"engine":"scripted","options":{"temperature":1}},"espeak"]}}`, "engines_llm_options=", `{"engines":{"llm":["scripted","espeak"]}}`},
		{`{}`, "engines_vad=silero&engines_denoise=off", `{"engines":{"vad":"silero","denoise":"off"}}`},
		{`{"engines":{"vad":["silero"],"denoise":"gtcrn"}}`, "engines_denoise=", `{"engines":{"vad":["silero"]}}`},
		{`{}`, "analysis_summary=on&analysis_extract_name=guests&analysis_extract_kind=integer&analysis_extract_choices=&analysis_extract_description=How many&analysis_extract_needed=on",
			`{"analysis":{"summary":true,"extract":{"type":"object","properties":{"guests":{"type":"integer","description":"How many"}},"required":["guests"]}}}`},
		{`{}`, "analysis_extract_name=status&analysis_extract_kind=choice&analysis_extract_choices=booked, cancelled,&analysis_extract_description=&analysis_extract_needed=",
			`{"analysis":{"extract":{"type":"object","properties":{"status":{"type":"string","enum":["booked","cancelled"]}}}}}`},
		{`{"analysis":{"extract":{"type":"object","properties":{"x":{"type":"array"}}}}}`, "analysis_extract=type: object\r\nproperties: {y: {type: string}}",
			`{"analysis":{"extract":{"type":"object","properties":{"y":{"type":"string"}}}}}`},
		{`{"analysis":{"summary":true,"extract":{"type":"object","properties":{"x":{"type":"array"}}}}}`, "analysis_extract=", `{"analysis":{"summary":true}}`},
		{`{"opt_out":true}`, "opt_out=&send_dtmf=", `{"opt_out":false,"send_dtmf":false}`},
		{`{"opt_out":false}`, "opt_out=on", `{}`},
		{`{}`, "phrases= half board\r\n\r\nfull board&min_endpoint_ms=150&first_message_interruptible=never&transfer_any=on", `{"phrases":["half board","full board"],"min_endpoint_ms":150,"first_message_interruptible":"never","transfer_any":true}`},
		{`{"interruptible":"always","ring_ms":7}`, "interruptible=never&ring_ms=", `{"interruptible":"never"}`},
	} {
		a := makeAgent(s, s.Account, store.Agent{Name: "Lola", Voice: "F1", Language: "en", FirstMessage: "Hi!", Settings: json.RawMessage(tt.from)})
		at := "/app/agents/" + a.ID
		fields := entries(s.Get(at).Body)
		given := map[string]bool{}
		for _, pair := range strings.Split(tt.fields, "&") {
			name, value, _ := strings.Cut(pair, "=")
			if given[name] {
				fields = append(fields, name, value)
			} else {
				fields = with(fields, name, value)
			}
			given[name] = true
		}
		if w := s.Post(at, fields...); w.Status != http.StatusSeeOther {
			t.Errorf("%s: %d %s", tt.fields, w.Status, html.UnescapeString(w.Body))
			continue
		}
		saved, err := s.DB.Agent(t.Context(), s.Account, a.ID)
		s.OK(err)
		var got, want any
		if json.Unmarshal(saved.Settings, &got) != nil || json.Unmarshal([]byte(tt.want), &want) != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s with %s: %s, want %s", tt.from, tt.fields, saved.Settings, tt.want)
		}
	}
}

// TestMistakesInEntries stand beside the entry, counted as people see them.
func TestMistakesInEntries(t *testing.T) {
	s := agentSite(t).SignIn()
	fields := entries(s.Get("/app/agents/new").Body)
	for _, tt := range []struct{ fields, at, says string }{
		{"transfer_to_number=&transfer_to_name=&transfer_to_description=&transfer_to_warm=&transfer_to_number=12&transfer_to_name=&transfer_to_description=&transfer_to_warm=", "transfer_to_number_1", "Must be a telephone number."},
		{"engines_llm_engine=&engines_llm_engine=nobody", "engines_llm_engine_1", "There is no engine"},
		{"engines_llm_engine=scripted&engines_llm_model=&engines_llm_options=a: [", "engines_llm_options_0", "Line 1: "},
		{"analysis_extract_name=day&analysis_extract_kind=integer&analysis_extract_choices=&analysis_extract_description=bad&analysis_extract_needed=", "analysis_extract_description_0", "Is bad."},
		{"analysis_extract_name=&analysis_extract_kind=&analysis_extract_choices=&analysis_extract_description=x&analysis_extract_needed=", "analysis_extract_name_0", "Enter a name."},
		{"analysis_extract_name=a&analysis_extract_kind=choice&analysis_extract_choices=,&analysis_extract_description=x&analysis_extract_needed=", "analysis_extract_choices_0", "Write the answers"},
	} {
		all := append([]string{}, fields...)
		for i := 0; i < len(all); i += 2 {
			if strings.Contains("&"+tt.fields, "&"+all[i]+"=") {
				all = append(all[:i], all[i+2:]...)
				i -= 2
			}
		}
		for _, pair := range strings.Split("name=Lola&"+tt.fields, "&") {
			name, value, _ := strings.Cut(pair, "=")
			if name == "name" {
				all = with(all, name, value)
			} else {
				all = append(all, name, value)
			}
		}
		w := s.Post("/app/agents", all...)
		if page := html.UnescapeString(w.Body); w.Status != http.StatusUnprocessableEntity || !strings.Contains(page, `id="`+tt.at+`-error"`) || !strings.Contains(page, tt.says) {
			t.Errorf("%s: %d, nothing at %s: %s", tt.fields, w.Status, tt.at, page)
		}
	}
}
