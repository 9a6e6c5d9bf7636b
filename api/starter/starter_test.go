package starter_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"strings"
	"testing"

	"parley/api/starter"
	"parley/api/wire"
)

// TestTemplates: each file is one of them, says what it is, and is read as an agent. That the server takes them
// is tested where it reads agents.
func TestTemplates(t *testing.T) {
	t.Parallel()
	all := starter.Templates()
	entries, err := fs.ReadDir(os.DirFS("agents"), ".")
	if err != nil || len(entries) != len(all) || len(all) != 6 {
		t.Fatalf("%d files, %d templates, %v", len(entries), len(all), err)
	}
	seen := map[string]bool{}
	for i, one := range all {
		if one.Name != starter.Names()[i] || one.Title == "" || !strings.HasSuffix(one.Summary, ".") || seen[one.Title] {
			t.Errorf("%+v", one)
		}
		seen[one.Title] = true
		document, err := one.Document()
		if err != nil {
			t.Errorf("%s: %v", one.Name, err)
			continue
		}
		var a wire.AgentDefinition
		if err := json.Unmarshal(document, &a); err != nil || a.Name == "" || a.Prompt == "" || a.FirstMessage == "" {
			t.Errorf("%s: %+v %v", one.Name, a, err)
		}
		if found, ok := starter.Named(one.Name); !ok || found != one {
			t.Errorf("%s is not found by its name", one.Name)
		}
	}
	if _, ok := starter.Named("nobody"); ok {
		t.Error("there is a template that there is not")
	}
}
