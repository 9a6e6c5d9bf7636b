package agent_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"parley/pipeline/agent"
	"parley/pipeline/schema"
	"parley/pipeline/turn"
)

// names takes what a socket's clients may say of voices and languages.
var names = agent.Names{
	Voice:    func(v string) string { return strings.ToUpper(v[strings.LastIndex(v, "_")+1:]) },
	Language: func(l string) string { return strings.ToLower(l[:2]) },
	Engines:  offer{agent.StageASR: {"ears", "flux"}, agent.StageLLM: {"mind", "scripted"}, agent.StageTTS: {"loud", "soft"}},
}

// offer is a server's engines. They know no colour, and those called or of the model flux find the ends of turns.
type offer map[agent.Stage][]string

func (o offer) Names(s agent.Stage) []string { return o[s] }

func (o offer) Check(_ agent.Stage, e agent.Engine) (member, problem string) {
	switch {
	case e.Model == "gone":
		return "model", "is not here"
	case strings.Contains(string(e.Options), "colour"):
		return "options.colour", "is not known"
	}
	return "", ""
}

func (o offer) EndsTurns(e agent.Engine) bool { return e.Name == "flux" || e.Model == "flux" }

func settings(s string) string { return `{"name":"N","settings":{` + s + `}}` }
func tools(s string) string    { return `{"name":"N","tools":[` + s + `]}` }
func function(s string) string { return tools(`{"type":"function","function":` + s + `}`) }
func times(n int, s string) string {
	return strings.TrimSuffix(strings.Repeat(s+",", n), ",")
}

// good are documents that are taken.
var good = []string{
	`{"name":"N"}`, `{"name":"N","voice":"esca_m2","language":"pt-BR","prompt":"","first_message":"Hi {{caller.name}} {{call.header.X-Tier}}"}`,
	`{"name":"N","language":"auto"}`, `{"name":"N","language":"AUTO_pt-BR"}`, `{"name":"N","id":"ag_1","version":"x","created_at":null,"updated_at":7}`, `{"name":"N","voice":"f3","language":"EU","tools":[],"settings":{}}`,
	settings(`"variables":{"city":"","Name_2":"x"},"goodbye":"Bye {{ city }}, {{Name_2}}","timezone":"Europe/Madrid"`),
	settings(`"knowledge_bases":["kb_06er5bt0v9k1o7m2q3s4t5u6v0"],"knowledge_mode":"turn"`),
	settings(`"knowledge":[{"title":"Menu","text":"Soup {{not a variable}}"}],"recording_notice":"This call is recorded.","record_transfers":true,"hold_sound":"music"`),
	settings(`"speed":0.5,"on_machine":"message","machine_message":"Call us, {{now}}."`), settings(`"speed":2,"on_machine":"hangup"`),
	settings(`"transfer_to":[{"number":"+34911234567","name":"Sales"}],"pronunciation":[{"word":"SQL","say":"sequel"}]`),
	settings(`"min_endpoint_ms":100,"max_endpoint_ms":6000,"barge_in_ms":200,"idle_seconds":0,"idle_reprompts":10,"max_duration_seconds":7200,"ring_ms":0,
		"interruptible":"never","first_message_interruptible":"after_first_sentence","key_interrupts":false,"phrases":["a"],"speculative_llm":true,"speculative_voice":false,
		"send_dtmf":false,"collect_digits":true,"opt_out":false,"transfer_any":true`),
	settings(`"engines":{"llm":"scripted","tts":["loud","soft"],"asr":[]}`), settings(`"engines":{},"analysis":{}`), settings(`"engines":{"vad":"silero","denoise":["off"]}`), settings(`"turns":"words"`), settings(`"turns":"engine","engines":{"asr":["flux","ears"]}`),
	settings(`"engines":{"llm":[{"engine":"mind","model":"m","options":{"temperature":0.3}},{"engine":"mind","options":{}},"mind"],"tts":{"engine":"loud"}}`),
	settings(`"turns":"engine","engines":{"asr":{"engine":"ears","model":"flux"}}`),
	settings(`"analysis":{"summary":true,"summary_prompt":"Name the {{dish}}.","extract":{"type":"object","required":["day"],"properties":{"day":{"type":"string","enum":["Monday"]}}}}`),
	`{"name":"N","prompt":"Answer {\"a\":{\"b\":{{now}}}} or {{{now}}} or {{1,2},{3,4}} and }}."}`, tools(`{"type":"web_search"},{"type":"crm"}`), function(`{"name":"a","parameters":{"type":"object"}}`),
	tools(`{"type":"http","name":"order","http":{"method":"GET","url":"https://api.example.com/o"}}`),
}

