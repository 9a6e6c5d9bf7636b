package conversation

import (
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"parley/api"
	"parley/inference"
	"parley/pipeline/tool"
	"parley/store"
	"parley/store/people"
)

// TestPronunciationOfAnAgent: what is stored with an agent reaches its voice.
func TestPronunciationOfAnAgent(t *testing.T) {
	a := &store.Agent{Language: "en", Settings: []byte(`{"pronunciation":[{"word":"Lola","say":"low la"}]}`)}
	if p := PlanOf(a, slog.New(slog.DiscardHandler)); p.Agent.Pronunciation == nil {
		t.Error("it is lost")
	}
	a.Settings = nil
	if p := PlanOf(a, slog.New(slog.DiscardHandler)); p.Agent.Pronunciation != nil {
		t.Error("there is one that nobody stored")
	}
}

// TestOwns: the inside of a conversation is for who may read its agent.
func TestOwns(t *testing.T) {
	browser := (&people.Browser{ID: "bs_1", User: people.User{ID: "usr_1"}, Account: "acc_1"}).Principal()
	for name, c := range map[string]struct {
		who  api.Principal
		want bool
	}{
		"a key":                            {api.Principal{Account: "acc_1", Key: "key_1"}, true},
		"a ticket made from a key":         {api.Principal{Account: "acc_1", Key: "key_1", Ticket: &api.Ticket{}}, false},
		"a session ticket made from a key": {api.Principal{Account: "acc_1", Key: "key_1", Ticket: &api.Ticket{Agent: "ag_1"}}, false},
		"a ticket of the dashboard":        {api.Principal{Account: "acc_1", Key: browser.Key, Ticket: &api.Ticket{}}, true},
		"a session ticket made there":      {api.Principal{Account: "acc_1", Key: browser.Key, Ticket: &api.Ticket{Agent: "ag_1"}}, false},
	} {
		if got := owns(c.who); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// TestInsightNews: what the model is asked is shown without what was shown before, and
// what it had before is clear from that.
func TestInsightNews(t *testing.T) {
	var i insight
	user := func(text string) inference.Message { return inference.Message{Role: inference.RoleUser, Text: text} }
	first := i.news(&inference.Request{System: "Be kind.", Messages: []inference.Message{user("one"), user("two")}}, false)
	if first.System == nil || first.Tools == nil || first.Keep != 0 || len(first.Messages) != 2 {
		t.Errorf("the first is %+v", first)
	}
	second := i.news(&inference.Request{System: "Be kind.", Messages: []inference.Message{user("one"), user("two and"), user("three")}}, true)
	if second.System != nil || second.Tools != nil || second.Keep != 1 || len(second.Messages) != 2 || !second.Speculative {
		t.Errorf("the second is %+v", second)
	}
	third := i.news(&inference.Request{System: "Be brief.", Tools: []inference.Tool{{Name: "look"}}, Messages: []inference.Message{user("one")}}, false)
	if third.System == nil || len(third.Tools) != 1 || third.Keep != 1 || len(third.Messages) != 0 {
		t.Errorf("the third is %+v", third)
	}
	long := i.news(&inference.Request{System: strings.Repeat("ñ", shownPrompt)}, false)
	if n := len(*long.System); n > shownPrompt+5 || !strings.HasSuffix(*long.System, "ñ …") {
		t.Errorf("a long prompt is shown as %d bytes that end with %q", n, (*long.System)[n-6:])
	}
}

// TestMistakesHaveCodes: all that is wrong is told, under a code of its own where there
// is one.
func TestMistakesHaveCodes(t *testing.T) {
	guard, err := tool.NewGuard(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	d := Definition(nil, guard)
	const invalid = "validation.invalid_request_format"
	for _, tt := range []struct{ document, code, detail string }{
		{`{"name":"N","voice":"Z9"}`, "validation.invalid_voice", `voice: "Z9", must be one of F1 to F5 and M1 to M5`},
		{`{"name":"N","language":"ko"}`, "validation.invalid_language", `language: "ko", must be one of en es ca gl eu pt fr it de, or auto`},
		{`{"name":"N","settings":{"min_endpoint_ms":50}}`, invalid, "settings.min_endpoint_ms: 50, allowed are 100 to 2000"},
		{`{"voice":"Z9","prompt":"{{x}}"}`, invalid, `name: is missing; voice: "Z9", must be one of F1 to F5 and M1 to M5; prompt: there is no variable {{x}}; add it to settings.variables`},
		{`[]`, invalid, "body: a list, must be an object"},
		{`{"name":"N","settings":{"idle_seconds":9,"idle_seconds":10}}`, invalid, "settings.idle_seconds: is there more than once"},
		{`{"name":"N","metadata":7}`, invalid, "metadata: 7, must be an object"},
		{`{"name":"N","metadata":{"a b":"c"}}`, invalid, "metadata: names are 1 to 40 letters, digits, _, . and -"},
		{`{"name":"N","metadata":{"a":7}}`, invalid, "metadata.a: must be a text"},
		{`{"voice":"Z9","metadata":{"a":7}}`, invalid, `name: is missing; voice: "Z9", must be one of F1 to F5 and M1 to M5; metadata.a: must be a text`},
		{`{"name":"N","metadata":{"a":"1","a":"2"}}`, invalid, "metadata.a: is there more than once"},
		{`{"name":"N","tools":[{"type":"mcp","name":"m","mcp":{"url":"https://127.0.0.1/"}}]}`, invalid, "tools[0].mcp.url: 127.0.0.1 is not on the public Internet"},
	} {
		a := d.New()
		p := api.ProblemOf(d.Apply(&a, json.RawMessage(tt.document)))
		if p.Status != 400 || p.Code != tt.code || p.Detail != tt.detail {
			t.Errorf("%s: %d %s %s", tt.document, p.Status, p.Code, p.Detail)
		}
		_, wrong, err := d.Draft(json.RawMessage(tt.document))
		each := make([]string, len(wrong))
		for i, m := range wrong {
			each[i] = m.Path + ": " + m.Problem
		}
		if err != nil || strings.Join(each, "; ") != tt.detail {
			t.Errorf("%s: %v, %q", tt.document, err, each)
		}
	}
	a := d.New()
	a.ID, a.Version = "ag_1", 7
	if err := d.Apply(&a, json.RawMessage(`{"id":"x","version":1,"name":"N","voice":"esca_m2","language":"pt-BR","unknown":1}`)); err != nil || a.ID != "ag_1" || a.Version != 7 || a.Voice != "M2" || a.Language != "pt" {
		t.Errorf("%+v, %v", a, err)
	}
	if err := d.Apply(&a, json.RawMessage(`{"metadata":{"team":"sales","old":"x"}}`)); err != nil || len(a.Metadata) != 2 {
		t.Errorf("%v, %v", a.Metadata, err)
	}
	if err := d.Apply(&a, json.RawMessage(`{"metadata":{"old":null}}`)); err != nil || len(a.Metadata) != 1 || a.Metadata["team"] != "sales" {
		t.Errorf("%v, %v", a.Metadata, err)
	}
	if err := d.Apply(&a, json.RawMessage(`{"prompt":null}`)); err != nil {
		t.Errorf("nothing was changed: %v", err)
	}
}
