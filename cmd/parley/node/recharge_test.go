package node

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"parley/billing"
	"parley/cmd/parley/config"
	"parley/inference/enginetest"
	"parley/store/ledger"
	"parley/store/ledger/verify"
	"parley/store/people"
	"parley/store/storetest"
)

// newShop is a node that takes simulated payments and runs what that needs, and an
// account with its welcome credit.
func newShop(t *testing.T) *site {
	t.Helper()
	s := &site{T: t}
	cfg, _, err := config.Load(config.Sources{Env: []string{"PARLEY_SIP_ADDR=off", "PARLEY_NODE=node-0", "PARLEY_PAYMENTS=simulated"}})
	s.ok(err)
	const secret = "a master secret of a test, long enough"
	n, err := Open(t.Context(), cfg, storetest.URL(t), secret, prometheus.NewRegistry(),
		slog.New(slog.NewTextHandler(&s.log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	s.ok(err)
	n.DataDir = t.TempDir()
	engine := enginetest.NewFakeTTS()
	engine.FirstAudio = 0
	n.engines.TTS = engine
	server := httptest.NewUnstartedServer(nil)
	s.ok(n.TakePayments(server.Listener.Addr().String(), secret))
	server.Config.Handler = n.Handler()
	server.Start()
	s.nodes[0], s.servers[0] = n, server

	ctx, stop := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	for _, run := range []func(context.Context) error{n.manager.Run, n.payments.Simulated.Run, n.jobs.Run} {
		wg.Go(func() { _ = run(ctx) })
	}
	t.Cleanup(func() {
		stop()
		wg.Wait()
		server.Close()
		_ = n.Close()
	})
	a, err := ledger.New(n.db).CreateAccount(t.Context(), "A", n.db.RateCard())
	s.ok(err)
	_, key, err := people.New(n.db).FirstKey(t.Context(), a.ID, "first", "")
	s.ok(err)
	s.account, s.key = a.ID, key
	return s
}

// eventually asks until what comes is as it should be.
func (s *site) eventually(path string, good func(map[string]any) bool) map[string]any {
	s.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		status, out := s.ask("GET", path, s.key, "")
		if status == 200 && good(out) {
			return out
		}
		if time.Now().After(end) {
			s.Fatalf("%s: %d %v\n%s", path, status, out, s.log.String())
		}
	}
}

// TestRecharge: a card that has paid once is charged when the balance has been used up
// to the threshold, without anybody doing anything about it.
func TestRecharge(t *testing.T) {
	s := newShop(t)
	setting := `{"enabled": true, "threshold": 14.99, "amount": 20, "monthly_cap": 39}`
	if status, out := s.ask("PUT", "/v1/auto-recharge", s.key, setting); status != 402 || out["code"] != "billing.topup_required" {
		t.Fatalf("without a card: %d %v", status, out)
	}
	_, top := s.ask("POST", "/v1/topups", s.key, `{"amount": 10}`)
	page, _ := top["url"].(string)
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.PostForm(page, url.Values{"action": {"pay"}})
	s.ok(err)
	res.Body.Close()
	s.eventually("/v1/balance", func(b map[string]any) bool { return b["balance"] == 15.0 })

	if status, out := s.ask("PUT", "/v1/auto-recharge", s.key, setting); status != 200 || out["enabled"] != true || out["in_progress"] != nil {
		t.Fatalf("%d %v", status, out)
	}
	// 2,000 characters cost three cents.
	speak := func() {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), "POST", s.servers[0].URL+"/tts/synthesize",
			strings.NewReader(`{"text": "`+strings.Repeat("n", 1999)+`.", "voice": "F1", "lang": "es"}`))
		s.ok(err)
		r.Header.Set("Authorization", "Bearer "+s.key)
		r.Header.Set("Content-Type", "application/json")
		res, err := client.Do(r)
		s.ok(err)
		res.Body.Close()
		if res.StatusCode != 200 {
			t.Fatalf("speech: %s\n%s", res.Status, s.log.String())
		}
	}
	speak()
	s.eventually("/v1/balance", func(b map[string]any) bool { return b["balance"] == 34.97 })
	now := s.eventually("/v1/auto-recharge", func(r map[string]any) bool { return r["in_progress"] == nil })
	if now["charged_this_month"] != 20.0 || now["last_failure"] != nil || now["card_saved"] != true {
		t.Errorf("%v", now)
	}
	_, list := s.ask("GET", "/v1/topups?limit=1", s.key, "")
	rows, _ := list["data"].([]any)
	if len(rows) != 1 {
		t.Fatalf("%v", list)
	}
	if row, _ := rows[0].(map[string]any); row["automatic"] != true || row["state"] != "succeeded" || row["paid"] != 20.0 {
		t.Errorf("%v", row)
	}
	// A second one would pass the cap.
	if status, _ := s.ask("PATCH", "/v1/auto-recharge", s.key, `{"threshold": 34.96}`); status != 200 {
		t.Errorf("%d", status)
	}
	speak()
	speak()
	if status, out := s.ask("GET", "/v1/auto-recharge", s.key, ""); status != 200 || out["in_progress"] != nil {
		t.Errorf("%d %v", status, out)
	}
	report, err := verify.Whole(t.Context(), s.nodes[0].db)
	s.ok(err)
	for _, v := range report.Violations {
		t.Error(v)
	}
	a, err := ledger.New(s.nodes[0].db).Account(t.Context(), s.account)
	s.ok(err)
	if want := 35*billing.USD - 9*billing.Cent; a.Balance() != want {
		t.Errorf("%v are left, want %v", a.Balance(), want)
	}
}
