package node

import (
	"os"
	"path/filepath"
	"testing"

	"parley/api/status"
	"parley/cmd/parley/config"
)

func TestStorage(t *testing.T) {
	dir := t.TempDir()
	if err := storage(dir); err != nil {
		t.Error(err)
	}
	if storage(filepath.Join(dir, "nothing")) == nil {
		t.Error("a directory that is not there is good")
	}
	if os.Geteuid() == 0 {
		return // may write everywhere
	}
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	if storage(dir) == nil {
		t.Error("a directory that may not be written is good")
	}
}

// TestEnginesAreListed has two engines of a kind, of which calls know the pair only.
func TestEnginesAreListed(t *testing.T) {
	cfg, _, err := config.Load(config.Sources{Env: []string{"PARLEY_LLM=openai,scripted", "PARLEY_LLM_URL=http://127.0.0.1:1/v1", "PARLEY_LLM_MODEL=m"}})
	if err != nil {
		t.Fatal(err)
	}
	engines, err := NewEngines(cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	var list []status.ModelEntry
	for _, m := range (&status.Server{Engines: engines.all}).Models().Models {
		m.Description = ""
		list = append(list, m)
	}
	if len(list) != 4 || list[0].Kind != status.TTS || list[1].Kind != status.STT || list[2].Kind != status.LLM || !list[2].Default ||
		list[2].Scripted || list[3].Name != "scripted" || list[3].Default || !list[3].Scripted {
		t.Errorf("%+v", list)
	}
	if engines.all[0].Ready == nil || engines.all[1].Ready == nil || engines.all[3].Ready != nil {
		t.Error("it is the embedded engines that say whether they are ready")
	}
}
