package session_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"parley/billing"
	"parley/inference"
	"parley/media"
	"parley/media/isolate"
	"parley/pipeline/agent"
	"parley/pipeline/session"
	"parley/pipeline/session/sessiontest"
	"parley/store"
	"parley/store/ledger"
)

// Work is reported while it goes on, is no call, and ends as it ended.
func TestWork(t *testing.T) {
	for _, tt := range []struct {
		err            error
		reason, detail string
	}{
		{nil, "completed", ""},
		{context.Canceled, "user_hangup", ""},
		{errors.New("fault"), "failed", "engine"},
		{isolate.Internal, "failed", "internal"},
	} {
		synctest.Test(t, func(t *testing.T) {
			o := (&sessiontest.FakeLedger{}).Open(t, 1)
			o.Enter(web)
			w, err := o.Work(t.Context(), session.Order{Account: "a", Kind: billing.STT, Engines: func(stage agent.Stage, name string) session.Engine {
				return session.Engine{Stage: stage, Name: name, Model: "ears-1", Costs: billing.Costs{billing.AudioSeconds: 6 * billing.Cent}}
			}})
			if err != nil {
				t.Fatal(err)
			}
			if o.Live() != 1 {
				t.Errorf("%d calls", o.Live())
			}
			w.Used(1500)
			time.Sleep(6 * time.Second)
			w.Used(500)
			inference.Spent(w.Context(), inference.StageASR, "ears", inference.Usage{Audio: 2 * time.Second, Source: inference.UsageProvider})
			w.End(tt.err)
			w.End(nil)
			if w.Context().Err() == nil {
				t.Error("its context goes on")
			}
			o.Ledger.Mu.Lock()
			defer o.Ledger.Mu.Unlock()
			c := o.Ledger.Closings[0]
			if c.Reason != tt.reason || c.Detail != tt.detail || c.Usage != (billing.Usage{billing.STTTime: 2000}) || c.StartedAt.IsZero() {
				t.Errorf("ended with %v: %+v", tt.err, c)
			}
			cost := billing.Cent / 5
			if want := []store.EngineUse{{Stage: "asr", Engine: "ears", Model: "ears-1", Unit: billing.AudioSeconds, Quantity: 2000, Source: "provider", Cost: &cost}}; !reflect.DeepEqual(c.Uses, want) {
				t.Errorf("%+v", c.Uses)
			}
			reported := false
			for _, r := range o.Ledger.Reports {
				reported = reported || r.ID == w.ID() && r.Usage == billing.Usage{billing.STTTime: 1500}
			}
			if !reported || len(o.Ledger.Talks) != 0 {
				t.Errorf("reports %v, conversations %v", o.Ledger.Reports, o.Ledger.Talks)
			}
		})
	}
}

// Work stops when the balance is used up, when another process has the node, and
// when a drain has waited long enough.
func TestWorkIsStopped(t *testing.T) {
	floor := ledger.CheckpointResult{Pots: billing.Pots{Paid: -2 * billing.USD}}
	for name, tt := range map[string]struct {
		ledger *sessiontest.FakeLedger
		drain  bool
		want   media.Ended
	}{
		"floor": {ledger: &sessiontest.FakeLedger{Checkpoint: func(time.Duration, *ledger.Session) ledger.CheckpointResult { return floor }}, want: media.Ended{Reason: media.BalanceExhausted}},
		"fenced": {ledger: &sessiontest.FakeLedger{Checkpoint: func(time.Duration, *ledger.Session) ledger.CheckpointResult {
			return ledger.CheckpointResult{Err: store.ErrFenced}
		}}, want: media.Ended{Reason: media.Failed, Detail: "node_lost"}},
		"drain": {ledger: &sessiontest.FakeLedger{}, drain: true, want: media.Ended{Reason: media.APIHangup, Detail: "drain"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			o := tt.ledger.Open(t, 0)
			w := o.StartWork(billing.TTS)
			drained := make(chan error, 1)
			if tt.drain {
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
				defer cancel()
				go func() { drained <- o.Drain(ctx) }()
			} else {
				close(drained)
			}
			<-w.Context().Done()
			if _, err := o.Work(t.Context(), session.Order{Account: "a", Kind: billing.TTS}); tt.drain && !errors.Is(err, session.ErrDraining) {
				t.Errorf("while draining: %v", err)
			}
			w.End(context.Cause(w.Context()))
			if err := <-drained; err != nil {
				t.Error(err)
			}
			o.Ledger.Mu.Lock()
			defer o.Ledger.Mu.Unlock()
			if c := o.Ledger.Closings[0]; c.Reason != string(tt.want.Reason) || c.Detail != string(tt.want.Detail) {
				t.Errorf("%s: %+v", name, c)
			}
		})
	}
}

func TestRefusedWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := (&sessiontest.FakeLedger{Start: func() error { return store.ErrInsufficientBalance }}).Open(t, 0)
		if _, err := o.Work(t.Context(), session.Order{Account: "a", Kind: billing.TTS, Expected: 7}); !errors.Is(err, store.ErrInsufficientBalance) {
			t.Error(err)
		}
		if err := o.Drain(t.Context()); err != nil {
			t.Errorf("something is left: %v", err)
		}
	})
}
