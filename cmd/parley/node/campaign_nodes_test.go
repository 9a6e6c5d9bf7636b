package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"parley/api/callcenter"
	"parley/billing"
	"parley/cmd/parley/config"
	"parley/inference"
	"parley/inference/enginetest"
	"parley/sip/simulated"
	"parley/sip/trunk"
	"parley/store"
	"parley/store/history"
	"parley/store/storetest"
)

// dialling is a node that dials through a trunk; stop ends its search for rows, and its
// calls go on.
func dialling(t *testing.T, url, name string, to netip.AddrPort) (n *Node, stop func()) {
	t.Helper()
	cfg, _, err := config.Load(config.Sources{Env: []string{"PARLEY_NODE=" + name, "PARLEY_SIP_ADDR=127.0.0.1:0", "PARLEY_PAYMENTS=none"}})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Carrier = "sip"
	cfg.Trunks = []trunk.Config{{Name: "lab", NoProbe: true, CPS: 50, Targets: []trunk.Target{{Host: to.Addr().String(), Port: to.Port()}}}}
	if n, err = Open(t.Context(), cfg, url, "a master secret of a test, long enough", prometheus.NewRegistry(), slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	n.engines.TTS, n.engines.ASR, n.engines.LLM = enginetest.NewFakeTTS(), enginetest.NewFakeASR(), enginetest.NewFakeLLM()
	ctx, end := context.WithCancel(context.Background())
	search, stop := context.WithCancel(ctx)
	var parts sync.WaitGroup
	for _, run := range []func(context.Context) error{n.manager.Run, n.runBus, n.phone.Run} {
		parts.Go(func() {
			if err := run(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	parts.Go(func() {
		if err := n.batches.Run(search); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		over, cancel := context.WithCancel(context.Background())
		cancel()
		stop()
		if err := n.Drain(over); err != nil {
			t.Error(err)
		}
		end()
		parts.Wait()
		_ = n.Close()
	})
	return n, stop
}

// TestTwoNodesDialOneBatch: no number rings twice, and none is forgotten when one of
// them stops halfway.
func TestTwoNodesDialOneBatch(t *testing.T) {
	t.Parallel()
	const rows = 30
	carrier, err := simulated.NewCarrier(simulated.CarrierConfig{Listen: netip.MustParseAddrPort("127.0.0.1:0")})
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	rung := map[string]int{}
	carrier.Count(func(called string) { mu.Lock(); rung[called]++; mu.Unlock() })
	ctx, end := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- carrier.Run(ctx) }()
	t.Cleanup(func() {
		end()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	url := storetest.URL(t)
	a, stop := dialling(t, url, "a", carrier.Addr())
	d := &desk{T: t, node: a}
	d.customer()
	many := 13
	d.ok(a.db.ChangeAccount(t.Context(), d.who.Account, store.AccountChange{Concurrency: &many}, time.Now()))
	dialling(t, url, "b", carrier.Addr())
	now := d.node.db.Now()
	c := store.Campaign{Account: d.who.Account, Manner: store.Manner{Key: d.who.Key}}
	for i := range rows { // each rings for a second and declines
		c.Rows = append(c.Rows, store.CampaignRow{To: fmt.Sprintf("+1202%d0103", 300+i), From: deskNumber, Agent: d.agent, DueAt: now})
	}
	id, err := a.db.CreateCampaign(t.Context(), c, a.RateCard(), nil, now)
	d.ok(err)
	a.batches.Wake()
	eventually(t, "some have rung", func() bool { mu.Lock(); defer mu.Unlock(); return len(rung) >= rows/4 })
	stop()
	var got *store.Campaign
	eventually(t, "all have ended", func() bool {
		got, err = a.db.Campaign(t.Context(), d.who.Account, id)
		d.ok(err)
		time.Sleep(50 * time.Millisecond) // they need the machine more than we do
		return got.State == store.CampaignDone
	})
	mu.Lock()
	defer mu.Unlock()
	for i, r := range got.Rows {
		if r.Status != store.RowSent || r.Call == nil || r.Call.EndReason != "rejected" || rung[r.To] != 1 {
			t.Errorf("row %d is %+v, its call %+v, and it rang %d times", i, r, r.Call, rung[r.To])
		}
	}
	if len(rung) != rows {
		t.Errorf("%d numbers rang, want %d", len(rung), rows)
	}
	d.verified()
}

// TestSummaryFailsAlone: a model that fails leaves the row as it is; later the summary
// is made, once, and nobody who cannot pay gets one.
func TestSummaryFailsAlone(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	llm := enginetest.NewFakeLLM()
	llm.Answer = func(n int, r inference.Request) []enginetest.Step {
		switch n {
		case 0:
			return []enginetest.Step{{Err: errors.New("away")}}
		case 1:
			return []enginetest.Step{{Text: " \n"}}
		}
		return []enginetest.Step{{Text: "They agreed."}}
	}
	d.node.engines.LLM = llm
	now := d.node.db.Now()
	c := store.Campaign{Account: d.who.Account, Manner: store.Manner{Key: d.who.Key}, Rows: []store.CampaignRow{
		{To: "+12025550100", From: deskNumber, Agent: d.agent, DueAt: now}}}
	id, err := d.node.db.CreateCampaign(t.Context(), c, d.node.RateCard(), nil, now)
	d.ok(err)
	claimed := d.node.batches.due(t.Context(), now)
	s, err := d.node.db.StartSession(t.Context(), store.Start{Node: d.node.life, Account: d.who.Account, Card: d.node.RateCard(), Agent: d.agent,
		Terms: billing.Terms{Kind: billing.Outbound, Country: "US"}, To: "+12025550100", Row: &claimed[0][0]}, now)
	d.ok(err)
	d.ok(history.New(d.node.db).SaveConversation(t.Context(), d.who.Account, s.ID, history.Conversation{Transcript: []history.TranscriptLine{{Role: "user", Text: "Yes."}}}))
	_, err = d.node.db.CloseSession(t.Context(), s, store.Closing{Reason: "user_hangup", StartedAt: now, Usage: billing.Usage{billing.LineTime: 1000}}, now)
	d.ok(err)
	args := summaryArgs{d.who.Account, s.ID}
	for range 2 {
		if err := d.node.summarize(t.Context(), args); err == nil {
			t.Error("a model that fails is not asked again")
		}
	}
	row := func() store.CampaignRow {
		got, err := d.node.db.Campaign(t.Context(), d.who.Account, id)
		d.ok(err)
		return got.Rows[0]
	}
	if r := row(); r.Status != store.RowSent || r.Summary != nil {
		t.Errorf("without a summary the row is %+v", r)
	}
	before := row().Call.Cost
	for range 3 { // as jobs are after a crash
		d.ok(d.node.summarize(t.Context(), args))
	}
	r := row()
	once := r.Call.Cost - before
	tariff, err := d.node.RateCard().Tariff(billing.Terms{Kind: billing.Outbound, Country: "US"})
	d.ok(err)
	used := llm.Calls()[2]
	price, err := tariff.Price(billing.Usage{billing.SummaryIn: int64(inference.CountTokens(used.Request.Characters())), billing.SummaryOut: int64(inference.CountTokens(len("They agreed.")))})
	d.ok(err)
	if r.Summary == nil || *r.Summary != "They agreed." || once != price.Total() || once == 0 {
		t.Errorf("the summary of %+v costs %s, want %s", r, once, price.Total())
	}
	asked := len(llm.Calls())
	d.ok(d.node.db.OpenDispute(t.Context(), d.who.Account, "pi_1", now))
	d.ok(d.node.summarize(t.Context(), args))
	if len(llm.Calls()) != asked {
		t.Error("a model was asked that nobody pays for")
	}
	d.verified()
}

var _ callcenter.Batches = (*batches)(nil)
