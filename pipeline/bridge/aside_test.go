package bridge

import (
	"context"
	"errors"
	"runtime"
	"strconv"
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

// Whispers are said one after the other, by one goroutine, and those for which there is no room are dropped.
func TestWhispersAreBounded(t *testing.T) {
	const many = 20
	life, end := context.WithCancel(t.Context())
	defer end()
	begun, uttered, next := make(chan func(), many), make(chan string, many), make(chan struct{})
	c := &Transferee{Life: life, Start: func(run func(), _ ...func()) { begun <- run },
		Utter: func(_ context.Context, text string) ([]*playout.Sentence, error) {
			<-next
			uttered <- text
			if text == "1" {
				return nil, errors.New("no voice")
			}
			return spokenFor(time.Second), nil
		}}
	b := &Bridge{second: &Second{caller: c, gone: make(chan struct{})}, aside: newAside(media.Rate8k)}
	for i := range many {
		b.Whisper(strconv.Itoa(i))
	}
	if len(begun) != 1 {
		t.Fatalf("%d goroutines", len(begun))
	}
	ended := make(chan struct{})
	go func() { defer close(ended); (<-begun)() }()
	f, heard := media.Frame{Samples: make([]int16, 160), Rate: media.Rate8k}, 0
	for want := range maxWhispers {
		next <- struct{}{}
		if got := <-uttered; got != strconv.Itoa(want) {
			t.Errorf("said is %q, want %d", got, want)
		}
		if want == 1 {
			continue
		}
		for b.aside.voice.Drained() {
			b.aside.over(f, time.Now())
			runtime.Gosched()
		}
		for heard++; !b.aside.voice.Drained(); {
			b.aside.over(f, time.Now())
		}
	}
	if heard != maxWhispers-1 || len(b.aside.texts) > 0 {
		t.Errorf("%d are heard, %d wait", heard, len(b.aside.texts))
	}
	close(b.second.gone)
	<-ended
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