// bad are documents with what is wrong with them, all of it. Beyond says that no schema
// can say it.
var bad = []struct {
	document, wrong string
	beyond          bool
}{
	{`{}`, "name: is missing", false},
	{`[]`, "body: a list, must be an object", false},
	{`{"name":"N","prompt":"a","voice":"F1","prompt":"b","prompt":"c"}`, "prompt: is there more than once", true},
	{settings(`"transfer_to":[{"number":"+34911234567"},{"number":"+34911234567","name":"a","name":"b"}],"idle_seconds":9,"idle_seconds":10`),
		"settings.transfer_to[1].name: is there more than once; settings.idle_seconds: is there more than once", true},
	{function(`{"name":"a","parameters":{"type":"object","properties":{"x":{"type":"string"},"x":{"type":"number"}}}}`),
		"tools[0].function.parameters.properties.x: is there more than once", true},
	{`{"name":""}`, "name: is empty", false},
	{`{"name":"  "}`, `name: "  ", must have a letter`, false},
	{`{"name":7}`, "name: 7, must be a text", false},
	{`{"name":"` + strings.Repeat("x", 201) + `"}`, "name: 201 characters, allowed are 200", false},
	{`{"name":"` + strings.Repeat("é", 150) + `"}`, "name: 300 bytes, allowed are 200", true},
	{`{"name":"a\u0000b"}`, "name: zero characters are not stored", true},
	{`{"name":"N","promt":"x"}`, "promt: is not known", false},
	{`{"name":"N","voice":"Z9"}`, `voice: "Z9", must be one of F1 to F5 and M1 to M5`, false},
	{`{"name":"N","voice":""}`, `voice: "", must be one of F1 to F5 and M1 to M5`, false},
	{`{"name":"N","language":"ko"}`, `language: "ko", must be one of en es ca gl eu pt fr it de, or auto`, false},
	{`{"name":"N","language":"auto-ko"}`, `language: "auto-ko", must be one of en es ca gl eu pt fr it de, or auto`, false},
	{`{"name":"N","prompt":"` + strings.Repeat("x", 100_001) + `"}`, "prompt: 100001 characters, allowed are 100000", false},
	{`{"name":"N","first_message":"` + strings.Repeat("é", 50_001) + `"}`, "first_message: 100002 bytes, allowed are 100000", true},
	{`{"name":"N","prompt":"Hi {{customer}}, {{ customer }} of {{call.id}}"}`,
		"prompt: there is no variable {{customer}}; add it to settings.variables; prompt: there is no variable {{call.id}}; add it to settings.variables", true},
	{`{"name":"N","first_message":"{{call.header.subject}}"}`, "first_message: there is no variable {{call.header.subject}}; add it to settings.variables", true},
	{`{"name":"N","first_message":"{{secret.KEY}}"}`, "first_message: there is no variable {{secret.KEY}}; add it to settings.variables", true},
	{`{"name":"N","prompt":"You talk to {{caller.name. It is {{now}}.","first_message":"Hi {{"}`,
		"prompt: {{caller.name. I… has no }}; first_message: {{ has no }}", true},
	{settings(`"goodbye":"{{ now }","machine_message":"{{now}} {{{{x","recording_notice":"{{now"`),
		"settings.goodbye: {{ now } has no }}; settings.machine_message: {{{{x has no }}; settings.recording_notice: {{now has no }}", true},
	{settings(`"goodbye":"{{x}}","machine_message":"{{y}}"`), "settings.goodbye: there is no variable {{x}}; add it to settings.variables; " +
		"settings.machine_message: there is no variable {{y}}; add it to settings.variables", true},
	{settings(`"recording_notice":"{{now}}"`), "settings.recording_notice: is said word for word and has no variables", true},
	{settings(`"variables":{"now":"x"}`), "settings.variables.now: is set by the server", true},
	{settings(`"variables":{"a b":"x","9":"x"}`), `settings.variables.9: "9", must be a letter and at most 39 letters, digits and _; ` +
		`settings.variables.a b: "a b", must be a letter and at most 39 letters, digits and _`, false},
	{settings(`"variables":{"a":7}`), "settings.variables.a: 7, must be a text", false},
	{settings(`"variables":{"a":"` + strings.Repeat("x", 1001) + `"}`), "settings.variables.a: 1001 characters, allowed are 1000", false},
	{settings(`"min_endpoint_ms":50,"idle_seconds":"8","colour":"red","interruptible":"sometimes"`),
		"settings.colour: is not known; settings.idle_seconds: a text, must be a whole number; " +
			`settings.interruptible: "sometimes", allowed are always, never and after_first_sentence; settings.min_endpoint_ms: 50, allowed are 100 to 2000`, false},
	{settings(`"idle_seconds":1.5,"goodbye":null,"opt_out":1`), "settings.goodbye: null, must be a text; settings.idle_seconds: 1.5, must be a whole number; settings.opt_out: 1, must be true or false", false},
	{settings(`"speed":2.1`), "settings.speed: 2.1, allowed are 0.5 to 2", false},
	{settings(`"timezone":"Mars"`), `settings.timezone: "Mars", must be a time zone such as Europe/Madrid`, true},
	{settings(`"on_machine":"message"`), "settings.machine_message: is missing, on_machine message needs it", true},
	{settings(`"on_machine":"sing"`), `settings.on_machine: "sing", allowed are continue, hangup and message`, false},
	{settings(`"knowledge_bases":["kb_1","KB 2"],"knowledge_mode":"never"`), `settings.knowledge_bases[1]: "KB 2", must be the identifier of a collection, kb_…; settings.knowledge_mode: "never", allowed are function and turn`, false},
	{settings(`"knowledge_bases":[` + times(11, `"kb_1"`) + `]`), "settings.knowledge_bases: 11 entries, allowed are 10", false},
	{settings(`"knowledge":[{"title":"","text":"x"},{"title":"T"}]`), "settings.knowledge[0].title: is empty; settings.knowledge[1].text: is missing", false},
	{settings(`"knowledge":[` + times(21, `{"title":"T","text":"x"}`) + `]`), "settings.knowledge: 21 entries, allowed are 20", false},
	{settings(`"knowledge":[{"title":"T","text":"` + strings.Repeat("x", 4001) + `"}]`), "settings.knowledge[0].text: 4001 characters, allowed are 4000", false},
	{settings(`"recording_notice":"` + strings.Repeat("x", 1001) + `"`), "settings.recording_notice: 1001 characters, allowed are 1000", false},
	{settings(`"pronunciation":[{"word":"!","say":"x"}]`), `settings.pronunciation[0].word: "!", must have a letter or digit`, false},
	{settings(`"transfer_to":[{"number":"91122"},{"number":"+34911234567","name":"a"},{"number":"+34911234568","name":"A"}]`),
		"settings.transfer_to[0].number: must be a telephone number in international format, such as +34911234567, or a SIP address, such as sip:200@pbx.example.com; " +
			`settings.transfer_to[2]: there are two of "A"`, true},
	{settings(`"transfer_to":[{"number":"+34911234567","name":"a\nb"}]`), `settings.transfer_to[0].name: "a\nb", must be one line`, false},
	{settings(`"turns":"silence"`), `settings.turns: "silence", allowed are words and engine`, false},
	{settings(`"turns":"engine"`), `settings.turns: the recogniser "ears" does not find the ends of turns; name one that does in settings.engines.asr`, true},
	{settings(`"turns":"engine","engines":{"asr":["ears","flux"]}`), `settings.turns: the recogniser "ears" does not find the ends of turns; name one that does in settings.engines.asr`, true},
	{settings(`"turns":"engine","engines":{"asr":"gone"}`), `settings.engines.asr: there is no engine "gone" here; there are: ears and flux`, true},
	{settings(`"engines":{"llm":"gpt"}`), `settings.engines.llm: there is no engine "gpt" here; there are: mind and scripted`, true},
	{settings(`"engines":{"llm":["mind","loud"],"tts":["soft","soft"]}`),
		`settings.engines.tts[1]: "soft" is there twice; settings.engines.llm[1]: there is no engine "loud" here; there are: mind and scripted`, true},
	{settings(`"engines":{"llm":7,"asr":[""],"nose":"x"}`),
		"settings.engines.asr[0]: is empty; settings.engines.llm: 7, must be a text or an object or a list; settings.engines.nose: is not known", false},
	{settings(`"engines":{"llm":[{"model":"m"},{"engine":"mind","options":[],"host":"x"}],"tts":{"engine":"","model":7},"vad":{"engine":"silero"}}`),
		"settings.engines.llm[0].engine: is missing; settings.engines.llm[1].host: is not known; settings.engines.llm[1].options: a list, must be an object; " +
			"settings.engines.tts.engine: is empty; settings.engines.tts.model: 7, must be a text; settings.engines.vad: an object, must be a text or a list", false},
	{settings(`"engines":{"llm":[{"engine":"mind","options":{"colour":1}}],"tts":{"engine":"loud","model":"gone"},"asr":[{"engine":"mind"}]}`),
		`settings.engines.asr[0]: there is no engine "mind" here; there are: ears and flux; settings.engines.llm[0].options.colour: is not known; settings.engines.tts.model: is not here`, true},
	{settings(`"engines":{"llm":["mind",{"engine":"mind"}]}`), `settings.engines.llm[1]: "mind" is there twice`, true},
	{settings(`"engines":{"vad":"loud","denoise":["spectral","gtcrn"]}`),
		`settings.engines.denoise: 2 entries, allowed are 1; settings.engines.vad: "loud", allowed are spectral and silero`, false},
	{settings(`"engines":{"vad":["off"],"denoise":7}`),
		`settings.engines.denoise: 7, must be a text or a list; settings.engines.vad[0]: "off", allowed are spectral and silero`, false},
	{settings(`"engines":"scripted"`), "settings.engines: a text, must be an object", false},
	{settings(`"analysis":{"summary":"yes","prompt":"x"}`), "settings.analysis.prompt: is not known; settings.analysis.summary: a text, must be true or false", false},
	{settings(`"analysis":{"summary_prompt":"x"}`), "settings.analysis.summary_prompt: needs summary to be true", true},
	{settings(`"analysis":{"summary":true,"summary_prompt":"` + strings.Repeat("x", 2001) + `"}`), "settings.analysis.summary_prompt: 2001 characters, allowed are 2000", false},
	{settings(`"analysis":{"extract":{"type":"object"}}`), "settings.analysis.extract: must be of type object, with properties", true},
	{settings(`"analysis":{"extract":{"type":"object","properties":{"day":{"type":"date"},"x":{"type":"string","format":"email"}}}}`),
		`settings.analysis.extract.properties.day.type: "date", allowed are object, array, string, integer, number and boolean; ` +
			"settings.analysis.extract.properties.x.format: is not known", true},
	{`{"name":"N","settings":[]}`, "settings: a list, must be an object", false},
	{`{"name":"N","tools":{}}`, "tools: an object, must be a list", false},
	{tools(`7`), "tools[0]: 7, must be an object", false},
	{tools(`{"name":"x"}`), "tools[0].type: is missing", false},
	{tools(`{"type":"ftp"}`), `tools[0].type: "ftp", allowed are function, http, mcp, web_search and crm`, false},
	{tools(`{"type":"http","name":"x","http":7}`), "tools[0].http: 7, must be an object", false},
	{tools(times(65, `{"type":"crm"}`)), "tools: 65 entries, allowed are 64", false},
	{tools(`{"type":"function"},{"type":"http","name":"x","http":{"method":"GET","url":"ftp://a"}},{"type":"web_search"},{"type":"web_search"}`),
		"tools[0].function.name: must be 1 to 64 letters, digits, _ and -; tools[1].http.url: must be an absolute https address; tools[3]: the name web_search is taken", true},
	{function(`{"name":"a b"}`), "tools[0].function.name: must be 1 to 64 letters, digits, _ and -", false},
	{function(`{"name":"a","parameters":[]}`), "tools[0].function.parameters: must be a JSON Schema object", false},
	// Several places at once.
	{`{"voice":"Z","prompt":"{{x}}","tools":[{"type":"magic"}],"settings":{"speed":9,"timezone":"Mars"}}`,
		`name: is missing; settings.speed: 9, allowed are 0.5 to 2; tools[0].type: "magic", allowed are function, http, mcp, web_search and crm; ` +
			`voice: "Z", must be one of F1 to F5 and M1 to M5; prompt: there is no variable {{x}}; add it to settings.variables`, false},
}

