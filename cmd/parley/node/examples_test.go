package node

import (
	"log/slog"
	"net/http"
	"testing"

	"parley/api/docs"
	"parley/api/socket"
	"parley/cmd/parley/config"
	"parley/cmd/parley/engine"
)

// TestEveryEndpointHasAnExample: in each language, or the example says why not in
// one. That examples do what they say is tested by running them, in
// cmd/parley/acceptance.
func TestEveryEndpointHasAnExample(t *testing.T) {
	examples, err := docs.Examples()
	if err != nil {
		t.Fatal(err)
	}
	covered := map[string]bool{}
	cfg, _, err := config.Load(config.Sources{Env: []string{"PARLEY_PAYMENTS=simulated"}})
	if err != nil {
		t.Fatal(err)
	}
	n := &Node{cfg: cfg, log: slog.New(slog.DiscardHandler), sockets: socket.NewSet()}
	if n.engines, err = engine.New(cfg, n.log); err != nil {
		t.Fatal(err)
	}
	for at, item := range n.routes().Document().Paths {
		for method, here := range map[string]bool{
			http.MethodGet: item.Get != nil, http.MethodPost: item.Post != nil, http.MethodPut: item.Put != nil,
			http.MethodPatch: item.Patch != nil, http.MethodDelete: item.Delete != nil,
		} {
			if !here {
				continue
			}
			covered[method+" "+at] = true
			languages := map[string]bool{}
			for _, e := range docs.Covering(examples, method, at) {
				for _, c := range e.Codes {
					languages[c.Language] = languages[c.Language] || e.Skip == ""
				}
			}
			for _, l := range []string{"curl", "javascript", "python", "go"} {
				if !languages[l] {
					t.Errorf("%s %s has no example in %s that is run, and no reason why: see api/docs/examples", method, at, l)
				}
			}
		}
	}
	for _, e := range examples {
		for _, c := range e.Covers {
			if !covered[c] {
				t.Errorf("the example %s covers %s, which is no endpoint", e.Name, c)
			}
		}
	}
}
