package node

import (
	"context"
	"path/filepath"

	"github.com/jackc/pgx/v5"

	"parley/api/knowledge"
	"parley/api/messages"
	"parley/api/task"
	"parley/api/topup"
	"parley/api/tts"
	"parley/api/webhook"
	"parley/billing"
	"parley/billing/payment"
	"parley/cmd/parley/afterwards"
	"parley/cmd/parley/money"
	"parley/cmd/parley/notify"
	"parley/cmd/parley/trial"
	"parley/pipeline/session"
	"parley/store"
	"parley/store/aftercall"
	"parley/store/bus"
	"parley/store/cases"
	"parley/store/history"
	"parley/store/jobs"
	"parley/store/ledger"
	"parley/store/mail"
	"parley/store/payments"
	webhookstore "parley/store/webhook"
)

// background prepares what nobody waits for: the queue of jobs, the texts that are
// spoken by it, the warnings that are sent, and the cards that are charged.
func (n *Node) background(ctx context.Context, life store.Node, database string) (err error) {
	n.jobs = jobs.New(n.log)
	n.jobs.Now, n.jobs.Hints = n.db.Now, n.db.Hints()
	spoken := func() string { return filepath.Join(n.DataDir, "tasks") }
	results, err := n.cfg.Files("tasks", spoken)
	if err != nil {
		return err
	}
	n.tasks = task.New(task.Config{
		Store: n.db, Queue: n.jobs, Node: life, Card: n.db.RateCard, Speaker: tts.New(n.engines.TTS), Log: n.log,
		Dir: spoken, Files: results, Shared: n.cfg.Storage != nil,
		Count: func(status string) { n.metrics.Tasks.WithLabelValues(status).Inc() },
	})
	if err := n.prepareRecordings(life); err != nil {
		return err
	}
	n.prepareTexts(life)
	n.prepareNumbers()
	money.HandleCredit(n.jobs, ledger.New(n.db))
	n.after = &afterwards.Work{Store: n.db, Ledger: ledger.New(n.db), Due: aftercall.New(n.db), Calls: history.New(n.db), Databases: n.tools, Log: n.log,
		Model: n.engines.Model}
	n.after.Handle(n.jobs)
	trials := &trial.Work{Cases: cases.New(n.db), Sessions: func() *session.Manager { return n.manager }, Model: n.engines.Model, Agent: n.db.Agent, Log: n.log}
	trials.Handle(n.jobs)
	n.webhooks = &notify.Webhooks{Deliveries: n.hooks, Poster: n.poster, Now: n.db.Now, Log: n.log,
		Body: func(ctx context.Context, d *webhookstore.DueDelivery) ([]byte, error) {
			return webhook.Body(ctx, n.db, d)
		}}
	n.webhooks.Handle(n.jobs)
	fetcher := n.guard.Fetcher()
	(&knowledge.Reader{Store: n.library, Log: n.log, Fetch: func(ctx context.Context, address string, most int64) (knowledge.Fetched, error) {
		body, mediaType, err := fetcher.Fetch(ctx, address, most)
		return knowledge.Fetched{Body: body, MediaType: mediaType}, err
	}}).Handle(n.jobs)
	if n.vectors != nil {
		(&knowledge.Embedder{Store: n.library, Engine: n.vectors, Log: n.log}).Handle(n.jobs)
	}
	n.warnings = &notify.Warnings{Store: n.db, Publish: func(s bus.Subject, text []byte) error { return n.bus.Publish(s, text) }, Log: n.log}
	if n.cfg.SMTPURL != "" {
		if n.warnings.Mail, err = mail.Parse(n.cfg.SMTPURL); err != nil {
			return err
		}
	}
	n.warnings.Handle(n.jobs)
	var recharges *topup.Recharges
	if n.cfg.Payments != "none" {
		n.db.LimitRecharges(billing.Money(n.cfg.RechargeMax) * billing.USD)
		recharges = &topup.Recharges{Store: n.db, Payments: payments.New(n.db), Queue: n.jobs, Provider: func() payment.Provider { return n.payments.Provider }, Log: n.log}
		recharges.Handle()
		topup.HandleLooks(n.jobs, n.desk)
	}
	if err := n.jobs.Open(ctx, database); err != nil {
		return err
	}
	n.db.UseQueue(enqueuer{n.jobs, recharges})
	return nil
}

// enqueuer puts in line what transactions of the store make due.
type enqueuer struct {
	jobs      *jobs.Queue
	recharges *topup.Recharges // nil: no payments are taken
}

// Enqueue implements store.Enqueuer.
func (e enqueuer) Enqueue(ctx context.Context, tx pgx.Tx, job store.Job, account, id string) error {
	switch job {
	case store.DeliverEvents:
		return notify.EnqueueDeliveries(ctx, tx, e.jobs)
	case store.SendWarnings:
		return notify.EnqueueWarnings(ctx, tx, e.jobs)
	case store.SummarizeCall:
		return afterwards.EnqueueSummary(ctx, tx, e.jobs, account, id)
	case store.AnalyzeCalls:
		return afterwards.EnqueueAnalyses(ctx, tx, e.jobs)
	case store.ReadDocument:
		return knowledge.Enqueue(ctx, tx, e.jobs, account, id)
	case store.SendMessages:
		return messages.Enqueue(ctx, tx, e.jobs)
	case store.EmbedDocuments:
		return knowledge.EnqueueEmbedding(ctx, tx, e.jobs)
	case store.ChargeRecharge:
		return e.recharges.Enqueue(ctx, tx, account, id)
	}
	return nil
}
