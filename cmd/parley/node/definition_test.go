package node

import (
	"encoding/json"
	"log/slog"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"parley/api"
	"parley/api/callcenter"
	"parley/api/socket"
	"parley/cmd/parley/config"
	"parley/cmd/parley/conversation"
	"parley/cmd/parley/engine"
	"parley/pipeline/agent"
	"parley/store/history"
	"parley/store/storetest"
)

// TestTheDocumentHasTheSchemasSettings: the description of the HTTP interface has the
// settings that the schema of agents has, with their bounds.
func TestTheDocumentHasTheSchemasSettings(t *testing.T) {
	cfg, _, err := config.Load(config.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	n := &Node{cfg: cfg, log: slog.New(slog.DiscardHandler), sockets: socket.NewSet()}
	if n.engines, err = engine.New(cfg, n.log); err != nil {
		t.Fatal(err)
	}
	described := n.routes().Document().Components.Schemas.Map()["AgentSettings"].Properties
	if got, want := slices.Sorted(maps.Keys(described)), slices.Sorted(maps.Keys(agent.SettingsSchema.Properties)); !slices.Equal(got, want) {
		t.Fatalf("described are %v, there are %v", got, want)
	}
	value := func(f *float64) float64 {
		if f == nil {
			return -1
		}
		return *f
	}
	for name, s := range agent.SettingsSchema.Properties {
		d := described[name]
		var words []string
		for _, w := range d.Enum {
			words = append(words, w.(string))
		}
		most, longest := 0, 0
		if d.MaxItems != nil {
			most = *d.MaxItems
		}
		if d.MaxLength != nil {
			longest = *d.MaxLength
		}
		if d.Type != s.Type || value(d.Minimum) != value(s.Minimum) || value(d.Maximum) != value(s.Maximum) || !slices.Equal(words, s.Enum) ||
			most != s.MaxItems || longest != s.MaxLength {
			t.Errorf("%s is described otherwise than it is", name)
		}
	}
}

// TestAgentOfADialledCall: its texts have the values that came with the call, a machine
// gets what the agent says, and the call names the version it ran with.
func TestAgentOfADialledCall(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	stored, err := d.node.db.Agent(t.Context(), d.who.Account, d.agent)
	d.ok(err)
	stored.FirstMessage = "Hello {{who}} of {{city}}, {{call.to}}."
	stored.Settings = json.RawMessage(`{"variables":{"who":"you","city":"Rome"},"on_machine":"hangup"}`)
	stored, err = d.node.db.UpdateAgent(t.Context(), d.who.Account, *stored)
	d.ok(err)

	order := callcenter.Order{From: deskNumber, To: "+12025550100", Agent: d.agent, Variables: map[string]string{"who": "Ana", "town": "x"}}
	_, err = d.node.dialler.Dial(t.Context(), d.who, order)
	if p := api.ProblemOf(err); p.Status != 400 || p.Detail != "variables.town: the agent has no such variable" {
		t.Errorf("with a variable that is not the agent's: %+v", p)
	}
	delete(order.Variables, "town")
	placed, err := d.node.dialler.Dial(t.Context(), d.who, order)
	d.ok(err)
	said := ""
	d.ended(placed.CallID, func(c callcenter.Change) bool {
		if c.Kind == callcenter.LineAdded && c.Line.Role == "agent" && said == "" {
			said = c.Line.Text
		}
		return said != ""
	})
	if !strings.HasPrefix("Hello Ana of Rome, +12025550100.", said) || !strings.HasPrefix(said, "Hello Ana") {
		t.Errorf("the first message was %q", said)
	}
	<-d.heard
	c, err := history.New(d.node.db).Call(t.Context(), d.who.Account, placed.CallID)
	d.ok(err)
	if c.AgentVersion == nil || *c.AgentVersion != stored.Version {
		t.Errorf("the call ran with version %v, the agent has %d", c.AgentVersion, stored.Version)
	}

	id := d.dial("04", "", "")
	if end := d.ended(id, nil); end.EndReason != "voicemail" || end.AnsweredBy != "machine" {
		t.Errorf("a machine: it ended %s, answered by %q", end.EndReason, end.AnsweredBy)
	}
}

// TestFunctionsOfThisServer: no function of an account leads to the server itself.
func TestFunctionsOfThisServer(t *testing.T) {
	t.Parallel()
	d := deskWith(t, storetest.URL(t), func(c *config.Config) { c.PublicIP = netip.MustParseAddr("9.9.9.9") })
	_, wrong, err := conversation.Definition(nil, d.node.guard).Draft(json.RawMessage(`{"name":"N","tools":[{"type":"mcp","name":"m","mcp":{"url":"https://9.9.9.9/"}}]}`))
	d.ok(err)
	if len(wrong) != 1 || wrong[0].Problem != "9.9.9.9 is this server" {
		t.Errorf("%+v", wrong)
	}
}

// TestUnknownEnginesAreRefused by the API, with the field, and what is there twice.
func TestUnknownEnginesAreRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for engines, want := range map[string]string{
		`{"llm": "openai"}`:              `settings.engines.llm: there is no engine "openai" here; there are: scripted`,
		`{"asr": ["pocketsphinx", "x"]}`: `settings.engines.asr[1]: there is no engine "x" here; there are: pocketsphinx`,
	} {
		status, out := s.ask("POST", "/v1/agents", s.key, `{"name":"N","settings":{"engines":`+engines+`}}`)
		text, _ := json.Marshal(out)
		if status != 400 || !strings.Contains(out["detail"].(string), want) {
			t.Errorf("%s: %d %s", engines, status, text)
		}
	}
	if status, out := s.ask("POST", "/v1/agents", s.key, `{"name":"N","prompt":"a","prompt":null}`); status != 400 || out["detail"] != "prompt: is there more than once" {
		t.Errorf("a prompt that is there twice: %d %v", status, out)
	}
	if status, out := s.ask("POST", "/v1/agents", s.key, `{"name":"N","settings":{"engines":{"llm":["scripted"],"tts":"espeak"}}}`); status != 200 && status != 201 {
		t.Errorf("%d %v", status, out)
	}
}
