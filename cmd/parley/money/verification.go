package money

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"parley/media/isolate"
	"parley/store/ledger/verify"
)

// verifyLook is how often a node asks whether the ledger is to be verified.
const verifyLook = time.Minute

// Verification has the ledger verified, each night by one of the nodes, and reports what the
// last one found, on whichever node it ran.
type Verification struct {
	db   verify.Database
	log  *slog.Logger
	last atomic.Pointer[verify.Outcome]
}

// NewVerification registers what the last verification found.
func NewVerification(db verify.Database, reg prometheus.Registerer, log *slog.Logger) *Verification {
	v := &Verification{db: db, log: log}
	opened := time.Now()
	gauge := func(name, help string, value func(*verify.Outcome) float64, before float64) {
		reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 {
			if last := v.last.Load(); last != nil {
				return value(last)
			}
			return before
		}))
	}
	gauge("parley_ledger_violations", "What the last verification of the ledger found wrong, on whichever node it ran.",
		func(last *verify.Outcome) float64 { return float64(last.Violations) }, 0)
	gauge("parley_ledger_verified_timestamp_seconds", "When the last verification of the ledger ended; before the first, when this node started.",
		func(last *verify.Outcome) float64 { return float64(last.EndedAt.Unix()) }, float64(opened.Unix()))
	return v
}

// Run looks every minute until ctx ends.
func (v *Verification) Run(ctx context.Context) error {
	return isolate.Every(ctx, verifyLook, func() {
		if err := v.Look(ctx); err != nil && ctx.Err() == nil {
			v.log.Warn("the ledger was not verified", "err", err)
		}
	})
}

// Look verifies the ledger if that is due. An error is of the database.
func (v *Verification) Look(ctx context.Context) error {
	report, err := verify.Nightly(ctx, v.db)
	if err != nil {
		return err
	}
	if report != nil {
		for _, wrong := range report.Violations {
			v.log.Error("the ledger is not in order", "violation", wrong.String())
		}
		v.log.Info("the ledger was verified", "accounts", report.Accounts, "sessions", report.Sessions,
			"transfers", report.Transfers, "violations", len(report.Violations))
	}
	last, err := verify.Last(ctx, v.db)
	if err == nil {
		v.last.Store(last)
	}
	return err
}
