package node

import (
	"bytes"
	"context"
	"encoding/json"
	"mime/multipart"
	"net/http"
	"strings"
	"sync"
	"testing"

	"parley/api/wire"
	"parley/inference"
	"parley/inference/enginetest"
	"parley/inference/openai/embedtest"
)

// stocked gives the site's account a collection with one file, which the node's jobs read.
func (s *site) stocked() (base string) {
	s.Helper()
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = s.nodes[0].jobs.Run(ctx) })
	s.Cleanup(func() { stop(); running.Wait() })
	status, made := s.ask("POST", "/v1/knowledge", s.key, `{"name":"Handbook"}`)
	if status != http.StatusCreated {
		s.Fatalf("%d %v", status, made)
	}
	base = made["id"].(string)
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	part, err := w.CreateFormFile("file", "hours.md")
	s.ok(err)
	_, err = part.Write([]byte("# Opening hours\n\nWe open at nine and close at noon on Saturdays."))
	s.ok(err)
	s.ok(w.Close())
	r, err := http.NewRequestWithContext(s.Context(), http.MethodPost, s.servers[0].URL+"/v1/knowledge/"+base+"/documents", &form)
	s.ok(err)
	r.Header.Set("Authorization", "Bearer "+s.key)
	r.Header.Set("Content-Type", w.FormDataContentType())
	res, err := http.DefaultClient.Do(r)
	s.ok(err)
	defer res.Body.Close()
	if res.StatusCode != http.StatusAccepted {
		s.Fatalf("a file: %d", res.StatusCode)
	}
	var list struct{ Data []wire.KnowledgeDocument }
	eventually(s.T, "the file is read", func() bool {
		s.read("/v1/knowledge/"+base+"/documents", "", &list)
		return list.Data[0].State == "ready" || list.Data[0].State == "failed"
	})
	if d := list.Data[0]; d.State != "ready" || d.Passages != 1 {
		s.Fatalf("%+v", d)
	}
	return base
}

// asked has the site's agent, with settings, answer a question, and returns the functions of the call and what the
// model was asked.
func (s *site) asked(settings, question string, model *enginetest.FakeLLM) []wire.CallFunction {
	s.Helper()
	n := s.nodes[0]
	a, err := n.db.Agent(s.Context(), s.account, s.agent)
	s.ok(err)
	a.Prompt, a.Settings = "You are Ana.", json.RawMessage(settings)
	_, err = n.db.UpdateAgent(s.Context(), s.account, *a)
	s.ok(err)
	n.engines.TTS, n.engines.LLM = enginetest.NewFakeTTS(), model
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = n.manager.RecordEvents(ctx) })
	defer func() { stop(); running.Wait() }()
	c, _ := s.dial(0, s.key, s.agent)
	p := &visited{talker: c, s: s}
	p.say(`{"type":"language","data":"eu"}`)
	p.until("status", "prompt_set")
	p.say(`{"type":"text","data":%q}`, question)
	p.until("transcript", "At noon.")
	s.ok(c.Close())
	var list struct{ Data []wire.CallDetail }
	s.read("/v1/calls?limit=1", "", &list)
	var call wire.CallDetail
	eventually(s.T, "the call ends", func() bool { s.read("/v1/calls/"+list.Data[0].ID, "", &call); return call.EndedAt != nil })
	return call.Functions
}

const found = `{"passages":[{"title":"hours.md","source":"hours.md","heading":"Opening hours","text":"Opening hours\nWe open at nine and close at noon on Saturdays."}]}`

// TestAgentSearchesDocuments: the model gets a function that finds a file which was added, and the search stands in the
// history of the call with its sources.
func TestAgentSearchesDocuments(t *testing.T) {
	s := newSite(t)
	base := s.stocked()
	model := enginetest.NewFakeLLM()
	var mu sync.Mutex
	var offered, got string
	model.Answer = func(_ int, r inference.Request) []enginetest.Step {
		mu.Lock()
		defer mu.Unlock()
		if last := r.Messages[len(r.Messages)-1]; last.Role == inference.RoleTool {
			got = last.Text
			return enginetest.Sentences(0, "At noon.")
		}
		for _, f := range r.Tools {
			offered += f.Name + " "
		}
		return []enginetest.Step{{Tool: &inference.ToolCall{Name: "search_knowledge", Arguments: `{"query":"closing on saturday"}`}}}
	}
	functions := s.asked(`{"speculative_llm":false,"knowledge_bases":["`+base+`"]}`, "when do you close", model)
	mu.Lock()
	defer mu.Unlock()
	if !strings.Contains(offered, "search_knowledge ") || got != found {
		t.Errorf("the model has %sand got %s", offered, got)
	}
	if len(functions) != 1 {
		t.Fatalf("%+v", functions)
	}
	if f := functions[0]; f.Name != "search_knowledge" || f.RunBy != "server" || *f.Outcome != "ok" || *f.Result != found {
		t.Errorf("in history it is %+v", f)
	}
}

// TestEmbeddings: with an embeddings engine a file that was added is found by what it means.
func TestEmbeddings(t *testing.T) {
	engine := embedtest.New(t, embedtest.Script{Same: map[string]string{"saturdays": "weekend", "close": "shut"}})
	s := newSite(t, "PARLEY_EMBEDDINGS_URL="+engine.URL+"/v1", "PARLEY_EMBEDDINGS_API_KEY="+engine.Key)
	base := s.stocked()
	eventually(t, "the file is found by what it means", func() bool {
		status, found := s.ask("POST", "/v1/knowledge/"+base+"/search", s.key, `{"query":"shut weekend"}`)
		passages, _ := found["passages"].([]any)
		return status == http.StatusOK && len(passages) == 1
	})
}

// TestPassagesOfATurn: the model gets passages for the caller's words with its instructions, and they stand in the history
// of the call.
func TestPassagesOfATurn(t *testing.T) {
	s := newSite(t)
	base := s.stocked()
	model := enginetest.NewFakeLLM()
	var mu sync.Mutex
	var system, offered string
	model.Answer = func(_ int, r inference.Request) []enginetest.Step {
		mu.Lock()
		defer mu.Unlock()
		system, offered = r.System, ""
		for _, f := range r.Tools {
			offered += f.Name + " "
		}
		return enginetest.Sentences(0, "At noon.")
	}
	var functions []wire.CallFunction
	for range 10 { // a turn does not wait for a search that a busy machine is slow with
		functions = s.asked(`{"speculative_llm":false,"knowledge_bases":["`+base+`"],"knowledge_mode":"turn"}`, "when do you close on saturday", model)
		if len(functions) != 1 || *functions[0].Outcome != "timeout" {
			break
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if !strings.HasPrefix(system, "You are Ana.") || !strings.Contains(system, "[1] hours.md, Opening hours:\nOpening hours\nWe open at nine and close at noon on Saturdays.") || strings.Contains(offered, "search_knowledge") {
		t.Errorf("the model has %s and got %s", offered, system)
	}
	if len(functions) != 1 {
		t.Fatalf("%+v", functions)
	}
	if f := functions[0]; f.Name != "search_knowledge" || f.RunBy != "server" || *f.Outcome != "ok" || *f.Result != found || f.Arguments != `{"query":"when do you close on saturday"}` {
		t.Errorf("in history it is %+v", f)
	}
}
