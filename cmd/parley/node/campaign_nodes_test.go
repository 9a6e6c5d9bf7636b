package node

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"parley/cmd/parley/config"
	"parley/inference/enginetest"
	"parley/sip/simulated"
	"parley/sip/trunk"
	"parley/store/campaign"
	"parley/store/ledger"
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
	cfg.Trunks = []trunk.Config{{Name: "lab", Flags: trunk.NoProbe, CPS: 50, Targets: []trunk.Target{{Host: to.Addr().String(), Port: to.Port()}}}}
	if n, err = Open(t.Context(), cfg, url, "a master secret of a test, long enough", prometheus.NewRegistry(), slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	n.engines.TTS, n.engines.ASR, n.engines.LLM = enginetest.NewFakeTTS(), enginetest.NewFakeASR(), enginetest.NewFakeLLM()
	ctx, end := context.WithCancel(context.Background())
	search, stop := context.WithCancel(ctx)
	var parts sync.WaitGroup
	for _, run := range []func(context.Context) error{n.manager.Run, n.cluster.Run, n.phone.Run} {
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
	d.ok(ledger.New(a.db).ChangeAccount(t.Context(), d.who.Account, ledger.AccountChange{Concurrency: &many}))
	dialling(t, url, "b", carrier.Addr())
	now := d.node.db.Now()
	c := campaign.Campaign{Account: d.who.Account, Manner: campaign.Manner{Key: d.who.Key}}
	for i := range rows { // each rings for a second and declines
		c.Rows = append(c.Rows, campaign.CampaignRow{To: fmt.Sprintf("+1202%d0103", 300+i), From: deskNumber, Agent: d.agent, DueAt: now})
	}
	id, err := campaign.New(a.db).CreateCampaign(t.Context(), c, a.db.RateCard(), nil)
	d.ok(err)
	a.batches.Wake()
	eventually(t, "some have rung", func() bool { mu.Lock(); defer mu.Unlock(); return len(rung) >= rows/4 })
	stop()
	var got *campaign.Campaign
	eventually(t, "all have ended", func() bool {
		got, err = campaign.New(a.db).Campaign(t.Context(), d.who.Account, id)
		d.ok(err)
		time.Sleep(50 * time.Millisecond) // they need the machine more than we do
		return got.State == campaign.CampaignDone
	})
	mu.Lock()
	defer mu.Unlock()
	for i, r := range got.Rows {
		if r.Status != campaign.RowSent || r.Call == nil || r.Call.EndReason != "rejected" || rung[r.To] != 1 {
			t.Errorf("row %d is %+v, its call %+v, and it rang %d times", i, r, r.Call, rung[r.To])
		}
	}
	if len(rung) != rows {
		t.Errorf("%d numbers rang, want %d", len(rung), rows)
	}
	d.verified()
}
