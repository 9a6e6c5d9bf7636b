package node

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"parley/store/ledger"
)

// verifyLook is how often a node asks whether the ledger is to be verified.
const verifyLook = time.Minute

// verification has the ledger verified, each night by one of the nodes, and knows what
// was found last, by whichever.
type verification struct {
	node   *Node
	opened time.Time
	last   atomic.Pointer[ledger.Verification]
}

// run looks until ctx ends. A failure is of the database, which others tell of.
func (v *verification) run(ctx context.Context) error {
	tick := time.NewTicker(verifyLook)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := v.look(ctx); err != nil && ctx.Err() == nil {
			v.node.log.Warn("the ledger was not verified", "err", err)
		}
	}
}

func (v *verification) look(ctx context.Context) error {
	report, err := ledger.New(v.node.db).VerifyNightly(ctx)
	if err != nil {
		return err
	}
	if report != nil {
		for _, wrong := range report.Violations {
			v.node.log.Error("the ledger is not in order", "violation", wrong.String())
		}
		v.node.log.Info("the ledger was verified", "accounts", report.Accounts, "sessions", report.Sessions,
			"transfers", report.Transfers, "violations", len(report.Violations))
	}
	last, err := ledger.New(v.node.db).LastVerification(ctx)
	if err == nil {
		v.last.Store(last)
	}
	return err
}

func (v *verification) open(n *Node, reg prometheus.Registerer) {
	v.node, v.opened = n, time.Now()
	reg.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "parley_ledger_violations",
			Help: "What the last verification of the ledger found wrong, on whichever node it ran."}, func() float64 {
			if last := v.last.Load(); last != nil {
				return float64(last.Violations)
			}
			return 0
		}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "parley_ledger_verified_timestamp_seconds",
			Help: "When the last verification of the ledger ended; before the first, when this node started."}, func() float64 {
			if last := v.last.Load(); last != nil {
				return float64(last.EndedAt.Unix())
			}
			return float64(v.opened.Unix())
		}))
}
