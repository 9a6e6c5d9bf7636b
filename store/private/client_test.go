package private

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestClientFitsTheServer(t *testing.T) {
	found := map[int]string{13: "thirteen", 15: "fifteen", 17: "seventeen"}
	for _, tt := range []struct {
		found  map[int]string
		server int
		want   string
		advice string
	}{
		{found, 15, "fifteen", ""},
		{found, 13, "thirteen", ""},
		{found, 16, "seventeen", ""}, // a newer one reads older servers
		{found, 18, "", "pg_dump is version 17 and the server 18: apt-get install postgresql-client-18"},
		{nil, 15, "", "pg_dump is missing: apt-get install postgresql-client-15"},
	} {
		got, _, err := pickClient("pg_dump", tt.found, tt.server)
		if got != tt.want {
			t.Errorf("%d: %q, want %q", tt.server, got, tt.want)
		}
		if tt.want == "" && (!errors.Is(err, ErrClient) || !strings.HasSuffix(err.Error(), tt.advice)) {
			t.Errorf("%d: %v", tt.server, err)
		}
	}
}

// TestClientOnThePath finds a program that says it is of a version no machine has.
func TestClientOnThePath(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "pg_restore")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho 'pg_restore (PostgreSQL) 98.1'\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	if p, v, err := Client("pg_restore", 97); p != program || v != 98 || err != nil {
		t.Errorf("found %s, %d, %v", p, v, err)
	}
	if _, _, err := Client("pg_restore", 99); !errors.Is(err, ErrClient) {
		t.Errorf("too new: %v", err)
	}
}

func TestExists(t *testing.T) {
	dir := newDir(t)
	if there, err := Exists(dir); there || err != nil {
		t.Errorf("an empty directory: %t, %v", there, err)
	}
	c := start(t, dir)
	for range 2 { // running, and not
		if there, err := Exists(dir); !there || err != nil {
			t.Errorf("a cluster: %t, %v", there, err)
		}
		c.Stop()
	}
}

// TestNewerPostgresBesideTheOld has programs of a version that no machine has: a new
// cluster is made with them, and one that is there keeps its own.
func TestNewerPostgresBesideTheOld(t *testing.T) {
	old := newDir(t)
	start(t, old).Stop()
	own, err := findPrograms(filepath.Join(old, "data"))
	if err != nil {
		t.Fatal(err)
	}
	newer := t.TempDir()
	for _, name := range []string{"postgres", "initdb"} {
		if err := os.WriteFile(filepath.Join(newer, name), []byte("#!/bin/sh\necho '"+name+" (PostgreSQL) 98.1'\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", newer+":"+os.Getenv("PATH"))
	if bin, err := findPrograms(filepath.Join(old, "data")); bin != own || err != nil {
		t.Errorf("the old cluster: %s, %v", bin, err)
	}
	if bin, err := findPrograms(filepath.Join(newDir(t), "data")); bin != newer || err != nil {
		t.Errorf("a new cluster: %s, %v", bin, err)
	}
}
