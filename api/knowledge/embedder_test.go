package knowledge_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"parley/api/knowledge"
	"parley/api/wire"
	"parley/inference"
	"parley/inference/openai"
	"parley/inference/openai/embedtest"
	"parley/inference/remote"
)

// TestEmbedder: documents get vectors through OpenAI's form, and are found by what they mean; an engine that fails is
// asked again later.
func TestEmbedder(t *testing.T) {
	l := open(t)
	s := embedtest.New(t, embedtest.Script{Same: map[string]string{"bicycles": "bike", "mended": "repaired"}, Faults: []embedtest.Fault{{Connections: 1, Status: 500}}})
	engine, err := openai.NewEmbeddings(remote.Engine{Name: "embeddings", BaseURL: s.URL + "/v1", APIKey: s.Key})
	l.OK(err)
	l.kept.UseEmbeddings(engine, slog.New(slog.DiscardHandler))
	e := knowledge.Embedder{Store: l.kept, Engine: engine, Log: slog.New(slog.DiscardHandler)}
	var base wire.KnowledgeBase
	l.ask(l.A, "POST", "/v1/knowledge", `{"name":"Handbook"}`, 201, &base)
	path := "/v1/knowledge/" + base.ID
	for i := range 2 {
		text := "# Workshop\n\nBicycles are mended within two days.\n\n"
		if i == 1 {
			text = strings.Repeat("# A title\n\n"+strings.Repeat("This sentence says nothing. ", 15)+"\n\n", 70) // more than a batch
		}
		body, kind := form(t, "file", fmt.Sprintf("file%d.md", i), text)
		l.Want("a file", l.As(l.A, "POST", path+"/documents", body, "Content-Type", kind), 202, "")
	}
	l.read()
	if l.embedding == 0 {
		t.Error("what was read is not to get vectors")
	}
	if err := e.Embed(t.Context()); inference.FaultOf(err) != inference.ErrFailed {
		t.Errorf("an engine that is out of order: %v", err)
	}
	l.OK(e.Embed(t.Context())) // the other document: the first is for later
	if _, err := l.DB.Pool().Exec(t.Context(), "update knowledge_embeddings set due_at = now() - interval '1 s' where not ready"); err != nil {
		t.Fatal(err)
	}
	l.OK(e.Embed(t.Context()))
	if n := s.Books().Requests; n != 3 {
		t.Errorf("%d requests for vectors of 71 passages of two documents", n)
	}
	var found wire.KnowledgeAnswer
	for range 20 { // a search does not wait for a machine that is busy
		l.ask(l.A, "POST", path+"/search", `{"query":"is my bike repaired?"}`, 200, &found)
		if len(found.Passages) > 0 {
			break
		}
	}
	if len(found.Passages) == 0 || found.Passages[0].Title != "file0.md" || found.Passages[0].Heading != "Workshop" {
		t.Errorf("%+v", found.Passages)
	}
	asked := s.Books().Requests
	l.OK(e.Embed(t.Context()))
	if n := s.Books().Requests; n != asked {
		t.Errorf("%d more requests though all have vectors", n-asked)
	}
}
