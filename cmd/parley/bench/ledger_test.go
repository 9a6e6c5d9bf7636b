package bench

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// A short measurement of the books, which is refused in the database it has filled.
func TestLedger(t *testing.T) {
	goroutinesReturn(t)
	address, stop, err := startServer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	}()
	l := Ledger{Database: address, Length: 50 * time.Millisecond}
	rows, err := l.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	rates := 0
	for _, r := range rows {
		if r.Value <= 0 {
			t.Errorf("%+v", r)
		}
		if r.Unit == "/s" {
			rates++
			if r.Floor <= 0 {
				t.Errorf("no floor of %+v", r)
			}
		}
		if bar := strings.Contains(r.Group, "one node"); r.Unit == "/s" && bar != (r.Bar != nil && r.AtLeast) {
			t.Errorf("bar of %+v", r)
		}
	}
	if rates != 9 || len(rows) != 24 {
		t.Errorf("%d rates, %d rows", rates, len(rows))
	}
	if _, err := l.Run(t.Context()); !errors.Is(err, errNotEmpty) {
		t.Errorf("a full database: %v", err)
	}
}

func TestLedgerRefuses(t *testing.T) {
	if _, err := (Ledger{}).Run(t.Context()); err == nil {
		t.Error("a measurement of no length")
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("changed our mind")
	cancel(why)
	if _, err := (Ledger{Length: time.Hour}).Run(ctx); err == nil {
		t.Error("a measurement that was cancelled")
	}
}

func TestPooled(t *testing.T) {
	for _, tt := range []struct{ in, out string }{
		{"postgres://u@h/d", "postgres://u@h/d?pool_max_conns=32"},
		{"postgres://u@h/d?sslmode=disable", "postgres://u@h/d?pool_max_conns=32&sslmode=disable"},
		{"postgres://u@h/d?pool_max_conns=5", "postgres://u@h/d?pool_max_conns=5"},
		{"host=h user=u", "host=h user=u pool_max_conns=32"},
	} {
		if got := pooled(tt.in); got != tt.out {
			t.Errorf("%q: %q", tt.in, got)
		}
	}
}
