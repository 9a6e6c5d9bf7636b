package pipeline_test

import (
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/billing"
	"parley/inference/enginetest"
	"parley/media"
	"parley/media/denoise/noisetest"
	"parley/pipeline"
	"parley/pipeline/event"
	"parley/pipeline/pipelinetest"
	"parley/pipeline/session/sessiontest"
)

// TestJitter plays every scenario with engines and packets that come later than it says,
// and checks what must hold whenever they come.
func TestJitter(t *testing.T) { playLate(t, 2) }

// TestSoakJitter plays each a thousand times.
func TestSoakJitter(t *testing.T) {
	switch {
	case os.Getenv("PARLEY_SOAK") == "":
		t.Skip("PARLEY_SOAK is not set")
	case !pipeline.Raced:
		t.Skip("it is for the race detector")
	}
	playLate(t, 1000)
}

func playLate(t *testing.T, runs int) {
	const together = 250 // that no processor is left with the longest scenario alone
	many := func(name string, play func(*testing.T, *dice)) {
		for from := 0; from < runs; from += together {
			to := min(from+together, runs)
			t.Run(name, func(t *testing.T) {
				t.Parallel() // simulated time: they do not disturb each other
				if begun := time.Now(); playRuns(t, from, to, play) {
					t.Logf("%s: runs %d to %d in %v", name, from, to-1, time.Since(begun).Round(time.Second))
				}
			})
		}
	}
	for _, sc := range slices.Concat(slices.Concat(tables...), telephone) {
		many(strings.TrimSpace(sc.design+" "+sc.name), func(t *testing.T, d *dice) { playOneLate(t, sc, d) })
	}
	u := noisetest.Utterances(t)
	many("8 loudspeaker", func(t *testing.T, d *dice) { playLoudspeakerLate(t, d, u[0], u[1]) })
	many("12 silent voice", playSilentVoiceLate)
	many("15 balance used up", playBalanceLate)
}

// playRuns plays something in simulated time until it fails.
func playRuns(t *testing.T, from, to int, play func(*testing.T, *dice)) bool {
	for run := from; run < to; run++ {
		synctest.Test(t, func(t *testing.T) { play(t, &dice{run: run, rng: rand.New(rand.NewPCG(uint64(run), 2))}) })
		if t.Failed() {
			t.Errorf("run %d failed", run)
			return false
		}
	}
	return true
}

func playOneLate(t *testing.T, sc scenario, d *dice) {
	s := pipelinetest.NewScene(sc.said...)
	if strings.HasPrefix(sc.name, "telephone") {
		s.Leg.Telephone()
	}
	if sc.setup != nil {
		sc.setup(s)
	}
	late(d, s)
	playWatched(t, s, sc.limit*ms+10*ms)
}

// playWatched plays a scene and checks the order of its events.
func playWatched(t *testing.T, s *pipelinetest.Scene, limit time.Duration) {
	v := watched(t, s)
	s.Play(t, limit)
	v.end(len(s.LLM.Calls()))
	if t.Failed() {
		t.Log("\n" + s.Log())
	}
	time.Sleep(20 * time.Second) // timers of the test itself
}

func watched(t *testing.T, s *pipelinetest.Scene) *invariants {
	v := &invariants{t: t, leg: s.Leg, results: map[string]int{}, asked: map[string]bool{}}
	before := s.Observe
	s.Observe = func(c *pipeline.Call, e event.Event) {
		v.see(e)
		if before != nil {
			before(c, e)
		}
	}
	return v
}

// late makes engines and packets late. Two runs in ten are replayed, too, which takes
// more than half as long again.
func late(d *dice, s *pipelinetest.Scene) {
	s.Unkept = d.run%10 > 1
	lag := time.Duration(0)
	for i := range s.ASR.Plan {
		lag = max(lag, d.between(0, 300))
		s.ASR.Plan[i].At += lag
	}
	replies := make([][]enginetest.Step, len(s.LLM.Replies))
	for i, r := range s.LLM.Replies {
		replies[i] = slices.Clone(r)
		for k := range replies[i] {
			replies[i][k].After += d.between(0, 400)
		}
	}
	s.LLM.Replies = replies
	s.TTS.FirstAudio += d.between(0, 300)
	s.TTS.Every += d.between(0, 110)
	if d.one(2) {
		jitter := 1 + d.n(30)
		s.Leg.Late = func(int64) time.Duration { return d.between(0, jitter) }
	}
}

// playLoudspeakerLate is scenario 8 with six seconds of echo: it is no speech, and the
// caller is.
func playLoudspeakerLate(t *testing.T, d *dice, agent, caller []float64) {
	const speaks = 6 * time.Second
	s, ends := loudspeaker(t, media.Rate8k, speaks, agent, caller)
	late(d, s)
	playWatched(t, s, ends+3*time.Second)
	for _, what := range []string{"ducked true", "interrupted"} {
		if at, ok := when(s, what, 0); !ok || at < speaks {
			t.Errorf("%s at %v, %v; the caller speaks at %v", what, at, ok, speaks)
		}
	}
	if t.Failed() {
		t.Log("\n" + s.Log())
	}
}

// playSilentVoiceLate is scenario 12: what one voice did not say another says, once.
func playSilentVoiceLate(t *testing.T, d *dice) {
	var failed []string
	s := pipelinetest.NewScene(said(1000, 2500, "what time do you open"))
	ahead(s)
	behind(s, 5*d.n(2), &failed)
	late(d, s)
	playWatched(t, s, 20*time.Second)
	has(t, s, `agent_line "Yes I can help. It takes two days. Is that all right?"`)
	if n := strings.Count(s.Log(), "agent_line"); n != 1 || strings.Count(s.Log(), "committed") != 1 || len(failed) == 0 {
		t.Errorf("%d lines, failed: %q\n%s", n, failed, s.Log())
	}
}

// playBalanceLate is scenario 15: no reply is begun in advance below zero, none at all
// below the floor, and what was used is what is charged.
func playBalanceLate(t *testing.T, d *dice) {
	ledger := usedUp()
	o := ledger.Open(t, 0)
	var scene *pipelinetest.Scene
	var v *invariants
	session := o.Call(sessiontest.Web, func(s *pipelinetest.Scene) {
		overdrawn(s)
		late(d, s)
		scene, v = s, watched(t, s)
	})
	o.Wait()
	v.end(len(scene.LLM.Calls()))
	for _, c := range scene.LLM.Calls() {
		// The checkpoint that learns of the balance comes every five seconds.
		if at := c.Start.Sub(scene.Leg.Start()); at > 26*time.Second {
			t.Errorf("the model was asked at %v", at)
		}
	}
	end := ledger.Closings[0]
	if end.Reason != string(media.BalanceExhausted) {
		t.Errorf("ended with %s", end.Reason)
	}
	var in, out int64
	for _, g := range ledger.Talks[session.ID()].Generations {
		in, out = in+g.InTokens, out+g.OutTokens
	}
	u := end.Usage
	if u[billing.ReplyIn]+u[billing.SpeculativeIn] != in || u[billing.ReplyOut]+u[billing.SpeculativeOut] != out || in == 0 {
		t.Errorf("the books have %v, the completions %d and %d", u, in, out)
	}
	if t.Failed() {
		t.Log("\n" + scene.Log())
	}
	time.Sleep(20 * time.Second) // timers of the test itself
}
