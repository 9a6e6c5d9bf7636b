package pipeline_test

import (
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/inference/enginetest"
	"parley/media"
	"parley/pipeline"
	"parley/pipeline/pipelinetest"
	"parley/pipeline/toolbox"
)

// longReply is fourSentences between two frames: its first frame is at 5020.
func longReply(s *pipelinetest.Scene) {
	fourSentences(s)
	s.LLM.Replies[0][0].After += 5 * ms
}

// telephone are scenarios on a leg that wants a frame in each 20 ms, at 8 kHz, and
// that plays what it is given. Their logs are settled like the others'.
var telephone = []scenario{
	{name: "telephone answer", said: []pipelinetest.Said{said(1000, 2500, "what time do you open")}, limit: 7000},
	{name: "telephone barge-in", said: []pipelinetest.Said{table, said(6000, 7210, "no wait, I meant Friday")}, setup: longReply, limit: 9000,
		check: fadedAt(6360)},
	{name: "telephone backchannel", said: []pipelinetest.Said{table, said(6000, 6350, "uh-huh")}, setup: longReply, limit: 10000, check: lowered(6060, 6460)},
	{name: "telephone goodbye", said: []pipelinetest.Said{said(1000, 2500, "goodbye")}, limit: 10000,
		setup: func(s *pipelinetest.Scene) {
			s.LLM.Replies = [][]enginetest.Step{calls("Goodbye then.", toolbox.EndCall)}
		}},
	{name: "telephone goodbye hung up on", said: []pipelinetest.Said{said(1000, 2500, "goodbye")}, limit: 10000,
		setup: func(s *pipelinetest.Scene) {
			s.LLM.Replies = [][]enginetest.Step{calls("Goodbye then.", toolbox.EndCall)}
			s.Leg.HangUp = 3510 * ms
		}},
	{name: "telephone idle", limit: 40000, setup: func(s *pipelinetest.Scene) {
		s.Config.Turn.Idle = 5 * media.Second
		s.Config.Agent.FirstMessage = "Hello there."
		s.TTS.FirstAudio = 0
	}},
	{name: "telephone keys", limit: 20000, setup: func(s *pipelinetest.Scene) {
		s.Config.Turn.Idle = 5 * media.Second
		s.Config.Agent.FirstMessage = "Hello there."
		s.TTS.FirstAudio = 0
		s.Leg.Digits = map[time.Duration]byte{5510 * ms: '1', 9010 * ms: '#'}
	}},
	{name: "telephone stopped with a goodbye", said: []pipelinetest.Said{table}, limit: 20000,
		setup: func(s *pipelinetest.Scene) {
			longReply(s)
			s.Act = func(c *pipeline.Call) {
				time.Sleep(6510 * ms)
				c.Stop(media.BalanceExhausted, "", true)
			}
		}},
}

func TestTelephone(t *testing.T) {
	for _, sc := range telephone {
		t.Run(sc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := pipelinetest.NewScene(sc.said...)
				s.Leg.Telephone()
				if sc.setup != nil {
					sc.setup(s)
				}
				s.Play(t, sc.limit*ms+10*ms)
				everyFrame(t, s)
				golden(t, filepath.Join("testdata", strings.ReplaceAll(sc.name, " ", "_")+".log"), s.Log()+"\n")
				if sc.check != nil {
					sc.check(t, s)
				}
			})
		})
	}
}

// everyFrame checks that the far end got one frame in each 20 ms of the call.
func everyFrame(t *testing.T, s *pipelinetest.Scene) {
	t.Helper()
	for i, f := range s.Leg.Sent() {
		if want := time.Duration(i+1) * media.FrameDuration; f.At != want {
			t.Fatalf("frame %d was sent at %v, want %v", i, f.At, want)
		}
	}
}

// levelsOf is how loud the frames sent from one time to another were.
func levelsOf(s *pipelinetest.Scene, from, to time.Duration) (levels []float64) {
	for _, f := range s.Leg.Sent() {
		if f.At >= from*ms && f.At < to*ms {
			levels = append(levels, f.Level)
		}
	}
	return levels
}

// fadedAt checks that the voice, which was lowered, fades in the frame of the cut
// and is followed by silence.
func fadedAt(at time.Duration) func(*testing.T, *pipelinetest.Scene) {
	return func(t *testing.T, s *pipelinetest.Scene) {
		full := levelsOf(s, 5100, 6000)[0]
		low := levelsOf(s, at-100, at)
		for _, l := range low {
			if l < 0.15*full || l > 0.2*full {
				t.Errorf("before the cut a frame has level %.0f, want 15 dB less than %.0f", l, full)
			}
		}
		after := levelsOf(s, at, at+1000)
		if after[0] == 0 || after[0] > 0.6*low[0] {
			t.Errorf("the frame of the cut has level %.0f after %.0f", after[0], low[0])
		}
		for i, l := range after[1:] {
			if l != 0 {
				t.Fatalf("%d ms after the cut there is still a level of %.0f", 20*(i+1), l)
			}
		}
	}
}

// lowered checks that the voice was 15 dB lower between two times and whole before
// and after, with two frames for the way.
func lowered(from, to time.Duration) func(*testing.T, *pipelinetest.Scene) {
	return func(t *testing.T, s *pipelinetest.Scene) {
		full := levelsOf(s, 5100, 6000)[0]
		for _, c := range []struct {
			from, to time.Duration
			lo, hi   float64
		}{{5100, from, 0.9, 1.1}, {from, from + 20, 0.6, 0.95}, {from + 20, from + 40, 0.2, 0.6}, {from + 40, to, 0.15, 0.2}, {to + 40, 8900, 0.9, 1.1}} {
			for i, l := range levelsOf(s, c.from, c.to) {
				if l < c.lo*full || l > c.hi*full {
					t.Errorf("at %d ms the level is %.0f of %.0f", int(c.from)+20*i, l, full)
				}
			}
		}
	}
}
