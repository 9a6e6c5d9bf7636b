package demo_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"parley/api/apitest"
	"parley/billing"
	"parley/cmd/parley/config"
	"parley/cmd/parley/demo"
	"parley/cmd/parley/node"
	"parley/store"
	"parley/store/ledger"
	"parley/store/ledger/verify"
	"parley/store/numbers"
	"parley/store/payments"
	"parley/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// site is a running node, and the key of its demonstration.
type site struct {
	*testing.T
	node   *node.Node
	server *httptest.Server
	key    string
}

func (s *site) ok(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// ask sends a request; the answer's body is JSON, or nothing.
func (s *site) ask(method, path string) (int, map[string]any) {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), method, s.server.URL+path, nil)
	s.ok(err)
	r.Header.Set("Authorization", "Bearer "+s.key)
	res, err := apitest.Client(s, apitest.Published(s)).Do(r)
	s.ok(err)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	s.ok(err)
	var out map[string]any
	if len(b) > 0 {
		s.ok(json.Unmarshal(b, &out))
	}
	return res.StatusCode, out
}

// newDemonstration is a running node with telephony that was not seeded yet.
func newDemonstration(t *testing.T, env ...string) *site {
	s := &site{T: t}
	cfg, _, err := config.Load(config.Sources{Env: append([]string{"PARLEY_SIP_ADDR=127.0.0.1:0", "PARLEY_NODE=node-0", "PARLEY_PAYMENTS=none"}, env...)})
	s.ok(err)
	n, err := node.Open(t.Context(), cfg, storetest.URL(t), "a master secret of a test, long enough", prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
	s.ok(err)
	n.DataDir = t.TempDir()
	s.ok(n.TakePayments("127.0.0.1:0", "a master secret of a test, long enough"))
	s.node, s.server = n, httptest.NewServer(n.Handler())
	ctx, stop := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	for _, p := range n.Parts() {
		if !strings.Contains(p.Name, "espeak") && !strings.Contains(p.Name, "pocketsphinx") { // nobody speaks
			wg.Go(func() { _ = p.Run(ctx) })
		}
	}
	t.Cleanup(func() { stop(); wg.Wait(); s.server.Close(); _ = n.Close() })
	return s
}

// seed seeds it, and has its key used.
func (s *site) seed() demo.Account {
	s.Helper()
	d, err := s.node.Seed(s.Context(), s.node.DataDir)
	s.ok(err)
	s.key = d.Key
	return d
}

// list asks for a list of things.
func (s *site) list(path, field string) (all []map[string]any) {
	s.Helper()
	status, out := s.ask("GET", path)
	list, _ := out[field].([]any)
	if status != http.StatusOK {
		s.Fatalf("%s: %d %v", path, status, out)
	}
	for _, one := range list {
		all = append(all, one.(map[string]any))
	}
	return all
}

// wantDemonstration holds what the account shows to what the demonstration has.
func (s *site) wantDemonstration() {
	s.Helper()
	if numbers := s.list("/callcenter/numbers", "numbers"); len(numbers) != 2 {
		s.Errorf("the numbers are %v", numbers)
	}
	if agents := s.list("/v1/agents", "data"); len(agents) != 2 {
		s.Errorf("the agents are %v", agents)
	}
	calls := s.list("/v1/calls", "data")
	if len(calls) != 3 {
		s.Fatalf("%d calls", len(calls))
	}
	for _, c := range calls {
		s.wantRecordedCall(c["id"].(string))
	}
	batches := s.list("/callcenter/bulk-dial", "batches")
	if len(batches) != 1 || batches[0]["state"] != "paused" || batches[0]["counts"].(map[string]any)["sent"] != 2.0 || batches[0]["counts"].(map[string]any)["pending"] != 2.0 {
		s.Fatalf("the batches are %v", batches)
	}
	if batches[0]["created_at"].(string) > calls[1]["created_at"].(string) {
		s.Errorf("the batch was queued after its calls: %v", batches[0])
	}
	for i, row := range s.list("/callcenter/bulk-dial/"+batches[0]["id"].(string), "rows") {
		if answered := row["answered_at"] != nil && row["summary"] != nil && row["call_id"] != nil; answered != (i < 2) {
			s.Errorf("row %d is %v", i, row)
		}
	}
	report, err := verify.Whole(s.Context(), s.node.Store())
	s.ok(err)
	if !report.OK() {
		s.Errorf("the ledger: %+v", report.Violations)
	}
}

// wantRecordedCall looks at a call, which has words of both sides, where the time went, and
// two voices to hear.
func (s *site) wantRecordedCall(id string) {
	s.Helper()
	_, c := s.ask("GET", "/v1/calls/"+id)
	said := map[any]int{}
	for _, l := range c["transcript"].([]any) {
		said[l.(map[string]any)["role"]]++
	}
	turns, _ := c["turns"].([]any)
	began, err1 := time.Parse(time.RFC3339, c["created_at"].(string))
	ended, err2 := time.Parse(time.RFC3339, c["ended_at"].(string))
	if c["demonstration"] != true || said["user"] < 2 || said["agent"] < 2 || len(turns) < 2 || c["cost"].(float64) <= 0 || c["duration"].(float64) < 10 ||
		err1 != nil || err2 != nil || !ended.After(began) || ended.After(time.Now()) || time.Since(began) > time.Hour {
		s.Errorf("%v", c)
	}
	_, wave := s.ask("GET", "/v1/calls/"+id+"/recording/peaks")
	for _, side := range []string{"caller", "agent"} {
		loudest := 0.0
		for _, v := range wave[side].([]any) {
			loudest = max(loudest, v.(float64))
		}
		if loudest < 20 {
			s.Errorf("the %s is not to be seen: %v", side, loudest)
		}
	}
	if status, sip := s.ask("GET", "/v1/calls/"+id+"/sip"); status != http.StatusOK || len(sip["data"].([]any)) < 4 {
		s.Errorf("the signalling: %d %v", status, sip)
	}
	r, err := http.NewRequestWithContext(s.Context(), http.MethodGet, s.server.URL+"/v1/calls/"+id+"/recording", nil)
	s.ok(err)
	r.Header.Set("Authorization", "Bearer "+s.key)
	res, err := http.DefaultClient.Do(r)
	s.ok(err)
	defer res.Body.Close()
	audio, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "audio/ogg" || !strings.HasPrefix(string(audio), "OggS") || len(audio) < 20_000 {
		s.Errorf("the audio: %d %s, %d bytes, %v", res.StatusCode, res.Header.Get("Content-Type"), len(audio), err)
	}
}

// TestDemonstration seeds a server as its first start does, which breaks off anywhere at
// first, and starts it again. The balance is what README says: the welcome, the top-up, and
// what the calls cost.
func TestDemonstration(t *testing.T) {
	t.Parallel()
	s := newDemonstration(t)
	namesake, err := ledger.New(s.node.Store()).CreateAccount(t.Context(), "Demonstration", s.node.Store().RateCard())
	s.ok(err)
	for patience := time.Millisecond; ; patience *= 2 {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		_, err := s.node.Seed(ctx, s.node.DataDir)
		cancel()
		if err == nil {
			break
		}
	}
	first := s.seed()
	if first.ID == namesake.ID {
		t.Error("the demonstration is in an account of somebody else's that has its name")
	}
	s.wantDemonstration()
	_, balance := s.ask("GET", "/v1/balance")
	left := 25.0
	for _, c := range s.list("/v1/calls", "data") {
		left -= c["cost"].(float64)
	}
	if got := balance["balance"].(float64); got-left > 1e-6 || left-got > 1e-6 || got < 24 {
		t.Errorf("the balance is %v, and should be %v", got, left)
	}
	id := s.list("/v1/calls", "data")[0]["id"].(string)
	if status, _ := s.ask("DELETE", "/v1/calls/"+id+"/recording"); status >= 300 {
		t.Errorf("a recording is not deleted: %d", status)
	}
	if again := s.seed(); again != first {
		t.Errorf("the second start has %+v", again)
	}
	if status, _ := s.ask("GET", "/v1/calls/"+id+"/recording"); status != http.StatusGone {
		t.Errorf("a recording that was deleted comes back: %d", status)
	}
	if calls, batches := s.list("/v1/calls", "data"), s.list("/callcenter/bulk-dial", "batches"); len(calls) != 3 || len(batches) != 1 {
		t.Errorf("the second start makes %d calls, %d batches", len(calls), len(batches))
	}
}

// TestOlderDemonstration: one of a version that had only an agent and a number is completed;
// while its balance is used up it goes without the calls.
func TestOlderDemonstration(t *testing.T) {
	t.Parallel()
	s := newDemonstration(t)
	n := s.node
	account, err := ledger.New(n.Store()).DemonstrationAccount(t.Context(), "Demonstration", n.Store().RateCard())
	s.ok(err)
	d := demo.Account{ID: account}
	credit := func(kind ledger.TransferKind, amount billing.Money, key string) {
		_, _, err := ledger.New(n.Store()).Credit(t.Context(), ledger.Credit{Account: d.ID, Kind: kind, Amount: amount, Key: key, Source: "sim"})
		s.ok(err)
	}
	credit(ledger.Topup, 20*billing.USD, "demo:topup")
	credit(ledger.Adjustment, -25*billing.USD, "spent")
	a, err := n.Store().CreateAgent(t.Context(), d.ID, demo.Lola)
	s.ok(err)
	_, err = numbers.New(n.Store()).Import(t.Context(), d.ID, "+34911234567", a.ID)
	s.ok(err)
	if seeded := s.seed(); seeded.Agent != a.ID || seeded.ID != d.ID {
		t.Errorf("it is another: %+v", seeded)
	}
	if calls := s.list("/v1/calls", "data"); len(calls) != 0 {
		t.Errorf("without balance there are calls: %v", calls)
	}
	if _, balance := s.ask("GET", "/v1/balance"); balance["balance"] != 0.0 {
		t.Errorf("its money is added again: %v", balance)
	}
	credit(ledger.Adjustment, 20*billing.USD, "again")
	s.seed()
	s.wantDemonstration()
}

// TestDemonstrationTopUp: the balance that a demonstration begins with is listed as a top-up,
// once, on its page too. No payment is behind it, so nothing of it goes back to a card.
func TestDemonstrationTopUp(t *testing.T) {
	t.Parallel()
	s := newDemonstration(t, "PARLEY_PAYMENTS=simulated")
	s.seed()
	d := s.seed()
	all := s.list("/v1/topups", "data")
	if len(all) != 1 || all[0]["demonstration"] != true || all[0]["state"] != "succeeded" || all[0]["paid"] != 20.0 || all[0]["settled_at"] == nil || all[0]["url"] != "" {
		t.Fatalf("the top-ups are %v", all)
	}
	db := s.node.Store()
	_, err := payments.New(db).RequestRefund(t.Context(), d.ID, all[0]["id"].(string), billing.USD)
	if !errors.Is(err, store.ErrInvalid) || !strings.Contains(err.Error(), "no payment behind it") {
		t.Errorf("a refund: %v", err)
	}
	if asked, err := payments.New(db).AskedRefunds(t.Context(), "demonstration"); err != nil || len(asked) != 0 {
		t.Errorf("refunds are asked for: %v, %v", asked, err)
	}
	if status, recharge := s.ask("GET", "/v1/auto-recharge"); status != http.StatusOK || recharge["card_saved"] != false {
		t.Errorf("it counts as a card: %d %v", status, recharge)
	}
	s.wantDemonstration()
}

// TestDemonstrationWithoutCarrier: where there is no simulated carrier nobody was called.
func TestDemonstrationWithoutCarrier(t *testing.T) {
	t.Parallel()
	s := newDemonstration(t, "PARLEY_CARRIER=none")
	if d := s.seed(); d.Second != "" {
		t.Errorf("there is a second number: %+v", d)
	}
	if calls := s.list("/v1/calls", "data"); len(calls) != 1 || calls[0]["direction"] != "inbound" {
		t.Errorf("the calls are %v", calls)
	}
	if _, err := os.Stat("recordings"); err == nil {
		t.Error("recordings are where the program was started")
	}
}
