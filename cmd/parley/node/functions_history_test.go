package node

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/api/callcenter"
	"parley/api/wire"
	"parley/inference"
	"parley/inference/enginetest"
)

// TestFunctionsInHistory: what functions a call called is seen while it lasts and afterwards, with what
// they were called with and gave, without the account's secrets; followers are told of each.
func TestFunctionsInHistory(t *testing.T) {
	v, s := newServices(t), newSite(t)
	s.employs(v)
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	go func() { _ = s.nodes[0].manager.RecordEvents(ctx) }()
	go func() { _ = s.nodes[0].cluster.Run(ctx) }()
	s.nodes[0].engines.TTS = enginetest.NewFakeTTS()
	model := enginetest.NewFakeLLM()
	model.Answer = func(_ int, r inference.Request) []enginetest.Step {
		if r.Messages[len(r.Messages)-1].Role != inference.RoleUser {
			return enginetest.Sentences(0, "Done.")
		}
		return []enginetest.Step{{Tool: &inference.ToolCall{Name: "order", Arguments: `{"id":"7"}`}}, {Tool: &inference.ToolCall{Name: "look"}}, {Tool: &inference.ToolCall{Name: "refund"}}}
	}
	s.nodes[0].engines.LLM = model

	c, _ := s.dial(0, s.key, s.agent)
	p := &visited{talker: c, s: s}
	p.say(`{"type":"language","data":"eu"}`)
	p.until("status", "prompt_set")
	p.say(`{"type":"text","data":"where is it"}`)
	select {
	case <-v.asked:
	case <-time.After(patience):
		t.Fatal("no order is asked for")
	}
	var list struct{ Data []wire.CallDetail }
	s.read("/v1/calls?limit=1", "", &list)
	id := list.Data[0].ID
	var call wire.CallDetail
	eventually(t, "the function is seen before it has its result", func() bool {
		s.read("/v1/calls/"+id, "", &call)
		return len(call.Functions) > 0
	})
	if f := call.Functions[0]; f.Name != "order" || f.Arguments != `{"id":"7"}` || f.RunBy != "server" || f.Outcome != nil || f.EndMS != nil {
		t.Errorf("while it runs it is %+v", f)
	}
	followed, told, spoken := make(chan struct{}), make(chan wire.CallFunction, 20), make(chan string, 40)
	go func() {
		_ = s.nodes[0].cluster.Follow(ctx, s.account, id, func(c callcenter.Change) error {
			switch c.Kind {
			case callcenter.Snapshot:
				close(followed)
			case callcenter.FunctionCalled:
				told <- c.Function
			case callcenter.Speaking:
				spoken <- "begins " + c.Line.Role + ": " + c.Line.Text
			case callcenter.LineAdded:
				spoken <- c.Line.Role + ": " + c.Line.Text
			}
			return nil
		})
	}()
	<-followed
	v.release <- struct{}{}
	if f := <-told; f.Name != "order" || f.Outcome == nil || *f.Outcome != "ok" {
		t.Errorf("a follower gets %+v", f)
	}
	p.until("transcript", "Done.")
	var heard []string
	begins := func(line string) bool { // on a slow machine after the line of an agent that takes its time
		return strings.HasPrefix(line, "begins agent: ") && strings.HasSuffix(line, " Done.")
	}
	for !slices.Contains(heard, "agent: Done.") || !slices.ContainsFunc(heard, begins) {
		select {
		case line := <-spoken:
			heard = append(heard, line)
		case <-time.After(patience):
			t.Fatalf("a follower hears %q", heard)
		}
	}
	s.ok(c.Close())
	eventually(t, "the call ends", func() bool { s.read("/v1/calls/"+id, "", &call); return call.EndedAt != nil })

	want := map[string][3]string{"order": {"server", "ok", `{"status":200,"body":"order /7 of Bearer (secret)"}`}, "look": {"client", "ok", "the page ran look"}, "refund": {"server", "unknown_tool", `{"error":"there is no function refund"}`}}
	for _, f := range call.Functions {
		if w := want[f.Name]; f.RunBy != w[0] || f.Outcome == nil || *f.Outcome != w[1] || f.Result == nil || *f.Result != w[2] || *f.EndMS < f.StartMS {
			t.Errorf("%+v, want %v", f, w)
		}
		delete(want, f.Name)
	}
	if len(want) > 0 {
		t.Errorf("not there: %v", want)
	}
	var log struct {
		Data []struct{ Event callcenter.FunctionEvent }
	}
	s.read("/v1/calls/"+id+"/events", "application/json", &log)
	logged := ""
	for _, e := range log.Data {
		if f := e.Event; f.Type == "function" && f.Name == "order" {
			logged += f.ID
			if f.Outcome != nil {
				logged += " " + *f.Outcome
			}
			logged += ";"
		}
	}
	if parts := strings.Split(logged, ";"); len(parts) != 3 || parts[1] != parts[0]+" ok" {
		t.Errorf("the log has %q", logged)
	}
}

// read asks the first node, with the account's key.
func (s *site) read(path, accept string, out any) {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), http.MethodGet, s.servers[0].URL+path, nil)
	s.ok(err)
	r.Header.Set("Authorization", "Bearer "+s.key)
	if accept != "" {
		r.Header.Set("Accept", accept)
	}
	res, err := http.DefaultClient.Do(r)
	s.ok(err)
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		s.Fatalf("%s: %d", path, res.StatusCode)
	}
	s.ok(json.NewDecoder(res.Body).Decode(out))
}
