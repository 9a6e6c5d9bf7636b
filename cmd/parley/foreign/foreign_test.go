package foreign_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"parley/api/wire"
	"parley/cmd/parley/conversation"
	"parley/cmd/parley/foreign"
)

// exports are what the services have exported, by the file of the agent that it makes.
var exports = []struct {
	service string
	files   []string
	agent   string
}{
	{"vapi", []string{"vapi.json", "vapi-tool.json"}, "vapi.yaml"},
	{"retell", []string{"retell-agent.json", "retell-llm.json"}, "retell.yaml"},
	{"retell", []string{"retell-llm.json", "retell-agent.json"}, "retell.yaml"},
}

func documents(t *testing.T, files []string) []foreign.Document {
	t.Helper()
	list := make([]foreign.Document, len(files))
	for i, name := range files {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		list[i] = foreign.Document{Name: name, Text: text}
	}
	return list
}

// made is an agent as its file and its notes.
func made(service string, list []foreign.Document) (file, notes string, err error) {
	a, err := foreign.Read(service, list)
	if err != nil {
		return "", "", err
	}
	var b strings.Builder
	for _, n := range a.Notes {
		fmt.Fprintln(&b, n)
	}
	file, err = a.File()
	return file, b.String(), err
}

// TestRead compares the agents and what has no equivalent with what a person has read. Neither has a secret.
func TestRead(t *testing.T) {
	for _, tt := range exports {
		file, notes, err := made(tt.service, documents(t, tt.files))
		if err != nil {
			t.Fatal(err)
		}
		for name, got := range map[string]string{tt.agent: file, strings.TrimSuffix(tt.agent, ".yaml") + ".notes": notes} {
			golden := filepath.Join("testdata", name)
			if os.Getenv("PARLEY_GOLDEN") == "update" {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil || got != string(want) {
				t.Errorf("%s, of %q: %v\n%s", name, tt.files, err, got)
			}
		}
		if strings.Contains(file+notes, "s3cret") {
			t.Errorf("%q: a secret is in\n%s%s", tt.files, file, notes)
		}
	}
}

// schema is the one of agents, which takes a while to read.
var schema = sync.OnceValues(func() (*jsonschema.Resolved, error) {
	var s jsonschema.Schema
	if err := json.Unmarshal(conversation.Definition(nil, nil).Schema, &s); err != nil {
		return nil, err
	}
	return s.Resolve(nil)
})

// valid says why a server would not take the file of an agent.
func valid(t *testing.T, file string) error {
	t.Helper()
	document, err := wire.FromYAML(file)
	if err != nil {
		return err
	}
	agents, err := schema()
	if err != nil {
		t.Fatal(err)
	}
	var value any
	if err := json.Unmarshal(document, &value); err != nil {
		return err
	}
	if err := agents.Validate(value); err != nil {
		return err
	}
	definition := conversation.Definition(nil, nil)
	a := definition.New()
	return definition.Apply(&a, document)
}

// TestValid: what comes out is what the schema of agents describes and the server takes, and whatever is missing in what
// went in. Each value that is taken away makes a difference: nothing is left out in silence.
func TestValid(t *testing.T) {
	// silent are values that say nothing of an agent, and what every agent has.
	silent := strings.Fields(`id orgId createdAt updatedAt agent_id llm_id version last_modification_timestamp is_published channel response_engine type role name
		normalize_for_speech post_call_analysis_model async strict speak_after_execution enabled word alphabet phoneme`)
	for _, tt := range exports[:2] {
		list := documents(t, tt.files)
		whole, notes, err := made(tt.service, list)
		if err != nil {
			t.Fatal(err)
		}
		if err := valid(t, whole); err != nil {
			t.Errorf("%q: %v\n%s", tt.files, err, whole)
		}
		for i := range list {
			without(t, list[i].Text, func(path string, text []byte) {
				fewer := slices.Clone(list)
				fewer[i].Text = text
				file, others, err := made(tt.service, fewer)
				if err != nil {
					return // it is no document of the service any more
				}
				if err := valid(t, file); err != nil {
					t.Errorf("%s without %s: %v\n%s", list[i].Name, path, err, file)
				}
				last := path[strings.LastIndex(path, ".")+1:]
				if file == whole && others == notes && !slices.Contains(silent, last) {
					t.Errorf("%s: %s is left out in silence", list[i].Name, path)
				}
			})
		}
	}
}

// without calls f with a JSON text without each of its values in turn, and the path of that.
func without(t *testing.T, text []byte, f func(path string, text []byte)) {
	t.Helper()
	var whole any
	if err := json.Unmarshal(text, &whole); err != nil {
		t.Fatal(err)
	}
	tell := func(path string) {
		fewer, err := json.Marshal(whole)
		if err != nil {
			t.Fatal(err)
		}
		f(path, fewer)
	}
	var walk func(path string, value any)
	walk = func(path string, value any) {
		switch v := value.(type) {
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				one, at := v[name], strings.TrimPrefix(path+"."+name, ".")
				walk(at, one)
				delete(v, name)
				tell(at)
				v[name] = one
			}
		case []any:
			for _, one := range v {
				walk(path, one)
			}
		}
	}
	walk("", whole)
}

