package node

import (
	"context"
	"path/filepath"

	"github.com/jackc/pgx/v5"

	"parley/api/task"
	"parley/api/topup"
	"parley/api/tts"
	"parley/billing"
	"parley/billing/payment"
	"parley/store"
	"parley/store/jobs"
)

// background prepares what nobody waits for: the queue of jobs, the texts that are
// spoken by it, the warnings that are told, and the cards that are charged.
func (n *Node) background(ctx context.Context, life store.Node, databaseURL string) error {
	n.jobs = jobs.New(n.log)
	n.jobs.Now = n.db.Now
	n.tasks = task.New(task.Config{
		Store: n.db, Queue: n.jobs, Node: life, Card: n.db.RateCard, Speaker: tts.New(n.engines.TTS), Log: n.log,
		Dir:   func() string { return filepath.Join(n.DataDir, "tasks") },
		Count: func(status string) { n.metrics.tasks.WithLabelValues(status).Inc() },
	})
	n.prepareRecordings(life)
	n.prepareNumbers()
	n.handleSummaries()
	n.handleAnalyses()
	n.handleCRMNotes()
	n.handleCredit()
	n.handleWebhooks()
	if err := n.handleWarnings(); err != nil {
		return err
	}
	recharges := &topup.Recharges{Store: n.db, Queue: n.jobs, Provider: func() payment.Provider { return n.till.provider }, Log: n.log}
	if n.cfg.Payments != "none" {
		recharges.Handle()
		topup.HandleLooks(n.jobs, n.desk)
	}
	_, forJobs := shareConnections(databaseURL, n.cfg.DatabaseConns)
	if err := n.jobs.Open(ctx, forJobs); err != nil {
		return err
	}
	n.db.UseQueue(enqueuer{n.jobs, recharges, n.cfg.Payments != "none"})
	if n.cfg.Payments != "none" {
		n.db.LimitRecharges(billing.Money(n.cfg.RechargeMax) * billing.USD)
	}
	return nil
}

// enqueuer puts in line what transactions of the store make due.
type enqueuer struct {
	jobs      *jobs.Queue
	recharges *topup.Recharges
	payments  bool
}

// Enqueue implements store.Enqueuer.
func (e enqueuer) Enqueue(ctx context.Context, tx pgx.Tx, job store.Job, account, id string) error {
	switch job {
	case store.DeliverEvents:
		return e.jobs.Insert(ctx, tx, webhooks{})
	case store.SendWarnings:
		if err := e.jobs.Insert(ctx, tx, publishWarnings{}); err != nil {
			return err
		}
		return e.jobs.Insert(ctx, tx, mailWarnings{})
	case store.SummarizeCall:
		return e.jobs.Insert(ctx, tx, summaryArgs{account, id})
	case store.AnalyzeCalls:
		return e.jobs.Insert(ctx, tx, analyses{})
	case store.ChargeRecharge:
		if e.payments {
			return e.recharges.Enqueue(ctx, tx, account, id)
		}
	}
	return nil
}
