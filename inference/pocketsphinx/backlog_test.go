package pocketsphinx

import "testing"

// The worker gets each piece in order, never more than the window ahead.
func TestBacklogTellsInOrder(t *testing.T) {
	var b backlog
	total, finishes := 0, 0
	for u := 1; u <= 3; u++ {
		b.begin(u, true)
		for range 4 {
			b.write(make([]int16, rate))
		}
		b.pieces[len(b.pieces)-1].finished = true
	}
	for {
		audio, finish := b.next()
		if audio == nil && !finish {
			if b.inflight == 0 {
				break
			}
			if b.inflight > window {
				t.Fatalf("%d samples unanswered", b.inflight)
			}
			b.heard(b.inflight)
		}
		if total += len(audio); finish {
			finishes++
			if total != finishes*4*rate {
				t.Errorf("the end of piece %d is sent after %d samples", finishes, total)
			}
		}
	}
	if finishes != 3 {
		t.Errorf("%d ends told", finishes)
	}
	for u := 1; u <= 3; u++ {
		if p := b.drop(); p.utterance != u {
			t.Errorf("piece of %d, want %d", p.utterance, u)
		}
	}
	if len(b.audio) != 0 || b.dropped != 0 {
		t.Errorf("%d samples kept, %d dropped", len(b.audio), b.dropped)
	}
}

// After a death everything without a final is sent again; what dies with the
// third worker is given up.
func TestBacklogRewinds(t *testing.T) {
	var b backlog
	b.begin(1, true)
	b.write(make([]int16, block))
	b.pieces[0].finished = true
	for death := 1; death <= maxDeaths+1; death++ {
		if audio, _ := b.next(); len(audio) != block {
			t.Fatalf("life %d: %d samples told", death, len(audio))
		}
		if _, finish := b.next(); !finish {
			t.Fatalf("life %d: the end is not told", death)
		}
		if hopeless := b.rewind(); hopeless != (death > maxDeaths) {
			t.Fatalf("death %d: hopeless is %v", death, hopeless)
		}
	}
	if b.skip() {
		t.Error("a finished piece cannot go on without its audio")
	}
}

// A piece that is still spoken goes on without the audio that kills.
func TestBacklogSkips(t *testing.T) {
	var b backlog
	b.begin(1, true)
	b.write(make([]int16, block))
	for range maxDeaths + 1 {
		b.next()
		b.rewind()
	}
	if !b.skip() {
		t.Fatal("an open piece is given up")
	}
	b.write(make([]int16, 7))
	if audio, _ := b.next(); len(audio) != 7 {
		t.Errorf("%d samples told", len(audio))
	}
}

func TestBacklogForgetsTheOldest(t *testing.T) {
	var b backlog
	b.begin(1, true)
	for range 40 {
		b.write(make([]int16, rate))
	}
	if kept := len(b.audio); kept < keepSamples || kept > keepSamples+slack {
		t.Errorf("%d samples kept", kept)
	}
	if b.dropped+len(b.audio) != 40*rate {
		t.Errorf("%d dropped and %d kept of %d", b.dropped, len(b.audio), 40*rate)
	}
	if p := b.pieces[0]; p.from != b.base || p.to != b.end() {
		t.Errorf("piece %+v of audio %d to %d", p, b.base, b.end())
	}
}