// TestText: variables of the other services are those of the agent.
func TestText(t *testing.T) {
	for prompt, want := range map[string]string{
		"Hi {{name}} and {{ name }}": "Hi {{name}} and {{name}}", "{{customer.number}} at {{now}}, {{date}}": "{{call.from}} at {{now}}, {{now}}",
		"{{first name}}": "{{first_name}}", "{{ 1 + 1 }}": "1 + 1", "{{open": "{ {open", "{{{{x}}}}": "{ {{{x}}}}", "{{}}": "", "a } b": "a } b",
	} {
		text, err := json.Marshal(map[string]any{"model": map[string]any{"messages": []any{map[string]string{"role": "system", "content": prompt}}}})
		if err != nil {
			t.Fatal(err)
		}
		a, err := foreign.Read("vapi", []foreign.Document{{Name: "a.json", Text: text}})
		if err != nil || a.Prompt != want {
			t.Errorf("%s: %q, %v, want %q", prompt, a.Prompt, err, want)
		}
	}
}

// TestParts: what is refused is left out alone, with a line that says so, and the rest stays.
func TestParts(t *testing.T) {
	for _, tt := range []struct{ assistant, file, note string }{
		{`"model":{"tools":[{"type":"function","function":{"name":"show_map"}}]}`, "- type: function\n    function:\n      name: show_map\n", "model.tools[0]: has no address"},
		{`"model":{"tools":[{"type":"function","function":{"name":"end_call"},"server":{"url":"https://a.example"}}]}`, "tools: []", "model.tools[0]: is left out: end_call is taken"},
		{`"model":{"tools":[{"type":"transferCall","destinations":[{"type":"number","number":"+34911234567"},{"type":"number","number":"+34911234567"},{"type":"number","number":"+10000000"}]}]}`,
			"transfer_to:\n    - number: \"+34911234567\"\n", "model.tools[0].destinations[1]: is left out: the number is there already"},
		{`"model":{},"analysisPlan":{"summaryPlan":{"enabled":true},"structuredDataPlan":{"enabled":true,"schema":{"type":"text"}}}`, "summary: true", "settings.analysis.extract: is left out"},
		{`"voice":{"provider":"azure","voiceId":"en-US-AndrewNeural"}`, "voice: M1 # it was azure en-US-AndrewNeural\n", "voice: azure en-US-AndrewNeural is not here; M1 is nearest"},
		{`"voice":{"voiceId":"x y\n# z"}`, "voice: F1 # it was x y # z\n", "is not known here"},
		{`"firstMessage":"https://a.example/hello.mp3"`, `first_message: ""`, "firstMessage: is a recording"},
		{`"firstMessage":"Hi","firstMessageMode":"assistant-waits-for-user"`, `first_message: ""`, "firstMessage: is left out"},
		{`"model":{},"name":"` + strings.Repeat("é", 150) + `"`, "name: " + strings.Repeat("é", 100) + "\n", ""},
		{`"model":{"provider":7}`, "name: Assistant of Vapi\n", "model.provider: has no equivalent"},
	} {
		file, notes, err := made("vapi", []foreign.Document{{Name: "a.json", Text: []byte("{" + tt.assistant + "}")}})
		if err == nil {
			err = valid(t, file)
		}
		if err != nil || !strings.Contains(file, tt.file) || !strings.Contains("\n"+notes, tt.note) {
			t.Errorf("%s: %v\n%s%s", tt.assistant, err, file, notes)
		}
	}
}

// TestNoAgents: what is no export is refused, in a sentence that says what was expected.
func TestNoAgents(t *testing.T) {
	for _, tt := range []struct {
		service string
		texts   []string
		want    string
	}{
		{"vapi", []string{"[]"}, "0.json: this is no JSON object"}, {"vapi", []string{"name: Lola"}, "no JSON object"}, {"vapi", []string{`{"agent_id":"a"}`}, "no assistant of Vapi"},
		{"vapi", []string{`{"model":{}}`, `{"model":{}}`}, "two assistants"}, {"vapi", []string{`{"id":"t","type":"endCall"}`}, "there is no assistant"},
		{"retell", []string{`{"model":{}}`}, "no agent of Retell"}, {"retell", []string{`{"agent_id":"a"}`, `{"agent_id":"b"}`}, "two agents"},
		{"retell", []string{`{"llm_id":"a"}`, `{"llm_id":"b"}`}, "two language models"},
		{"retell", []string{`{"agent_id":"a","response_engine":{"type":"retell-llm","llm_id":"x"}}`, `{"llm_id":"y"}`}, "is x, and the file has y"},
		{"bland", []string{`{}`}, "vapi and retell"},
	} {
		var list []foreign.Document
		for i, text := range tt.texts {
			list = append(list, foreign.Document{Name: fmt.Sprintf("%d.json", i), Text: []byte(text)})
		}
		if _, err := foreign.Read(tt.service, list); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %q: %v, want %s", tt.service, tt.texts, err, tt.want)
		}
	}
}

// FuzzRead: whatever is exported, what comes out is valid, or an error.
func FuzzRead(f *testing.F) {
	for _, tt := range exports {
		for _, name := range tt.files {
			text, err := os.ReadFile(filepath.Join("testdata", name))
			if err != nil {
				f.Fatal(err)
			}
			f.Add(tt.service, text)
		}
	}
	f.Fuzz(func(t *testing.T, service string, text []byte) {
		file, _, err := made(service, []foreign.Document{{Name: "a.json", Text: text}})
		if err != nil {
			return
		}
		if err := valid(t, file); err != nil {
			t.Errorf("%v\n%s", err, file)
		}
	})
}
