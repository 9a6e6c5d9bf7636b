package dashboard_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"mime/multipart"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"parley/api"
	"parley/api/apitest"
	"parley/api/dashboard/dashboardtest"
	"parley/api/export"
	"parley/api/manage"
	"parley/api/sounds"
	"parley/api/wire"
	"parley/billing"
	"parley/store"
	"parley/store/ledger"
	"parley/store/numbers"
	"parley/store/people"
)

// fakeDefinition stands for what conversations make of agents: a name is needed, speed has
// bounds, and functions and pieces of knowledge need what a few of them need.
var fakeDefinition = manage.Definition{
	New:    func() store.Agent { return store.Agent{Voice: "F1", Language: "en"} },
	Schema: json.RawMessage(`{"type":"object"}`),
	Apply: func(a *store.Agent, document json.RawMessage) error {
		var given struct {
			Name, Voice, Language, Prompt string
			FirstMessage                  string `json:"first_message"`
			Tools                         []struct {
				Type string
				HTTP struct{ URL string }
			}
			Settings struct {
				Speed     json.RawMessage
				Timezone  string
				Knowledge []struct{ Title, Text string }
				Transfers []struct{ Number string } `json:"transfer_to"`
				Engines   struct{ LLM any }
				Analysis  struct {
					Extract struct {
						Properties map[string]struct{ Description string }
					}
				}
			}
		}
		var raw struct{ Tools, Settings json.RawMessage }
		if json.Unmarshal(document, &given) != nil || json.Unmarshal(document, &raw) != nil {
			return api.Detail(api.ErrBadRequest, "body: must be an object")
		}
		var beside struct{ Metadata wire.MetadataChange }
		if json.Unmarshal(document, &beside) == nil && beside.Metadata != nil {
			metadata := beside.Metadata.Apply(a.Metadata)
			if wrong := metadata.Check(); wrong != "" {
				return api.Bad("%s", wrong)
			}
			if a.Metadata = metadata; a.ID != "" {
				return nil // the page changes nothing else with it
			}
		}
		var wrong []wire.Mistake
		if given.Name == "" {
			wrong = append(wrong, wire.Mistake{Path: "name", Problem: "is empty"})
		}
		if speed := string(given.Settings.Speed); speed != "" {
			if f, err := strconv.ParseFloat(speed, 64); err != nil || f > 2 {
				wrong = append(wrong, wire.Mistake{Path: "settings.speed", Problem: speed + ", allowed are 0.5 to 2"})
			}
		}
		for i, k := range given.Settings.Knowledge {
			if k.Title == "" {
				wrong = append(wrong, wire.Mistake{Path: fmt.Sprintf("settings.knowledge[%d].title", i), Problem: "is empty"})
			}
		}
		for i, t := range given.Tools {
			if t.Type == "" {
				wrong = append(wrong, wire.Mistake{Path: fmt.Sprintf("tools[%d].type", i), Problem: "is missing"})
			}
			if strings.HasPrefix(t.HTTP.URL, "ftp:") {
				wrong = append(wrong, wire.Mistake{Path: fmt.Sprintf("tools[%d].http.url", i), Problem: "must be an absolute https address"})
			}
		}
		for i, to := range given.Settings.Transfers {
			if len(to.Number) < 5 {
				wrong = append(wrong, wire.Mistake{Path: fmt.Sprintf("settings.transfer_to[%d].number", i), Problem: "must be a telephone number"})
			}
		}
		if given.Settings.Engines.LLM == "nobody" {
			wrong = append(wrong, wire.Mistake{Path: "settings.engines.llm", Problem: "there is no engine nobody here"})
		}
		for name, p := range given.Settings.Analysis.Extract.Properties {
			if p.Description == "bad" {
				wrong = append(wrong, wire.Mistake{Path: "settings.analysis.extract.properties." + name + ".description", Problem: "is bad"})
			}
		}
		if given.Settings.Timezone == "Mars" {
			wrong = append(wrong, wire.Mistake{Path: "settings.elsewhere", Problem: "is odd"})
		}
		if wrong != nil {
			return &manage.Mistaken{Refusal: api.Detail(api.ErrBadRequest, "wrong"), Mistakes: wrong}
		}
		a.Name, a.Voice, a.Language, a.Prompt, a.FirstMessage = given.Name, given.Voice, given.Language, given.Prompt, given.FirstMessage
		a.Tools, a.Settings = raw.Tools, raw.Settings
		return nil
	},
}

