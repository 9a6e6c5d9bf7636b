package statefile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

type state struct{ N int }

func TestSurvivesARestart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state.json")
	got := state{7}
	if err := Load(file, &got); err != nil || got.N != 7 {
		t.Errorf("without a file: %+v, %v", got, err)
	}
	for n := range 3 {
		if err := Save(file, state{n}); err != nil {
			t.Fatal(err)
		}
		if err := Load(file, &got); err != nil || got.N != n {
			t.Errorf("%+v, %v; want %d", got, err, n)
		}
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if err := Save("", state{}); err != nil {
		t.Error(err)
	}
	if err := Load("", &got); err != nil || got.N != 2 {
		t.Errorf("without a name: %+v, %v", got, err)
	}
}

// What fails leaves the old state, and nothing beside it.
func TestFailures(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "state.json")
	if err := Save(file, state{1}); err != nil {
		t.Fatal(err)
	}
	if err := Save(file, make(chan int)); err == nil {
		t.Error("a state that is no JSON is saved")
	}
	if err := Save(filepath.Join(dir, "missing", "state.json"), state{2}); err == nil {
		t.Error("a directory that is not there takes a file")
	}
	if err := os.Mkdir(filepath.Join(dir, "taken"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "taken", "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Save(filepath.Join(dir, "taken"), state{2}); err == nil { // the rename fails
		t.Error("a directory is overwritten")
	}
	var got state
	if err := Load(file, &got); err != nil || got.N != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Load(file, &got); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("a broken file: %v", err)
	}
}
