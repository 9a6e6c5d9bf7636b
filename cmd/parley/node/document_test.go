package node

import (
	"bytes"
	"log/slog"
	"os"
	"testing"

	"parley/api/socket"
	"parley/cmd/parley/config"
	"parley/cmd/parley/engine"
)

// documentFile is the published description of the HTTP interface. To renew it run
// the test with PARLEY_GOLDEN=update.
const documentFile = "../../../api/openapi.yaml"

// TestDocument keeps the published document what the routes are.
func TestDocument(t *testing.T) {
	cfg, _, err := config.Load(config.Sources{Env: []string{"PARLEY_PAYMENTS=simulated"}})
	if err != nil {
		t.Fatal(err)
	}
	n := &Node{cfg: cfg, log: slog.New(slog.DiscardHandler), sockets: socket.NewSet()}
	if n.engines, err = engine.New(cfg, n.log); err != nil {
		t.Fatal(err)
	}
	doc, err := n.routes().Published()
	if err != nil {
		t.Fatal(err)
	}
	got, err := doc.YAML()
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("PARLEY_GOLDEN") == "update" {
		if err := os.WriteFile(documentFile, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(documentFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what the routes are: run this test with PARLEY_GOLDEN=update and look at the difference", documentFile)
	}
}
