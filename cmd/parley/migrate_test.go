package main

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"parley/cmd/parley/command"
	"parley/store/private"
)

// A command in a wrong directory leaves nothing there, and says so.
func TestCommandsCreateNoDatabase(t *testing.T) {
	dir := newDataDir(t)
	for _, args := range [][]string{{"admin", "account", "list"}, {"admin", "account", "create", "--name", "Lola"}, {"admin", "ledger", "verify"}, {"migrate"},
		{"replay", "ses_0"}, {"backup", filepath.Join(filepath.Dir(dir), "b")}} {
		code, said := runToEnd(t, parley(dir, args...))
		if code != command.ExitFailed || !strings.HasPrefix(said, "parley: ") || strings.Count(said, "\n") != 1 ||
			!strings.Contains(said, dir+" has no database") || !strings.Contains(said, "parley serve") || !strings.Contains(said, "PARLEY_DATA_DIR") {
			t.Errorf("%v: exit status %d: %s", args, code, said)
		}
	}
	if found, err := os.ReadDir(filepath.Dir(dir)); err != nil || len(found) > 0 {
		t.Errorf("left behind: %v, %v", found, err)
	}
}

// Commands work on the schema that they know, and change none; migrate makes it.
func TestCommandsLeaveTheSchemaAlone(t *testing.T) {
	dir := newDataDir(t)
	s := serve(t, dir)
	address, err := private.Locate(private.Dir(dir))
	if err != nil {
		t.Fatal(err)
	}
	sql := func(address, text string) {
		t.Helper()
		c, err := pgx.Connect(t.Context(), address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close(context.WithoutCancel(t.Context()))
		if _, err := c.Exec(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	sql(address, "create database empty")
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/empty"
	empty := u.String()
	for i, tt := range []struct {
		change string // before the command
		args   string
		code   int
		want   string
	}{
		{"", "admin account list", command.ExitFailed, "parley: the database has no accounts yet: parley migrate prepares it"},
		{"", "migrate", command.ExitDone, "it had 0"},
		{"", "admin account list", command.ExitDone, ""},
		{"update goose_db_version set version_id = 90000 + version_id", "admin account list", command.ExitFailed, "use the program of a newer server"},
		{"", "migrate", command.ExitFailed, "use the program of a newer server"},
		{"update goose_db_version set version_id = version_id - 90000; delete from goose_db_version where version_id > 1", "admin account list", command.ExitFailed, "parley migrate brings it up to date"},
		{"", "admin account list", command.ExitFailed, "has schema 1 and"}, // still
	} {
		if tt.change != "" {
			sql(empty, tt.change)
		}
		cmd := parley(filepath.Join(filepath.Dir(dir), "none"), strings.Fields(tt.args)...)
		cmd.Env = append(cmd.Env, "PARLEY_DATABASE_URL="+empty)
		out, err := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != tt.code || !strings.Contains(string(out), tt.want) {
			t.Errorf("%d %s: exit status %d: %v: %s", i, tt.args, code, err, out)
		}
	}
	if code, said := runToEnd(t, parley(dir, "admin", "account", "list")); code != command.ExitDone {
		t.Errorf("beside its server: exit status %d: %s", code, said)
	}
	s.signal(syscall.SIGTERM)
	s.end()
}

// What the service account cannot reach is said before anything is made there.
func TestServeWhereTheServiceAccountCannotGo(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root runs the database under another account")
	}
	closed := t.TempDir()
	if err := os.Chmod(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	code, said := runToEnd(t, parley(filepath.Join(closed, "data"), "serve"))
	if last := lastLine(said); code != command.ExitFailed || !strings.Contains(last, "may not enter "+closed) || !strings.Contains(last, "PARLEY_DATA_DIR=/var/lib/parley parley serve") {
		t.Errorf("exit status %d: %s", code, said)
	}
	if found, err := os.ReadDir(closed); err != nil || len(found) > 0 {
		t.Errorf("left behind: %v, %v", found, err)
	}
}
