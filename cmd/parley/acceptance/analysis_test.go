package acceptance

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// analyzedAgent wants a server's remote model first, which cannot be reached, and facts of
// each call.
const analyzedAgent = `settings:
  engines:
    llm: [openai, scripted]
    tts: espeak
  analysis:
    summary: true
    extract:
      type: object
      required: [day]
      properties:
        day: {type: string}
        people: {type: integer, minimum: 1}
        name: {type: string}
`

// TestEnginesAndAnalysis: an agent's first model is away, its second answers within the
// turn; the call and its bill say so, and soon after it facts are taken out of it, which
// are told of, shown and charged once.
func TestEnginesAndAnalysis(t *testing.T) {
	t.Parallel()
	dir := newDataDir(t)
	// The discard port: nobody answers there.
	s := serveLean(t, dir, []string{"PARLEY_LLM=scripted,openai", "PARLEY_LLM_URL=http://127.0.0.1:9/v1"})
	who := newCustomer(t, s, "10")
	file := filepath.Join(t.TempDir(), "agent.yaml")
	if err := os.WriteFile(file, []byte(analyzedAgent), 0o600); err != nil {
		t.Fatal(err)
	}
	admin(t, dir, &struct{}{}, "agent", "update", "--account", who.account, who.agent, "--file", file)
	c := connect(t, s, who.key, who.agent)
	c.awaitStatus("listening") // the greeting is over
	for _, text := range []string{"When do you open?", "My name is Bob Smith and I want a table for four people on Friday."} {
		c.send(`{"type":"text","data":"` + text + `"}`)
		c.awaitLine("agent")
		c.awaitStatus("listening")
	}
	c.hangUp()

	var list struct{ Data []struct{ ID string } }
	if status, body := ask(t, s, who.key, "/v1/calls"); status != http.StatusOK || json.Unmarshal(body, &list) != nil || len(list.Data) != 1 {
		t.Fatalf("%d %s", status, body)
	}
	id := list.Data[0].ID
	var call struct {
		Engines  map[string][]string
		Analysis *struct {
			State   string
			Summary string
			Data    map[string]any
		}
	}
	var body []byte
	eventually(t, "the call is analyzed", func() bool {
		_, body = ask(t, s, who.key, "/v1/calls/"+id)
		return json.Unmarshal(body, &call) == nil && call.Analysis != nil && call.Analysis.State != "waiting"
	})
	if !slices.Equal(call.Engines["llm"], []string{"scripted"}) || !slices.Equal(call.Engines["tts"], []string{"espeak"}) {
		t.Errorf("it was served by %v", call.Engines)
	}
	a := call.Analysis
	if a.State != "done" || !strings.Contains(a.Summary, "Bob Smith") || a.Data["day"] != "Friday" || a.Data["people"] != 4.0 || a.Data["name"] != "Bob Smith" {
		t.Errorf("the analysis is %s", body)
	}
	var receipt struct {
		Engines map[string][]string
		Lines   []struct {
			Component string
			Quantity  int64
		}
	}
	if _, body = ask(t, s, who.key, "/v1/calls/"+id+"/receipt"); json.Unmarshal(body, &receipt) != nil || !slices.Equal(receipt.Engines["llm"], []string{"scripted"}) ||
		!strings.Contains(string(body), "llm_summary_input") {
		t.Errorf("the receipt is %s", body)
	}
	o := do(t, command(t.TempDir(), []string{"PARLEY_URL=http://" + s.addrs["http"], "PARLEY_API_KEY=" + who.key}, "calls", "show", id))
	if o.status != 0 || !strings.Contains(o.out, `"day":"Friday"`) || !strings.Contains(o.out, "llm: scripted") {
		t.Errorf("exit status %d: %s%s", o.status, o.out, o.errOut)
	}
	if !strings.Contains(s.text(), `"engine":"openai"`) {
		t.Error("the agent's first model was never asked")
	}
	checkBooks(t, dir)
	s.stop(t)
}
