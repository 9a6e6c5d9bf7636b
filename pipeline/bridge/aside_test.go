package bridge

import (
	"context"
	"testing"
	"time"

	"parley/inference"
	"parley/media"
	"parley/media/mediatest"
	"parley/media/ring"
	"parley/pipeline/playout"
)

// spokenFor is a sentence that lasts so long.
func spokenFor(d time.Duration) []*playout.Sentence {
	s := &playout.Sentence{Complete: true}
	s.Append(inference.Chunk{Rate: media.Rate16k, Samples: make([]int16, int(d*time.Duration(media.Rate16k)/time.Second))})
	return []*playout.Sentence{s}
}

// step is one frame of what the second alone hears, and of a guest's ears, while everybody speaks and somebody listens in.
func step() (frame func()) {
	f := media.Frame{Samples: make([]int16, 160), Rate: media.Rate8k}
	a := newAside(f.Rate)
	a.coach = NewSupervisor("usr_1", media.Rate16k, context.Background(), nil)
	a.coach.Begin(f.Rate)
	a.spoken <- spokenFor(time.Hour)
	b := Between{Supervisor: &Supervisor{guest: &guest{ears: ring.New[spokenFrame](supervisorFrames), tone: Notice{On: true}}}}
	b.Listens(1)
	said, now := make([]int16, 320), time.Unix(0, 0)
	for range cap(a.coach.heard) {
		a.coach.heard <- nil // which nobody writes down
	}
	return func() {
		now = now.Add(media.FrameDuration)
		a.coach.Say(said)
		a.over(f, now)
		b.Supervisor.Carry(f, now)
		ears := b.Supervisor.guest.ears
		ears.Drop(ears.Len())
	}
}

func TestAsideDoesNotAlloc(t *testing.T) {
	frame := step()
	for range 100 { // a whisper that begins does
		frame()
	}
	mediatest.NoAllocs(t, frame)
}

func BenchmarkAside(b *testing.B) {
	b.ReportAllocs()
	for frame := step(); b.Loop(); {
		frame()
	}
}