// fresh is an agent of which nothing was said yet.
func fresh() agent.Document {
	return agent.Document{Voice: agent.DefaultVoice, Language: agent.DefaultLanguage}
}

func TestEveryMistakeIsNamed(t *testing.T) {
	for _, tt := range bad {
		a := fresh()
		err := names.Apply(&a, []byte(tt.document), true)
		if got := fmt.Sprint(err); got != tt.wrong {
			t.Errorf("%.120s\n got %s\nwant %s", tt.document, got, tt.wrong)
		}
		if _, ok := errors.AsType[schema.Mistakes](err); !ok {
			t.Errorf("%.80s: %T", tt.document, err)
		}
	}
	for _, document := range []string{"", "{", "null", `{"name":"N"} 7`} {
		a := fresh()
		if err := names.Apply(&a, []byte(document), true); err == nil || !strings.HasPrefix(err.Error(), "body: ") {
			t.Errorf("%q: %v", document, err)
		}
	}
	for _, document := range good {
		a := fresh()
		if err := names.Apply(&a, []byte(document), true); err != nil {
			t.Errorf("%.120s: %v", document, err)
		}
	}
}

// The published schema, read by a library that is not ours, takes what the check takes
// and refuses what it refuses, but for what no schema can say.
func TestThePublishedSchemaSaysTheSame(t *testing.T) {
	text, err := json.Marshal(agent.Schema)
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	judge := func(document string) error {
		var v any
		if err := json.Unmarshal([]byte(document), &v); err != nil {
			t.Fatal(err)
		}
		return resolved.Validate(v)
	}
	for _, document := range good {
		if err := judge(document); err != nil {
			t.Errorf("%.120s is refused: %v", document, err)
		}
	}
	for _, tt := range bad {
		if err := judge(tt.document); (err == nil) != tt.beyond {
			t.Errorf("%.120s: %v", tt.document, err)
		}
	}
}

