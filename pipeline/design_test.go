package pipeline_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/billing"
	"parley/inference"
	"parley/inference/enginetest"
	"parley/pipeline/pipelinetest"
	"parley/pipeline/session/sessiontest"
	"parley/store/ledger"
)

// The fifteen scenarios of the design are the entries of these tables that have its
// numbers, and these tests of their own.
var (
	tables    = [][]scenario{scenarios, speculative, functions}
	elsewhere = map[string]func(*testing.T){"8": TestLoudspeaker, "12": TestSilentVoice, "15": TestBalanceUsedUp}
)

// TestDesign: none of the fifteen is missing, and none is there twice.
func TestDesign(t *testing.T) {
	var got []string
	for number := range elsewhere {
		got = append(got, number)
	}
	for _, list := range tables {
		for _, sc := range list {
			if sc.design != "" {
				got = append(got, sc.design)
			}
		}
	}
	slices.Sort(got)
	want := strings.Fields("2 3 3b 4 5 6 7 8 9 9b 10 11 11b 11c 12 13 13b 13c 14 15")
	want = append(want, "1 on", "1 off")
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the design's scenarios here are %q, want %q", got, want)
	}
}

// TestBalanceUsedUp is the design's scenario 15: nothing is left after 15 s, and the
// overdraft is used up 20 s into the call, in the second sentence of three.
func TestBalanceUsedUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ledger := usedUp()
		o := ledger.Open(t, 0)
		var scene *pipelinetest.Scene
		session := o.Call(sessiontest.Web, func(s *pipelinetest.Scene) {
			scene = s
			overdrawn(s)
		})
		o.Wait()
		asked(11120, 18200)(t, scene) // in advance, then not
		has(t, scene, `user_line "two"`, "18430 speaking 2", `agent_line "The first one. The second one."`, `21140 agent_partial "I have to end the call now."`, "end balance_exhausted")
		if strings.Contains(scene.Log(), "third") {
			t.Error("the third sentence was begun")
		}
		end := ledger.Closings[0]
		if end.Ended > 30*time.Second {
			t.Errorf("ended after %v", end.Ended)
		}
		var in, out int64
		for _, g := range ledger.Talks[session.ID()].Generations {
			in, out = in+g.InTokens, out+g.OutTokens
		}
		u := end.Usage
		if u[billing.ReplyIn]+u[billing.SpeculativeIn] != in || u[billing.ReplyOut]+u[billing.SpeculativeOut] != out || in == 0 {
			t.Errorf("the books have %d and %d tokens, the completions %d and %d", u[billing.ReplyIn], u[billing.ReplyOut], in, out)
		}
		// The last checkpoint before the end never had more than the bill, which is what
		// the tariff makes of the usage, to the nano-dollar.
		for _, r := range ledger.Reports {
			for c, n := range r.Usage {
				if n > u[c] {
					t.Errorf("a checkpoint had %d of %s, the bill %d", n, billing.Component(c), u[c])
				}
			}
		}
	})
}

// usedUp is a ledger in which nothing is left after 15 s, and no overdraft after 20 s.
func usedUp() *sessiontest.FakeLedger {
	return &sessiontest.FakeLedger{Checkpoint: func(at time.Duration, s *ledger.Session) (r ledger.CheckpointResult) {
		switch r.Pots.Paid = billing.USD; {
		case at >= 20*time.Second:
			r.Pots.Paid = -s.Card.Wallet().Overdraft
		case at >= 15*time.Second:
			r.Pots.Paid = -1
		}
		return r
	}}
}

// overdrawn is a caller of three turns, the second of which the agent is answering when
// the overdraft is used up.
func overdrawn(s *pipelinetest.Scene) {
	ahead(s)
	s.Leg.Speech = []pipelinetest.Utterance{{From: 10000 * ms, To: 11000 * ms}, {From: 17000 * ms, To: 18000 * ms}, {From: 24000 * ms, To: 24500 * ms}}
	s.ASR.Plan = slices.Concat(enginetest.Spoken(10000*ms, 11000*ms, "one"), enginetest.Spoken(17000*ms, 18000*ms, "two"), enginetest.Spoken(24000*ms, 24500*ms, "three"))
	s.LLM.Replies = [][]enginetest.Step{enginetest.Sentences(150*ms, "Yes. "), enginetest.Sentences(150*ms, "The first one. ", "The second one. ", "The third one. ")}
	s.TTS.Sentence = 1500 * ms
	s.LLM.Replies[0][0].Usage = &inference.Usage{In: 40, Out: 5, Source: inference.UsageProvider}
}
