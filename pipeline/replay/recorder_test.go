package replay

import (
	"testing"

	"parley/pipeline"
)

// TestAllocRecorder: a frame of a call costs the conductor no memory; what is written of it
// is another goroutine's.
func TestAllocRecorder(t *testing.T) {
	if raced {
		t.Skip("the race detector allocates")
	}
	r := &Recorder{queue: make(chan entry, recorderQueue)} // nobody writes meanwhile
	in := &pipeline.Input{Kind: pipeline.Ticked}
	in.AddHeard(pipeline.Heard{Speech: true, Level: -20})
	in.AddAnswer(pipeline.Answer{Kind: pipeline.AnsweredDue, Value: 1})
	if n := testing.AllocsPerRun(200, func() { r.Input(in) }); n != 0 {
		t.Errorf("allocates %v times", n)
	}
	if len(r.queue) != 201 || r.full {
		t.Errorf("%d inputs wait, full %v", len(r.queue), r.full)
	}
}