// What is not mentioned stays, what is the server's is ignored, and what was read comes
// out again.
func TestApplying(t *testing.T) {
	a := agent.Document{Name: "N", Voice: "F1", Language: "en", Prompt: "P", Tools: []byte(`[{"type":"crm"}]`), Settings: []byte(`{"ring_ms":1}`)}
	if err := names.Apply(&a, []byte(`{"id":"x","version":1,"unknown":true,"voice":"esca_m2","language":"pt-BR","prompt":null,"first_message":"<3"}`), false); err != nil {
		t.Fatal(err)
	}
	if a.Name != "N" || a.Voice != "M2" || a.Language != "pt" || a.Prompt != "P" || a.FirstMessage != "<3" ||
		string(a.Tools) != `[{"type":"crm"}]` || string(a.Settings) != `{"ring_ms":1}` {
		t.Errorf("got %+v", a)
	}
	document, err := a.Members()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	again := fresh()
	if err := names.Apply(&again, text, true); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprintf("%+v", again) != fmt.Sprintf("%+v", a) {
		t.Errorf("came back as %+v, was %+v", again, a)
	}
}

// A list of mistakes that goes on and on is reported in part.
func TestManyMistakes(t *testing.T) {
	a := fresh()
	err := names.Apply(&a, []byte(settings(`"phrases":[`+times(25, "7")+`]`)), true)
	if wrong, _ := errors.AsType[schema.Mistakes](err); len(wrong) != 25 || !strings.HasSuffix(err.Error(), "; and 5 more") {
		t.Errorf("%v", err)
	}
	if !strings.Contains(err.Error(), "settings.phrases[19]: 7, must be a text") {
		t.Errorf("%v", err)
	}
}

