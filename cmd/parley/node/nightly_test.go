package node

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"

	"parley/billing"
	"parley/cmd/parley/money"
	"parley/store/ledger"
	"parley/store/storetest"
)

// TestVerificationIsTold: a node verifies the ledger when it is due, and its metric and its
// log tell of what is wrong.
func TestVerificationIsTold(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	n, err := openNamed(t, url, "one")
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	if !slices.ContainsFunc(n.Parts(), func(p Part) bool { return p.Name == "verification" }) {
		t.Error("it is no part of the node")
	}
	var log bytes.Buffer
	reg := prometheus.NewRegistry()
	verified := money.NewVerification(n.db, reg, slog.New(slog.NewTextHandler(&log, nil)))
	a, err := ledger.New(n.db).CreateAccount(t.Context(), "Test", n.db.RateCard())
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	_, err = conn.Exec(t.Context(), "set session_replication_role = replica; update wallets set paid_nano = paid_nano + 1")
	if err != nil {
		t.Fatal(err)
	}
	before := time.Now()
	if err := verified.Look(t.Context()); err != nil {
		t.Fatal(err)
	}
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		got[f.GetName()] = f.Metric[0].Gauge.GetValue()
	}
	if got["parley_ledger_violations"] == 0 || got["parley_ledger_verified_timestamp_seconds"] < float64(before.Add(-time.Hour).Unix()) {
		t.Errorf("the metrics are %v", got)
	}
	if text := log.String(); !strings.Contains(text, "the ledger is not in order") || !strings.Contains(text, a.ID) {
		t.Errorf("the log says %s", text)
	}
}

// TestCreditExpires: the job ends credit that has expired.
func TestCreditExpires(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	n, err := openNamed(t, url, "one")
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	now := n.db.Now()
	a, err := ledger.New(n.db).CreateAccount(storetest.At(t.Context(), now.Add(-48*time.Hour)), "Test", n.db.RateCard())
	if err != nil {
		t.Fatal(err)
	}
	pots, _, err := ledger.New(n.db).Credit(storetest.At(t.Context(), now.Add(-48*time.Hour)), ledger.Credit{Account: a.ID, Kind: ledger.Bonus, Amount: 3 * billing.USD, Key: "promo:1", ExpiresAt: now.Add(-time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- n.jobs.Run(ctx) }()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	err = n.db.Tx(t.Context(), "queue a job", func(tx pgx.Tx) error { return n.jobs.Insert(t.Context(), tx, money.ExpireCredit{}) })
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the credit ends", func() bool {
		shown, err := ledger.New(n.db).Account(t.Context(), a.ID)
		return err == nil && shown.Pots.Bonus == pots.Bonus-3*billing.USD
	})
}