// agentSite is a site with the routes of agents.
func agentSite(t *testing.T) *dashboardtest.Site {
	return dashboardtest.NewSite(t, dashboardtest.Options{Mount: mountAgents})
}

// agentSchema is the schema of agents as a server has it.
func agentSchema(t testing.TB) (out map[string]any) {
	t.Helper()
	if err := json.Unmarshal(apitest.AgentSchema, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// mountAgents adds the routes of agents, whose settings are those of a server.
func mountAgents(s *dashboardtest.Site, a *api.API) {
	mountAgentsOf(agentSchema(s.T))(s, a)
}

func mountAgentsOf(schema map[string]any) func(s *dashboardtest.Site, a *api.API) {
	return func(s *dashboardtest.Site, a *api.API) {
		define := fakeDefinition
		var err error
		define.Schema, err = json.Marshal(schema)
		s.OK(err)
		manage.Mount(a, s.DB, export.New(s.DB), define)
		manage.MountFunctions(a, fakeTrial)
		mountSpeech(a)
		mountKnowledge(s, a)
		sounds.Mount(a, s.DB)
		mountCases(s, a)
	}
}

// mountSpeech adds what the editor has a voice heard by.
func mountSpeech(a *api.API) {
	a.Handle(api.Route{Access: api.Service, Operation: huma.Operation{Method: http.MethodPost, Path: "/tts/synthesize", OperationID: "synthesize", Hidden: true}},
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var asked struct{ Language string }
			if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || !slices.Contains(wire.Languages, asked.Language) {
				http.Error(w, "no such language", http.StatusBadRequest)
				return
			}
			w.Header().Set("Content-Type", "audio/wav")
			_, _ = w.Write(beep())
		}))
}

func stamp() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }

// beep is a WAV file of 300 ms at 8 kHz.
func beep() []byte {
	b := []byte("RIFF\xe4\x12\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00data\xc0\x12\x00\x00")
	return append(b, make([]byte, 4800)...)
}

// makeAgent stores an agent of an account.
func makeAgent(s *dashboardtest.Site, account string, a store.Agent) *store.Agent {
	s.T.Helper()
	made, err := s.DB.CreateAgent(s.T.Context(), account, a)
	s.OK(err)
	return made
}

var lola = store.Agent{Name: "Lola", Voice: "F2", Language: "es", Prompt: "Be kind.\nBe brief.", FirstMessage: "Hi!",
	Tools:    json.RawMessage(`[{"type":"http","name":"order","parameters":{"z":1,"a":{"type":"object"}}}]`),
	Settings: json.RawMessage(`{"speed":1.25,"ring_ms":700,"record":true,"pronunciation":[{"word":"SQL","say":"sequel"}],"variables":{"city":"Rome","b":"x = y"},"knowledge":[{"title":"Hours","text":"Nine to six."}]}`)}

var input = regexp.MustCompile(`(?s)<input[^>]*? name="([^"]*)"[^>]*? value="([^"]*)"[^>]*?>|<textarea[^>]* name="([^"]*)"[^>]*>\n(.*?)</textarea>|<option value="([^"]*)" selected>|<select[^>]* name="([^"]*)"`)

var blank = regexp.MustCompile(`(?s)<template.*?</template>`)

