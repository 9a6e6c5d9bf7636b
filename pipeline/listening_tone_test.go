package pipeline_test

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"parley/media"
	"parley/pipeline"
	"parley/pipeline/pipelinetest"
)

// bursts is when a tone begins in frames that were kept, and how many frames have it; it fills each of them with whole periods.
func bursts(frames []pipelinetest.Sent, rate media.Rate, hz float64) (begins []time.Duration, all int) {
	sounded := false
	for _, f := range frames {
		re, im := 0.0, 0.0
		for i, x := range f.Samples {
			w := 2 * math.Pi * hz * float64(i) / float64(rate)
			re, im = re+float64(x)*math.Cos(w), im+float64(x)*math.Sin(w)
		}
		sounds := 2*math.Hypot(re, im)/float64(max(1, len(f.Samples))) > 1000
		if sounds {
			all++
		}
		if sounds && !sounded {
			begins = append(begins, f.At)
		}
		sounded = sounds
	}
	return begins, all
}

// wantBursts wants a tone to begin at such times, 40 ms more or less, each for 200 ms.
func wantBursts(t *testing.T, who string, frames []pipelinetest.Sent, rate media.Rate, want ...time.Duration) {
	t.Helper()
	begins, all := bursts(frames, rate, 1400)
	same := len(begins) == len(want)
	for i := 0; same && i < len(want); i++ {
		same = (begins[i] - want[i]).Abs() <= 40*ms
	}
	if !same || all != 10*len(want) {
		t.Errorf("%s hears the tone at %v, in %d frames; want it at %v", who, begins, all, want)
	}
}

// TestListeningTone: the caller hears a tone when somebody begins to listen in and each 15 s while they do, in silence and over the
// agent's voice, and none where the agent does not say so.
func TestListeningTone(t *testing.T) {
	for name, leg := range map[string]func(*pipelinetest.Leg) *pipelinetest.Leg{
		"telephone": (*pipelinetest.Leg).Telephone, "socket": func(l *pipelinetest.Leg) *pipelinetest.Leg { return l },
	} {
		for _, on := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := pipelinetest.NewScene(table)
					leg(s.Leg).Keeps = true
					s.TTS.Tone = 1500
					s.Config.Agent.ListeningTone = on
					s.Act = func(c *pipeline.Call) {
						for _, step := range []struct {
							at time.Duration
							by int
						}{{2000 * ms, 1}, {6000 * ms, 1}, {7000 * ms, -1}, {22500 * ms, -1}} {
							time.Sleep(time.Until(s.Leg.Start().Add(step.at)))
							c.Listens(step.by)
						}
					}
					s.Play(t, 45*time.Second)
					var want []time.Duration
					if on {
						want = []time.Duration{2000 * ms, 6000 * ms, 21000 * ms}
					}
					rate := s.Leg.Format().Out
					wantBursts(t, "the caller", s.Leg.Sent(), rate, want...)
					if _, voiced := bursts(s.Leg.Sent(), rate, 1500); voiced < 145 || voiced > 155 {
						t.Errorf("the voice is in %d frames of 150", voiced)
					}
					has(t, s, `4990 speaking 1`, `agent_line "Yes I can help. It takes two days. Is that all right?"`)
				})
			})
		}
	}
}

// TestListeningToneOfTwo: when the caller is connected to somebody, both hear it where both are heard by those who listen in, and else
// neither.
func TestListeningToneOfTwo(t *testing.T) {
	for _, record := range []bool{true, false} {
		var o *colleague
		made := time.Duration(0)
		play(t, 30000, func(s *pipelinetest.Scene) {
			handsOver(s, `{"to":"sales","summary":"A caller wants two chairs."}`)
			s.Leg.Keeps = true
			s.Config.Agent.ListeningTone, s.Config.Transfer.Record = true, record
			o = consults(s, func(l *pipelinetest.Leg) { l.Keeps, made = true, l.Start().Sub(s.Leg.Start()) }, nil)
			s.Act = func(c *pipeline.Call) {
				time.Sleep(time.Until(s.Leg.Start().Add(9000 * ms)))
				c.Listens(1)
				time.Sleep(20 * time.Second)
				c.Listens(-1)
			}
		}, func(t *testing.T, s *pipelinetest.Scene) {
			var callers, offices []time.Duration
			if record {
				callers, offices = []time.Duration{9000 * ms, 24000 * ms}, []time.Duration{9000*ms - made, 24000*ms - made}
			}
			wantBursts(t, "the caller", s.Leg.Sent(), media.Rate8k, callers...)
			wantBursts(t, "the office", o.Sent(), media.Rate8k, offices...)
		}, said(1000, 2500, "sales please"))
	}
}
