package local

import (
	"os"
	"testing"

	"parley/cmd/parley/config"
)

func TestDataDir(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root runs the database under another account")
	}
	closed := t.TempDir()
	if err := os.Chmod(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	open, err := os.MkdirTemp("", "parley-data-") // below a directory that the database's account reaches
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(open)
	if err := os.Chmod(open, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, cwd, env, want string
	}{
		{"reachable", open, "", "./data"},
		{"closed home", closed, "", config.SystemDataDir},
		{"closed, but chosen", closed, "PARLEY_DATA_DIR=./here", "./here"},
		{"no private database", closed, "PARLEY_DATABASE_URL=postgres://db/x", "./data"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Chdir(tt.cwd)
			cfg, _, err := config.Load(config.Sources{Env: []string{tt.env}})
			if err != nil {
				t.Fatal(err)
			}
			dir, because := DataDir(cfg)
			if dir != tt.want || (because != "") != (dir == config.SystemDataDir) {
				t.Errorf("%s because %q", dir, because)
			}
		})
	}
}