// entries are the fields of a page's form, as a browser would send them.
func entries(page string) (fields []string) {
	_, page, _ = strings.Cut(page, `<form id="agent"`)
	page = blank.ReplaceAllString(page, "")
	chosen := ""
	for _, m := range input.FindAllStringSubmatch(page, -1) {
		switch {
		case strings.Contains(m[0], `type="radio"`), strings.Contains(m[0], `type="checkbox"`):
			if strings.Contains(m[0], " checked") {
				fields = append(fields, m[1], m[2])
			}
		case m[1] != "":
			fields = append(fields, m[1], html.UnescapeString(m[2]))
		case m[3] != "":
			fields = append(fields, m[3], strings.NewReplacer("\r\n", "\r\n", "\n", "\r\n").Replace(html.UnescapeString(m[4])))
		case m[6] != "":
			chosen = m[6]
		case chosen != "":
			fields, chosen = append(fields, chosen, m[5]), ""
		}
	}
	return fields
}

// with changes a field.
func with(fields []string, name, value string) []string {
	out := append([]string{}, fields...)
	for i := 0; i < len(out); i += 2 {
		if out[i] == name {
			out[i+1] = value
			return out
		}
	}
	return append(out, name, value)
}

// TestSavingWhatIsShownChangesNothing: an agent goes through the form as it is, also what
// the form has no field for.
func TestSavingWhatIsShownChangesNothing(t *testing.T) {
	s := agentSite(t).SignIn()
	a := makeAgent(s, s.Account, lola)
	at := "/app/agents/" + a.ID
	fields := entries(s.Get(at).Body)
	if w := s.Post(at, fields...); w.Status != http.StatusSeeOther || w.Header.Get("Location") != at {
		t.Fatalf("%d %s\n%q", w.Status, w.Body, fields)
	}
	saved, err := s.DB.Agent(t.Context(), s.Account, a.ID)
	s.OK(err)
	changes, err := manage.Changes(a, saved)
	if err != nil || len(changes) != 0 || saved.Version != 1 {
		t.Errorf("version %d: %+v %v", saved.Version, changes, err)
	}
	if tools := strings.ReplaceAll(string(saved.Tools), " ", ""); !strings.Contains(tools, `{"z":1,"a":{"type":"object"}}`) {
		t.Errorf("the order of a function's parameters was lost: %s", tools)
	}
	text := s.Get(at + "/export")
	if !strings.Contains(text.Header.Get("Content-Disposition"), `filename="Lola.yaml"`) || !strings.HasPrefix(text.Body, "name: Lola\n") || !strings.Contains(text.Body, "prompt: |-\n  Be kind.\n  Be brief.\n") {
		t.Errorf("%v\n%s", text.Header, text.Body)
	}
	if page := s.Get(at); !strings.Contains(page.Body, "Nothing was changed.") {
		t.Error("nothing says that nothing was changed")
	}
	if w := s.Post(at+"/document", "document", text.Body, "version", "1"); w.Status != http.StatusSeeOther {
		t.Errorf("the document: %d %s", w.Status, w.Body)
	}
	if page := s.Get(at + "/document"); !strings.Contains(page.Body, "Nothing was changed.") {
		t.Error("nothing says that the document was not changed")
	}
	if list, err := s.DB.AgentVersions(t.Context(), s.Account, a.ID, 0, 0); err != nil || len(list) != 1 {
		t.Errorf("%d versions, %v", len(list), err)
	}
	if w := s.Post("/app/agents/import", "document", text.Body); w.Status != http.StatusSeeOther {
		t.Errorf("import: %d %s", w.Status, w.Body)
	}
	agents, err := s.DB.Agents(t.Context(), s.Account, store.Page{})
	s.OK(err)
	for i := range agents {
		if changes, err := manage.Changes(a, &agents[i]); err != nil || len(changes) != 0 {
			t.Errorf("%s: %+v %v", agents[i].ID, changes, err)
		}
	}
	if len(agents) != 2 {
		t.Errorf("%d agents", len(agents))
	}
}

