package node

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"parley/billing"
	"parley/cmd/parley/engine"
	"parley/media"
	"parley/pipeline/session"
	"parley/store/ledger"
)

// The program is busy when it has used more than it may for five seconds, and not when
// it has done so for a moment.
func TestProcessorIsBusy(t *testing.T) {
	l := &load{limit: 0.9, cores: 2}
	now, used := time.Unix(0, 0), time.Duration(0)
	for i, s := range []struct {
		cores float64 // in use for the next second
		busy  bool
	}{
		{0, false}, {2, false}, {2, false}, {2, false}, {2, false}, {2, true}, // of five seconds
		{0.5, false}, {2, false}, {2, false}, {2, false}, {2, false}, {1.9, true},
		{1.75, true}, {1.75, true}, {1.75, true}, {1.75, false}, // 1.8 of two is what it may
	} {
		now, used = now.Add(time.Second), used+time.Duration(s.cores*float64(time.Second))
		l.look(now, used, 0)
		if l.Busy() != s.busy {
			t.Errorf("after %d s: busy %v", i, l.Busy())
		}
	}
}

// Workers that stay behind refuse calls, and those that catch up take them again.
func TestWorkersAreBehind(t *testing.T) {
	l := &load{limit: 0.9, cores: 2}
	now := time.Unix(0, 0)
	for i, s := range []struct {
		lag  time.Duration
		busy bool
	}{
		{0, false}, {time.Second, false}, {0, false}, // a moment
		{300 * time.Millisecond, false}, {2 * time.Second, true}, {time.Second, true}, {5 * time.Second, true},
		{250 * time.Millisecond, false},
	} {
		now = now.Add(time.Second)
		l.look(now, 0, s.lag)
		if l.Busy() != s.busy {
			t.Errorf("after %d s: busy %v", i, l.Busy())
		}
	}
}

// TestAnEngineThatLagsRefusesCalls: a node whose engine worker stays behind takes no new call,
// and takes calls again when the worker has caught up.
func TestAnEngineThatLagsRefusesCalls(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.node.pressure.limit = 1000 // what other programs of the machine do is no matter
	var lag atomic.Int64
	d.node.engines.Workers = append(d.node.engines.Workers, engine.Worker{Name: "slow", Lag: func() time.Duration { return time.Duration(lag.Load()) }})
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- d.node.pressure.run(ctx) }()
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
	lag.Store(int64(2 * maxLag))
	eventually(t, "a call is refused", func() bool { return errors.Is(admitted(), session.ErrFull) })
	lag.Store(0)
	eventually(t, "a call is taken", func() bool { return admitted() == nil })
}

// What is measured is what the program does.
func TestProcessorTime(t *testing.T) {
	before := processorTime()
	for n := 0; processorTime() == before; n++ {
		if n > 1<<30 {
			t.Fatal("no work takes any time")
		}
	}
}
