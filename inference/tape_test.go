package inference_test

import (
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"parley/inference"
	"parley/media"
)

// TestTape drives a tape with random audio and checks it against the whole
// recording: what it keeps is what was written last, at the right positions.
func TestTape(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tape := inference.NewTape(media.Rate16k)
		var all []int16
		for range rapid.IntRange(1, 15).Draw(t, "writes") {
			piece := make([]int16, rapid.SampledFrom([]int{0, 1, 320, 16000, 70001, 260000}).Draw(t, "length"))
			for i := range piece {
				piece[i] = int16(len(all) + i)
			}
			before, _ := tape.Span()
			dropped := tape.Write(piece)
			all = append(all, piece...)
			from, to := tape.Span()
			if to != int64(len(all)) || from < before || to-from > 240000 || dropped > 0 && to-from != 240000 {
				t.Fatalf("span %d to %d after %d samples, %d dropped", from, to, len(all), dropped)
			}
			if rapid.Bool().Draw(t, "settle") {
				tape.Settle(from + (to-from)/3)
				from, _ = tape.Span()
			}
			if got := tape.Append(nil, 0, to+5); !slices.Equal(got, all[from:]) {
				t.Fatalf("%d samples kept from %d, not those that were written", len(got), from)
			}
		}
	})
}

func TestTapeUtterances(t *testing.T) {
	tape := inference.NewTape(media.Rate16k)
	speak := func() { tape.Write(make([]int16, 100)) }
	speak()
	if n, ok := tape.Finish(); n != 1 || !ok {
		t.Fatalf("Finish: %d, %v", n, ok)
	}
	if n, waiting := tape.Resume(); n != 1 || !waiting {
		t.Fatalf("Resume: %d, %v", n, waiting)
	}
	if n, waiting := tape.Resume(); n != 1 || waiting {
		t.Fatalf("second Resume: %d, %v", n, waiting)
	}
	speak()
	tape.Finish()
	speak()
	tape.Finish()
	if got, want := tape.Waiting(), []inference.Cut{{Utterance: 1, End: 200}, {Utterance: 2, End: 300}}; !slices.Equal(got, want) {
		t.Fatalf("waiting %v", got)
	}
	tape.Done(1)
	if from, _ := tape.Span(); from != 200 {
		t.Errorf("after the first utterance the tape begins at %d", from)
	}
	tape.Done(2)
	// The result is out already: the utterance goes on, its old audio is gone.
	if n, waiting := tape.Resume(); n != 2 || waiting || tape.Current() != 2 {
		t.Errorf("late Resume: %d, %v", n, waiting)
	}
	for range 100 {
		tape.Finish()
	}
	if n, ok := tape.Finish(); ok || len(tape.Waiting()) != 64 || n != tape.Current() {
		t.Errorf("%d utterances wait", len(tape.Waiting()))
	}
}

func TestTapeDoesNotAllocate(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector allocates")
	}
	tape := inference.NewTape(media.Rate16k)
	frame := make([]int16, 320)
	if n := testing.AllocsPerRun(2000, func() {
		tape.Write(frame)
		if n, _ := tape.Finish(); n%2 == 0 {
			tape.Resume()
		}
		tape.Done(tape.Current())
	}); n != 0 {
		t.Errorf("%v allocations a frame", n)
	}
}

func BenchmarkTapeWrite(b *testing.B) {
	tape := inference.NewTape(media.Rate16k)
	frame := make([]int16, 320)
	for b.Loop() {
		tape.Write(frame)
	}
}

// TestTapeIsAsLargeAsItsAudio: a tape takes no memory for audio that it does not keep.
func TestTapeIsAsLargeAsItsAudio(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	second := make([]int16, media.Rate16k)
	for range 64 {
		inference.NewTape(media.Rate16k).Write(second)
	}
	runtime.ReadMemStats(&after)
	if n := (after.TotalAlloc - before.TotalAlloc) / 64; n > 48<<10 {
		t.Errorf("%d bytes for a second of audio", n)
	}
}
