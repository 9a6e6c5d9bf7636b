package session_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"parley/billing"
	"parley/inference/enginetest"
	"parley/media"
	"parley/pipeline"
	"parley/pipeline/pipelinetest"
	"parley/pipeline/session/sessiontest"
	"parley/store/ledger"
)

// types has a client type a text of so many characters after 7 s, and then nothing.
func types(characters int) func(*pipelinetest.Scene) {
	return func(s *pipelinetest.Scene) {
		s.LLM.Replies = [][]enginetest.Step{enginetest.Sentences(150*ms, "Yes. ")}
		s.Leg.HangUp = 20 * time.Second
		s.Act = func(c *pipeline.Call) { time.Sleep(7 * time.Second); c.Type(strings.Repeat("a", characters)) }
	}
}

// TestInputThatNobodyPaysFor: the price of what the model is to read is compared with what
// the last checkpoint left, and the model is not asked where that is less.
func TestInputThatNobodyPaysFor(t *testing.T) {
	const long = 400_000 // characters, of which a model makes 100,000 tokens
	input := tokens(t, long/4)
	for name, tt := range map[string]struct {
		left  billing.Money // above the overdraft floor
		room  billing.Money // by a limit of spending; below 0: there is none
		most  billing.Money // by the ticket
		chars int
		want  string
		asked int
	}{
		"enough":               {2 * input, -1, 0, long, "20s user_hangup", 1},
		"little, a short turn": {input / 2, -1, 0, 40, "20s user_hangup", 1},
		"too little":           {input / 2, -1, 0, long, "balance_exhausted", 0},
		"a limit":              {2 * input, input / 2, 0, long, "balance_exhausted: spending_limit", 0},
		"room in the limit":    {2 * input, 2 * input, 0, long, "20s user_hangup", 1},
		"the ticket's":         {2 * input, -1, input / 2, long, "balance_exhausted: ticket_cost", 0},
		"room in the ticket's": {2 * input, -1, 2 * input, long, "20s user_hangup", 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := (&sessiontest.FakeLedger{Checkpoint: func(time.Duration, *ledger.Session) (r ledger.CheckpointResult) {
					if r.Pots.Paid = tt.left - card.Wallet().Overdraft; tt.room >= 0 {
						r.Room = &tt.room
					}
					return r
				}}).Open(t, 0)
				o.MaxCost = tt.most
				var scene *pipelinetest.Scene
				s := o.Call(web, func(s *pipelinetest.Scene) {
					scene = s
					types(tt.chars)(s)
				})
				o.Wait()
				if asked := len(scene.LLM.Calls()); asked != tt.asked {
					t.Errorf("the model was asked %d times; want %d", asked, tt.asked)
				}
				if got := o.EndOf(s); !strings.HasSuffix(got, tt.want) {
					t.Errorf("ended %q; want %q", got, tt.want)
				}
			})
		})
	}
}

// TestTicketBoundsTheCost: what a conversation may cost by its ticket ends it at the next
// checkpoint, and nobody else's.
func TestTicketBoundsTheCost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := (&sessiontest.FakeLedger{Checkpoint: func(time.Duration, *ledger.Session) ledger.CheckpointResult { return rich }}).Open(t, 0)
		free := o.Call(web, until(2*time.Minute))
		o.MaxCost = 4 * billing.Cent // half a minute
		s := o.Call(web, until(2*time.Minute))
		o.Wait()
		o.WantEnd(free, "2m0s user_hangup")
		if got := o.EndOf(s); !strings.HasSuffix(got, "balance_exhausted: ticket_cost") || !strings.HasPrefix(got, "3") {
			t.Errorf("ended %q", got)
		}
	})
}

func tokens(t *testing.T, n int64) billing.Money {
	t.Helper()
	tariff, err := card.Tariff(web)
	if err != nil {
		t.Fatal(err)
	}
	bill, err := tariff.Price(billing.Usage{billing.ReplyIn: n})
	if err != nil {
		t.Fatal(err)
	}
	return bill.Total()
}

// warmModel notes that it was warmed.
type warmModel struct {
	*enginetest.FakeLLM
	warmed atomic.Bool
}

func (m *warmModel) Warm(context.Context) { m.warmed.Store(true) }

// TestWarm: a model connects while it rings, though the books stand between it and the call.
func TestWarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model := &warmModel{FakeLLM: enginetest.NewFakeLLM()}
		o := (&sessiontest.FakeLedger{}).Open(t, 1)
		s := o.Call(sessiontest.Web, func(s *pipelinetest.Scene) { s.Model = model })
		synctest.Wait()
		if !model.warmed.Load() {
			t.Error("it was not")
		}
		s.Stop(media.Ended{Reason: media.APIHangup})
		o.Wait()
	})
}