// TestWhatIsWrongStandsBesideItsField, at once and while one types, and nothing is stored.
func TestWhatIsWrongStandsBesideItsField(t *testing.T) {
	s := agentSite(t).SignIn()
	a := makeAgent(s, s.Account, lola)
	at := "/app/agents/" + a.ID
	fields := entries(s.Get(at).Body)
	for _, tt := range []struct{ name, value, at, says string }{
		{"name", " ", "name", "This field is required."},
		{"speed", "9", "speed", "9, allowed are 0.5 to 2."},
		{"speed", "fast", "speed", "allowed are 0.5 to 2."},
		{"tools", "- name: x", "tools", "Entry 1, type: This field is required."},
		{"tools", "- type: http\n   name: x", "tools", "Line 2: "},
		{"tools", "a: &x [1]\nb: *x", "tools", "Line 1: anchors and aliases are not taken"},
		{"pronunciation", "SQL sequel", "pronunciation", "Line 1: write it as"},
		{"variables", "a = 1\na = 2", "variables", "Line 2: a is there twice."},
		{"first_message", "", "first_message", "Write what the agent says first, or let the caller begin."},
		{"knowledge_title", "", "knowledge_title_0", "This field is required."},
		{"timezone", "Mars", "", "Is odd."},
	} {
		changed := with(fields, tt.name, tt.value)
		for _, where := range []string{at, "/app/agents/check", "/app/agents"} {
			w := s.Post(where, changed...)
			page := html.UnescapeString(w.Body)
			if want := map[bool]int{true: http.StatusOK, false: http.StatusUnprocessableEntity}[strings.HasSuffix(where, "check")]; w.Status != want || !strings.Contains(page, tt.says) ||
				!strings.Contains(page, `data-field="`+tt.at+`"`) {
				t.Errorf("%s: %s = %q: %d, %s", where, tt.name, tt.value, w.Status, page)
			}
			if tt.at != "" && !strings.HasSuffix(where, "check") && !strings.Contains(page, ` id="`+tt.at+`-error"`) {
				t.Errorf("%s: %s = %q: nothing stands beside the field", where, tt.name, tt.value)
			}
		}
	}
	if w := s.Post("/app/agents/check", fields...); strings.Contains(w.Body, "data-field") {
		t.Errorf("nothing is wrong: %s", w.Body)
	}
	for _, document := range []string{"name: [", "", "name: x\nname: y", "- 1", "name: x\n---\nname: y"} {
		for _, path := range []string{"/app/agents/import", at + "/document"} {
			if w := s.Post(path, "document", document, "version", "1"); w.Status != http.StatusUnprocessableEntity {
				t.Errorf("%s takes %q: %d", path, document, w.Status)
			}
		}
	}
	now, err := s.DB.Agents(t.Context(), s.Account, store.Page{})
	if err != nil || len(now) != 1 || now[0].Version != 1 {
		t.Errorf("something was stored: %+v %v", now, err)
	}
	more := s.Post(at, append(fields, "more", "knowledge")...)
	if got := strings.Count(blank.ReplaceAllString(more.Body, ""), `name="knowledge_title"`); more.Status != http.StatusUnprocessableEntity || got != 2 {
		t.Errorf("without scripts there is no place for more knowledge: %d, %d", more.Status, got)
	}
}

// TestSomebodyElseWasFaster: what was entered stays, theirs is shown, and a second save
// replaces it knowingly.
func TestSomebodyElseWasFaster(t *testing.T) {
	s := agentSite(t).SignIn()
	a := makeAgent(s, s.Account, lola)
	at := "/app/agents/" + a.ID
	fields := with(entries(s.Get(at).Body), "name", "Mine")
	theirs := *a
	theirs.Prompt = "Be kind.\nBe <b>rude</b>."
	_, err := s.DB.UpdateAgent(t.Context(), s.Account, theirs)
	s.OK(err)
	document := s.Post(at+"/document", "document", "name: Third", "version", "1")
	w := s.Post(at, fields...)
	for what, page := range map[string]dashboardtest.Answer{"the form": w, "the document": document} {
		if page.Status != http.StatusUnprocessableEntity || !strings.Contains(page.Body, "Somebody else has saved this agent") ||
			!strings.Contains(page.Body, "Be &lt;b&gt;rude&lt;/b&gt;.</ins>") || !strings.Contains(page.Body, "<del>− Be brief.</del>") {
			t.Errorf("%s: %d %s", what, page.Status, page.Body)
		}
	}
	again := entries(w.Body)
	if !strings.Contains(strings.Join(again, "|"), "|name|Mine|") || !strings.Contains(strings.Join(again, "|"), "version|2|") {
		t.Fatalf("what was entered is gone: %q", again)
	}
	if w := s.Post(at, again...); w.Status != http.StatusSeeOther {
		t.Errorf("%d %s", w.Status, w.Body)
	}
	now, err := s.DB.Agent(t.Context(), s.Account, a.ID)
	if err != nil || now.Name != "Mine" || now.Prompt != lola.Prompt || now.Version != 3 {
		t.Errorf("%+v %v", now, err)
	}
}

