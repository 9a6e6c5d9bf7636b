package pipeline_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/inference"
	"parley/inference/enginetest"
	"parley/media"
	"parley/pipeline/pipelinetest"
)

// TestHold: while the caller has the agent on hold nothing is said, nothing times out and
// nobody is asked whether they are still there; a sentence that the hold interrupted is
// said again.
func TestHold(t *testing.T) {
	for _, c := range []struct {
		name  string
		hold  [2]time.Duration
		setup func(*pipelinetest.Scene)
		want  []string // lines of the log, in order
		never []string
	}{
		{"while the agent speaks", [2]time.Duration{6510, 36510}, nil,
			[]string{`agent_partial "It takes two days."`, `agent_partial "Is that all right?"`, `agent_line "Yes I can help. It takes two days. Is that all right?"`},
			[]string{"fault", "Are you still there?"}},
		{"while nobody speaks", [2]time.Duration{9010, 39010}, nil,
			[]string{`agent_line "Yes I can help. It takes two days. Is that all right?"`, `45020 thinking 2`, `agent_partial "Are you still there?"`}, nil},
		{"while the model thinks", [2]time.Duration{4850, 34850}, func(s *pipelinetest.Scene) { s.LLM.Replies[0][0].After = 20 * time.Second },
			[]string{`thinking 1`, `speaking 1`, `agent_line "Yes I can help. It takes two days. Is that all right?"`}, []string{"fault", "something went wrong"}},
		{"while a function runs", [2]time.Duration{4800, 34800}, func(s *pipelinetest.Scene) {
			s.Config.ClientTools, s.Config.Agent.Tools = true, []inference.Tool{{Name: "book"}}
			s.LLM.Replies = [][]enginetest.Step{calls("", "book"), enginetest.Sentences(150*ms, "It is booked. ")}
		}, []string{`tool_ended call_1_1 timeout`, `agent_line "It is booked."`}, []string{"One moment"}},
		{"while the caller speaks over the agent", [2]time.Duration{6210, 16210}, func(s *pipelinetest.Scene) {
			s.Leg.Speech = append(s.Leg.Speech, pipelinetest.Utterance{From: 6000 * ms, To: 6200 * ms})
		}, []string{"ducked true", "ducked false", `agent_line "Yes I can help. It takes two days. Is that all right?"`}, []string{"interrupted"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := pipelinetest.NewScene(table)
				s.Leg.Telephone()
				s.Leg.Hold = [2]time.Duration{c.hold[0] * ms, c.hold[1] * ms}
				s.Config.Turn.Idle = 6 * media.Second
				if c.setup != nil {
					c.setup(s)
				}
				s.Play(t, 48010*ms)
				log := s.Log()
				for _, want := range c.want {
					_, after, found := strings.Cut(log, want)
					if !found {
						t.Errorf("no %q, or not in order:\n%s", want, s.Log())
						break
					}
					log = after
				}
				for _, never := range c.never {
					if log := before(s, c.hold[1]*ms+5*time.Second); strings.Contains(log, never) {
						t.Errorf("%q:\n%s", never, log)
					}
				}
				for _, f := range s.Leg.Sent() {
					if f.At >= c.hold[0]*ms+20*ms && f.At < c.hold[1]*ms {
						t.Fatalf("a frame was sent at %v", f.At)
					}
				}
			})
		})
	}
}

// before is the log up to a moment.
func before(s *pipelinetest.Scene, limit time.Duration) string {
	var b strings.Builder
	for line := range strings.Lines(s.Log()) {
		at, _, _ := strings.Cut(line, " ")
		if d, err := time.ParseDuration(at + "ms"); err == nil && d < limit {
			b.WriteString(line)
		}
	}
	return b.String()
}

// TestHoldRestartsTheSentence: who comes back hears the interrupted sentence whole.
func TestHoldRestartsTheSentence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := pipelinetest.NewScene(table)
		s.Leg.Telephone()
		s.Leg.Hold = [2]time.Duration{6510 * ms, 11510 * ms} // within the second of three sentences of 1 s
		s.Play(t, 17010*ms)
		voiced := 0
		for _, f := range s.Leg.Sent() {
			if f.At >= 11510*ms && !f.Silent {
				voiced++
			}
		}
		if want := 2 * 50; voiced < want || voiced > want+2 {
			t.Errorf("%d frames of speech after the hold, want %d:\n%s", voiced, want, s.Log())
		}
	})
}

// TestAwayRepeatsTheSentence: a leg that is written ahead loses what its far end has not played when that goes away. The
// agent says the sentence again that was cut, also where all of it was written already, and no other.
func TestAwayRepeatsTheSentence(t *testing.T) {
	begins := time.Duration(0) // the first of three sentences of a second
	scene := func(t *testing.T, hold time.Duration) (*pipelinetest.Scene, int) {
		s := pipelinetest.NewScene(table)
		if hold > 0 {
			s.Leg.Hold = [2]time.Duration{hold, hold + 5*time.Second}
		}
		s.Play(t, 20010*ms)
		voiced := 0
		for _, f := range s.Leg.Sent() {
			if !f.Silent && f.At >= s.Leg.Hold[1] {
				voiced++
				if begins == 0 {
					begins = f.At
				}
			}
			if hold > 0 && f.At > hold && f.At < s.Leg.Hold[1] {
				t.Errorf("a frame was sent at %v", f.At)
			}
		}
		return s, voiced
	}
	synctest.Test(t, func(t *testing.T) {
		if _, whole := scene(t, 0); whole < 150 || whole > 152 {
			t.Fatalf("%d frames of speech", whole)
		}
	})
	for after, left := range map[time.Duration]int{505 * ms: 3, 905 * ms: 3, 1505 * ms: 2, 1905 * ms: 2, 2505 * ms: 1, 2905 * ms: 1, 4 * time.Second: 0} {
		synctest.Test(t, func(t *testing.T) {
			s, voiced := scene(t, begins+after)
			if want := left * 50; voiced < want || voiced > want+2 {
				t.Errorf("away after %v: %d frames of speech after that, want %d:\n%s", after, voiced, want, s.Log())
			}
			if n := strings.Count(s.Log(), `agent_line "Yes I can help. It takes two days. Is that all right?"`); n != 1 {
				t.Errorf("away after %v: said %d times:\n%s", after, n, s.Log())
			}
		})
	}
}

// TestAwayWasNotHeard: what a far end that does not come back had not played is not in the history.
func TestAwayWasNotHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := pipelinetest.NewScene(table)
		s.Leg.Hold = [2]time.Duration{6510 * ms, 60 * time.Second}
		s.Leg.HangUp = 30 * time.Second
		s.Play(t, 40*time.Second)
		if log := s.Log(); !strings.Contains(log, `agent_line "Yes I can help. It"`) {
			t.Error(log)
		}
	})
}
