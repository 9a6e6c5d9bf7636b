package pipeline_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"parley/inference/enginetest"
	"parley/media"
	"parley/media/mediatest"
	"parley/media/record"
	"parley/pipeline"
	"parley/pipeline/event"
	"parley/pipeline/pipelinetest"
	"parley/pipeline/toolbox"
)

// memory is a file of a recording.
type memory struct {
	bytes.Buffer
	closed bool
}

func (m *memory) Close() error {
	m.closed = true
	return nil
}

// taken is what was recorded of a scene.
type taken struct {
	sides  [record.Channels][]int16
	rate   media.Rate
	closed bool // before the end of the call was told
}

// played conducts a scene, recorded.
func played(t *testing.T, s *pipelinetest.Scene, limit time.Duration) (got taken) {
	t.Helper()
	file := &memory{}
	s.Config.Recorder = record.New(record.Config{
		Create: func(r media.Rate) (io.WriteCloser, error) { got.rate = r; return file, nil },
		Done: func(r record.Result) {
			if r.Err != nil || r.Dropped != 0 {
				t.Errorf("%+v", r)
			}
		},
	})
	s.Observe = func(_ *pipeline.Call, e event.Event) {
		if e.Kind == event.End {
			got.closed = file.closed
		}
	}
	s.Play(t, limit)
	all := make([]int16, file.Len()/2)
	if _, err := binary.Decode(file.Bytes(), binary.LittleEndian, all); err != nil {
		t.Fatal(err)
	}
	for i, v := range all {
		got.sides[i%record.Channels] = append(got.sides[i%record.Channels], v)
	}
	return got
}

// sounds is when there is sound on a side, for 10 ms at a time.
func (r *taken) sounds(side int) (from, to time.Duration) {
	block := int(r.rate) / 100
	from = -1
	for n := 0; (n+1)*block <= len(r.sides[side]); n++ {
		if mediatest.Level(r.sides[side][n*block:(n+1)*block]) > -50 {
			if from < 0 {
				from = time.Duration(n) * 10 * ms
			}
			to = time.Duration(n+1) * 10 * ms
		}
	}
	return from, to
}

func near(t *testing.T, what string, got, want time.Duration) {
	t.Helper()
	if d := got - want; d < -20*ms || d > 20*ms {
		t.Errorf("%s is at %v in the recording, want %v", what, got, want)
	}
}

// legs are both kinds.
var legs = map[string]func(*pipelinetest.Scene){
	"web":       func(*pipelinetest.Scene) {},
	"telephone": func(s *pipelinetest.Scene) { s.Leg.Telephone() },
}

// TestRecordingIsAligned: both sides are where they were heard.
func TestRecordingIsAligned(t *testing.T) {
	for name, on := range legs {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := pipelinetest.NewScene()
				on(s)
				s.Leg.Tone = [2]time.Duration{2500 * ms, 2700 * ms}
				s.Leg.HangUp = 5 * time.Second
				s.Config.Agent.FirstMessage = "Hello there."
				got := played(t, s, 10*time.Second)
				if !got.closed {
					t.Error("the file was still open when the call's end was told")
				}
				var first time.Duration
				for _, f := range s.Leg.Sent() {
					if !f.Silent {
						first = f.At
						break
					}
				}
				from, to := got.sounds(1)
				near(t, "the agent's first sound", from, first)
				near(t, "its end", to, first+time.Second)
				from, to = got.sounds(0)
				near(t, "the tone", from, 2500*ms)
				near(t, "its end", to, 2700*ms)
			})
		})
	}
}

// TestRecordingOfAnInterruption: what the caller did not hear is not there.
func TestRecordingOfAnInterruption(t *testing.T) {
	for name, on := range legs {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := pipelinetest.NewScene(table, said(6000, 7200, "no wait, I meant Friday"))
				fourSentences(s)
				on(s)
				var cut time.Duration
				s.Config.Observe = func(e event.Event) {
					if e.Kind == event.Interrupted {
						cut = time.Since(s.Leg.Start())
					}
				}
				s.Leg.HangUp = 7 * time.Second
				got := played(t, s, 8*time.Second)
				from, to := got.sounds(1)
				if cut == 0 || from > cut-500*ms {
					t.Fatalf("nobody was interrupted at %v, the agent speaks from %v", cut, from)
				}
				near(t, "the end of the agent", to, cut+20*ms)
			})
		})
	}
}

// TestRecordingHoldsTheGoodbye to its last word.
func TestRecordingHoldsTheGoodbye(t *testing.T) {
	for name, on := range legs {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := pipelinetest.NewScene(said(1000, 2500, "goodbye"))
				on(s)
				s.LLM.Replies = [][]enginetest.Step{calls("Goodbye then.", toolbox.EndCall)}
				got := played(t, s, 10*time.Second)
				from, to := got.sounds(1)
				near(t, "the goodbye's length", to-from, time.Second)
			})
		})
	}
}

// TestRecordingOfATransfer ends where the caller is connected to somebody, unless the agent
// says otherwise.
func TestRecordingOfATransfer(t *testing.T) {
	for name, goesOn := range map[string]bool{"ends": false, "goes on": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := pipelinetest.NewScene(said(1000, 2500, "sales please"))
				handsOver(s, `{"to":"sales","summary":"A caller wants two chairs."}`)
				s.Config.Transfer.Record = goesOn
				s.Leg.Tone = [2]time.Duration{8 * time.Second, 9 * time.Second}
				consults(s, func(l *pipelinetest.Leg) {
					l.Tone, l.HangUp = [2]time.Duration{3 * time.Second, 4 * time.Second}, 6*time.Second
				}, nil)
				got := played(t, s, 20*time.Second)
				if _, said := got.sounds(0); goesOn != (said > 8*time.Second) {
					t.Errorf("the caller's voice is in it up to %v", said)
				}
				if _, heard := got.sounds(1); goesOn != (heard > 7*time.Second) {
					t.Errorf("what the caller heard is in it up to %v", heard)
				}
				if d := got.rate.Duration(len(got.sides[0])).Duration(); !goesOn && d > 7*time.Second {
					t.Errorf("it lasts %v", d)
				}
			})
		})
	}
}
