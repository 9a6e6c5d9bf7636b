package journal

import "testing"

// TestAllocWriter: a frame of a call costs the conductor no memory; what is written of it
// is another goroutine's.
func TestAllocWriter(t *testing.T) {
	if raced {
		t.Skip("the race detector allocates")
	}
	r := &Writer{queue: make(chan entry, writerQueue)} // nobody writes meanwhile
	in := &Input{Kind: Ticked}
	in.AddHeard(Heard{Speech: true, Level: -20})
	in.AddObserved(Observation{Of: Due, Value: 1})
	if n := testing.AllocsPerRun(200, func() { r.Input(in) }); n != 0 {
		t.Errorf("allocates %v times", n)
	}
	if len(r.queue) != 201 || r.full {
		t.Errorf("%d inputs wait, full %v", len(r.queue), r.full)
	}
}
