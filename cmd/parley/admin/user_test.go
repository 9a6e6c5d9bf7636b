package admin

import (
	"os"
	"strings"
	"testing"

	"parley/cmd/parley/command"
	"parley/cmd/parley/config"
	"parley/store/ledger"
	"parley/store/storetest"
)

func TestMain(m *testing.M) { os.Exit(storetest.Run(m)) }

// TestLinksLeadToTheServerThatRuns: a link has the port of the server with the same
// database, unless the settings here say where that is.
func TestLinksLeadToTheServerThatRuns(t *testing.T) {
	db := storetest.New(t)
	a := &admin{Job: &command.Job{Ctx: t.Context()}, db: db}
	want := func(base string, env ...string) {
		t.Helper()
		cfg, _, err := config.Load(config.Sources{Env: env})
		if err != nil {
			t.Fatal(err)
		}
		if got := a.baseURL(cfg); got != base {
			t.Errorf("%v: %s, want %s", env, got, base)
		}
	}
	want("http://127.0.0.1:8080")
	for _, addr := range []string{":9123", "127.0.0.1:9124"} {
		if _, _, err := ledger.New(db).RegisterNode(t.Context(), "a", addr); err != nil {
			t.Fatal(err)
		}
		_, port, _ := strings.Cut(addr, ":")
		want("http://127.0.0.1:" + port)
	}
	want("http://127.0.0.1:7000", "PARLEY_HTTP_ADDR=:7000")
	want("https://voice.example", "PARLEY_BASE_URL=https://voice.example")
	if _, _, err := ledger.New(db).RegisterNode(t.Context(), "a", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	want("http://127.0.0.1:8080")
}