// TestImportedFiles: a file that was chosen counts before what was pasted, and what is
// wrong with it is told with its text.
func TestImportedFiles(t *testing.T) {
	s := agentSite(t).SignIn()
	send := func(file, pasted string) dashboardtest.Answer {
		var b strings.Builder
		w := multipart.NewWriter(&b)
		part, err := w.CreateFormFile("file", "agent.yaml")
		s.OK(err)
		_, err = part.Write([]byte(file))
		s.OK(errors.Join(err, w.WriteField("document", pasted), w.Close()))
		return s.Ask(s.Client, http.MethodPost, "/app/agents/import", b.String(), "Content-Type", w.FormDataContentType(), "Sec-Fetch-Site", "same-origin")
	}
	if w := send("name: From a file\nid: ag_0\nversion: 9", "name: Pasted"); w.Status != http.StatusSeeOther {
		t.Errorf("%d %s", w.Status, w.Body)
	}
	if w := send("", "name: Pasted"); w.Status != http.StatusSeeOther {
		t.Errorf("%d %s", w.Status, w.Body)
	}
	if w := send("name: </textarea><script>\nname: x", ""); w.Status != http.StatusUnprocessableEntity || !strings.Contains(w.Body, "name: &lt;/textarea&gt;&lt;script&gt;") {
		t.Errorf("%d %s", w.Status, w.Body)
	}
	if w := send("\xff\xfe\x00", ""); w.Status != http.StatusUnprocessableEntity {
		t.Errorf("%d %s", w.Status, w.Body)
	}
	agents, err := s.DB.Agents(t.Context(), s.Account, store.Page{})
	if err != nil || len(agents) != 2 || agents[1].Name != "From a file" || agents[0].Name != "Pasted" || agents[1].Version != 1 {
		t.Errorf("%+v %v", agents, err)
	}
}

// TestVersionsOfAnAgent: they are listed, compared, and put back.
func TestVersionsOfAnAgent(t *testing.T) {
	s := agentSite(t).SignIn()
	a := makeAgent(s, s.Account, lola)
	at := "/app/agents/" + a.ID
	second := *a
	second.Name, second.Settings = "Ana", json.RawMessage(`{"speed":1.5}`)
	_, err := s.DB.UpdateAgent(t.Context(), s.Account, second)
	s.OK(err)
	list := s.Get(at + "/versions").Body
	for _, want := range []string{at + "/versions/1", at + "/versions/2", at + "/versions/2?against=1", "Lola", "Ana"} {
		if !strings.Contains(list, want) {
			t.Errorf("the list has no %s", want)
		}
	}
	diff := s.Get(at + "/versions/2").Body
	for _, want := range []string{"<del>− Lola</del>", "<ins>+ Ana</ins>", "<code>settings.speed</code>", "<del>− 1.25</del>", "<ins>+ 1.5</ins>", "<code>settings.ring_ms</code>"} {
		if !strings.Contains(diff, want) {
			t.Errorf("what changed does not say %s:\n%s", want, diff)
		}
	}
	if w := s.Post(at + "/versions/1/restore"); w.Status != http.StatusSeeOther {
		t.Fatalf("%d %s", w.Status, w.Body)
	}
	now, err := s.DB.Agent(t.Context(), s.Account, a.ID)
	s.OK(err)
	if changes, err := manage.Changes(a, now); err != nil || len(changes) != 0 || now.Version != 3 {
		t.Errorf("version %d: %+v %v", now.Version, changes, err)
	}
	if text := s.Get(at + "/export?version=2").Body; !strings.HasPrefix(text, "name: Ana\n") {
		t.Errorf("version 2 is exported as %s", text)
	}
	for _, path := range []string{"/versions/9", "/versions/x", "/versions/2?against=9", "/versions/2?against=x", "/export?version=9"} {
		if w := s.Get(at + path); w.Status != http.StatusNotFound && w.Status != http.StatusBadRequest {
			t.Errorf("%s: %d", path, w.Status)
		}
	}
}