// TestSpeak: texts of an agent's own are of the language that it begins in.
func TestSpeak(t *testing.T) {
	first := agent.Agent{Language: "en", FirstMessage: "Hello.", Goodbye: "Bye now."}
	a := first
	a.Speak("es", &first)
	if greeting, goodbye := a.Line(turn.Greeting), a.Line(turn.Goodbye); greeting != "" || goodbye != "Tengo que terminar la llamada. Adiós." {
		t.Errorf("%q, %q", greeting, goodbye)
	}
	a.Speak("en", &first)
	if greeting, goodbye := a.Line(turn.Greeting), a.Line(turn.Goodbye); greeting != "Hello." || goodbye != "Bye now." {
		t.Errorf("%q, %q", greeting, goodbye)
	}
}

// TestLanguageOfTheCaller: what an agent that follows its caller speaks first stands in its language, in one form.
func TestLanguageOfTheCaller(t *testing.T) {
	for written, want := range map[string]struct {
		kept, first string
		follows     bool
	}{"auto": {"auto-en", "en", true}, "Auto_ES": {"auto-es", "es", true}, "auto-pt-BR": {"auto-pt", "pt", true}, "pt-BR": {"pt", "pt", false}} {
		d := agent.Document{Voice: "F1"}
		if err := names.Apply(&d, []byte(`{"name":"N","language":"`+written+`"}`), true); err != nil || d.Language != want.kept {
			t.Errorf("%s is kept as %s, %v", written, d.Language, err)
		}
		if first, follows := agent.Spoken(d.Language); first != want.first || follows != want.follows {
			t.Errorf("%s begins as %s, %v", written, first, follows)
		}
	}
}
