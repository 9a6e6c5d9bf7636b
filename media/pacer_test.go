package media_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"parley/media"
	"parley/media/mediatest"

	"pgregory.net/rapid"
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

const (
	frame   = media.FrameDuration
	margin  = 2 * time.Millisecond   // of a locked pacer, after an arrival
	maxSlew = 100 * time.Microsecond // of its phase, a frame
)

// TestPacerKeepsItsGrid wakes at random times, late or early, and checks that no
// deadline is lost, given twice or moved.
func TestPacerKeepsItsGrid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := media.NewPacer(epoch)
		now, given := epoch, 0
		for _, ms := range rapid.SliceOfN(rapid.IntRange(0, 100), 1, 100).Draw(t, "steps") {
			now = now.Add(time.Duration(ms) * time.Millisecond)
			before, skipped := p.Next(), p.Skipped()
			n := p.Due(now)
			given += n
			switch passed := int(p.Next().Sub(before) / frame); {
			case n > 2:
				t.Fatalf("%d frames at once", n)
			case n == 0 && (passed != 0 || !before.After(now)):
				t.Fatalf("nothing due at %v, deadline %v", now, before)
			case passed != n+int(p.Skipped()-skipped):
				t.Fatalf("%d deadlines passed, %d frames and %d skipped", passed, n, p.Skipped()-skipped)
			case n < 2 && p.Skipped() != skipped:
				t.Fatalf("skipped when only %d were given", n)
			}
			if !p.Next().After(now) || p.Next().Sub(now) > frame && now.After(epoch) {
				t.Fatalf("next deadline %v at %v", p.Next(), now)
			}
			if p.Next().Sub(epoch)%frame != 0 {
				t.Fatalf("deadline %v off the grid", p.Next())
			}
			if p.Due(now) != 0 {
				t.Fatal("due twice at the same time")
			}
		}
		if want := int(now.Sub(epoch)/frame) + 1; given+int(p.Skipped()) != want {
			t.Fatalf("%d given, %d skipped, want %d in all", given, p.Skipped(), want)
		}
	})
}

func TestPacerCatchUp(t *testing.T) {
	for _, c := range []struct {
		name    string
		late    time.Duration
		due     int
		skipped uint64
		next    time.Duration
	}{
		{"early", -time.Nanosecond, 0, 0, 0},
		{"on time", 0, 1, 0, frame},
		{"late", frame - 1, 1, 0, frame},
		{"a frame late", frame, 2, 0, 2 * frame},
		{"two frames late", 2 * frame, 2, 1, 3 * frame},
		{"a minute late", time.Minute, 2, 2999, time.Minute + frame},
	} {
		p := media.NewPacer(epoch)
		if n := p.Due(epoch.Add(c.late)); n != c.due || p.Skipped() != c.skipped || p.Next() != epoch.Add(c.next) {
			t.Errorf("%s: %d due, %d skipped, next in %v", c.name, n, p.Skipped(), p.Next().Sub(epoch))
		}
	}
}

func TestPacerRunsFree(t *testing.T) {
	p := media.NewPacer(epoch)
	for i := range 100_000 { // half an hour
		want := epoch.Add(time.Duration(i) * frame)
		if p.Next() != want || p.Due(want.Add(time.Duration(i%17)*time.Millisecond)) != 1 {
			t.Fatalf("frame %d: next %v, want %v", i, p.Next(), want)
		}
	}
	if p.Skipped() != 0 {
		t.Errorf("%d skipped", p.Skipped())
	}
}

// follow lets p meet n packets, the i-th of which arrives at arrival(i), and gives
// each deadline and the number of packets before it to check. Deadlines must never
// be further from 20 ms apart than a packet may move them.
func follow(t *rapid.T, p *media.Pacer, n int, arrival func(i int) time.Time, check func(i int, deadline time.Time)) {
	last, seen := time.Time{}, 0
	for i := 0; i < n; {
		if at := arrival(i); !at.After(p.Next()) {
			p.Observe(at)
			i++
			seen++
			continue
		}
		deadline := p.Next()
		limit := maxSlew * time.Duration(seen)
		if gap := deadline.Sub(last); !last.IsZero() && (gap < frame-limit || gap > frame+limit) {
			t.Fatalf("packet %d: %v between deadlines, %d packets seen", i, gap, seen)
		}
		if p.Due(deadline) != 1 {
			t.Fatalf("packet %d: not one frame due", i)
		}
		check(i, deadline)
		last, seen = deadline, 0
	}
	if p.Skipped() != 0 {
		t.Fatalf("%d frames skipped", p.Skipped())
	}
}