// TestForeignAgentsAreNotThere, under any address, and nobody changes them.
func TestForeignAgentsAreNotThere(t *testing.T) {
	s := agentSite(t).SignIn()
	other, err := ledger.New(s.DB).OwnAccount(t.Context(), s.NewUser("b@example.com", people.RoleMember), "Other", billing.DefaultRateCard())
	s.OK(err)
	theirs := makeAgent(s, other.ID, lola)
	for _, id := range []string{theirs.ID, "ag_0", "..%2Fkeys", "%00", "a%2Fb"} {
		at := "/app/agents/" + id
		for _, path := range []string{"", "/document", "/export", "/versions", "/versions/1", "/delete"} {
			if w := s.Get(at + path); w.Status != http.StatusNotFound || strings.Contains(w.Body, "Be kind") {
				t.Errorf("%s%s: %d", id, path, w.Status)
			}
		}
		for _, path := range []string{"", "/document", "/versions/1/restore", "/delete"} {
			if w := s.Post(at+path, "name", "Mine", "document", "name: Mine", "version", "1", "speaks", "caller"); w.Status != http.StatusNotFound {
				t.Errorf("%s%s: %d %s", id, path, w.Status, w.Body)
			}
		}
	}
	if list := s.Get("/app/agents").Body; strings.Contains(list, theirs.ID) || !strings.Contains(list, "No agent yet") {
		t.Errorf("%s", list)
	}
	if still, err := s.DB.Agent(t.Context(), other.ID, theirs.ID); err != nil || still.Version != 1 {
		t.Errorf("%+v %v", still, err)
	}
	if w := s.Ask(s.Client, http.MethodPost, "/app/agents/"+theirs.ID+"/delete", "", "Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"); w.Status != http.StatusForbidden {
		t.Errorf("from another site: %d", w.Status)
	}
	stranger := s.NewClient()
	if w := s.Ask(stranger, http.MethodGet, "/app/agents", ""); w.Status != http.StatusSeeOther {
		t.Errorf("without a sign-in: %d", w.Status)
	}
}

// TestDeletedAgents: the page says what that means, and it is done on request alone.
func TestDeletedAgents(t *testing.T) {
	s := agentSite(t).SignIn()
	a := makeAgent(s, s.Account, lola)
	_, err := numbers.New(s.DB).Import(t.Context(), s.Account, "+34911234567", a.ID)
	s.OK(err)
	at := "/app/agents/" + a.ID
	if page := s.Get(at + "/delete"); !strings.Contains(html.UnescapeString(page.Body), "+34911234567") || !strings.Contains(page.Body, "Delete Lola?") {
		t.Errorf("%d %s", page.Status, page.Body)
	}
	if list := s.Get("/app/agents").Body; !strings.Contains(html.UnescapeString(list), "+34911234567") {
		t.Errorf("the list does not say which number reaches it")
	}
	if w := s.Post(at + "/delete"); w.Status != http.StatusSeeOther || w.Header.Get("Location") != "/app/agents" {
		t.Errorf("%d %s", w.Status, w.Body)
	}
	if w := s.Get(at); w.Status != http.StatusNotFound {
		t.Errorf("it is still there: %d", w.Status)
	}
}
