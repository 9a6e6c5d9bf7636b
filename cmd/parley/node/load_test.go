package node

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"parley/billing"
	"parley/cmd/parley/config"
	"parley/cmd/parley/engine"
	"parley/media"
	"parley/pipeline/session"
	"parley/store/ledger"
	"parley/store/storetest"
)

// TestAnEngineThatLagsRefusesCalls: a node whose engine worker stays behind takes no new call,
// and takes calls again when the worker has caught up.
func TestAnEngineThatLagsRefusesCalls(t *testing.T) {
	t.Parallel()
	d := deskWith(t, storetest.URL(t), func(cfg *config.Config) { cfg.MaxCPU = 100_000 }) // what other programs of the machine do is no matter
	var lag atomic.Int64
	d.node.engines.Workers = append(d.node.engines.Workers, engine.Worker{Name: "slow", Lag: func() time.Duration { return time.Duration(lag.Load()) }})
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- d.node.pressure.Run(ctx) }()
	defer func() { stop(); <-done }()
	admitted := func() error {
		s, err := d.node.manager.Admit(t.Context(), session.Admission{Start: ledger.Start{Account: d.who.Account, From: "+34600123456", To: deskNumber,
			Terms: billing.Terms{Kind: billing.Inbound, Country: "ES"}}})
		if err == nil {
			s.End(media.Ended{Reason: media.Failed, Detail: "answer"})
		}
		return err
	}
	d.ok(admitted())
	lag.Store(int64(time.Second))
	eventually(t, "a call is refused", func() bool { return errors.Is(admitted(), session.ErrFull) })
	lag.Store(0)
	eventually(t, "a call is taken", func() bool { return admitted() == nil })
}