// phase is how far a deadline is from where it should be, in (-10, 10] ms.
func phase(deadline, arrival time.Time) time.Duration {
	off := deadline.Sub(arrival.Add(margin)) % frame
	switch {
	case off > frame/2:
		off -= frame
	case off <= -frame/2:
		off += frame
	}
	return off
}

// TestPacerLocks: from any phase, to a far end whose clock is up to 500 ppm off,
// the deadlines settle 2 ms after the arrivals within the 100 frames that the
// longest way takes, and then stay.
func TestPacerLocks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first := time.Duration(rapid.IntRange(0, int(frame)).Draw(t, "first arrival"))
		ppm := rapid.IntRange(-500, 500).Draw(t, "ppm")
		step := frame + frame*time.Duration(ppm)/1_000_000
		arrival := func(i int) time.Time { return epoch.Add(first + time.Duration(i)*step) }
		// The drift takes up to 10 of the 100 us that the phase may move a frame.
		const settled = 100*10/9 + 5
		p := media.NewPacer(epoch)
		follow(t, &p, 1000, arrival, func(i int, deadline time.Time) {
			if off := phase(deadline, arrival(i)); i > settled && off.Abs() > 2*maxSlew {
				t.Fatalf("packet %d: %v from the right phase", i, off)
			}
		})
	})
}

// TestPacerStaysUnderJitter: jitter of +-5 ms moves the deadlines by no more than a
// fraction of it.
func TestPacerStaysUnderJitter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const jitter = 5 * time.Millisecond
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		first := time.Duration(rapid.IntRange(0, int(frame)).Draw(t, "first arrival"))
		expected := func(i int) time.Time { return epoch.Add(first + time.Duration(i)*frame) }
		arrivals := make([]time.Time, 3000)
		for i := range arrivals {
			arrivals[i] = expected(i).Add(time.Duration(rng.Int64N(int64(2*jitter))) - jitter)
		}
		// Where the phase begins opposite to the right one, jitter pulls both
		// ways and the lock takes longer.
		const settled = 1500
		p := media.NewPacer(epoch)
		follow(t, &p, len(arrivals), func(i int) time.Time { return arrivals[i] }, func(i int, deadline time.Time) {
			if off := phase(deadline, expected(i)); i > settled && off.Abs() > 3*time.Millisecond {
				t.Fatalf("packet %d: %v from the right phase", i, off)
			}
		})
	})
}

// TestPacerAfterAStall: what a stall costs is skipped, and the phase survives.
func TestPacerAfterAStall(t *testing.T) {
	p := media.NewPacer(epoch)
	arrival := epoch.Add(-margin) // locked from the start
	for range 50 {
		p.Observe(arrival)
		p.Due(p.Next())
		arrival = arrival.Add(frame)
	}
	now := p.Next().Add(333 * time.Millisecond)
	if n := p.Due(now); n != 2 || p.Skipped() != 15 {
		t.Errorf("%d due, %d skipped", n, p.Skipped())
	}
	if off := phase(p.Next(), arrival); off != 0 || p.Next().Sub(now) > frame {
		t.Errorf("next in %v, %v from the right phase", p.Next().Sub(now), off)
	}
}

func TestPacerDoesNotAllocate(t *testing.T) {
	p, now := media.NewPacer(epoch), epoch
	mediatest.NoAllocs(t, func() {
		now = now.Add(frame)
		p.Observe(now)
		p.Due(now)
	})
}

func BenchmarkPacer(b *testing.B) {
	p, now := media.NewPacer(epoch), epoch
	for b.Loop() {
		p.Observe(now)
		p.Due(now)
		now = now.Add(frame)
	}
}

// Two ends that follow each other must not slow each other down: each wants to be
// 2 ms after the other.
func TestPacersThatFollowEachOther(t *testing.T) {
	start := time.Now()
	a, b := media.NewPacer(start), media.NewPacer(start.Add(3*time.Millisecond))
	const frames = 10_000
	for range frames {
		at := a.Next()
		a.Due(at)
		b.Observe(at)
		bt := b.Next()
		b.Due(bt)
		a.Observe(bt)
	}
	took := a.Next().Sub(start)
	if slow := took - frames*media.FrameDuration; slow > 150*time.Millisecond || slow < -150*time.Millisecond {
		t.Errorf("%d frames took %v more than they should", frames, slow)
	}
}
