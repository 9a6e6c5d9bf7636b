package acceptance

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"
	"time"

	"parley/media"
	"parley/media/g711"
)

// wiretap is the speech of one direction of a call as it passed. A nil one hears nothing.
type wiretap struct {
	samples []int16
	first   uint32 // timestamp
	begun   bool
	passed  []passing
}

// passing is the place of a packet's first sample, and when it came by.
type passing struct {
	at   int
	when time.Time
}

func (w *wiretap) note(p []byte, now time.Time) {
	const header = 12 // without more sources or an extension (RFC 3550, section 5.1)
	if w == nil || len(p) <= header || p[0] != 2<<6 || p[1]&0x7f != byte(g711.PCMU) && p[1]&0x7f != byte(g711.PCMA) {
		return
	}
	ts := binary.BigEndian.Uint32(p[4:])
	if !w.begun {
		w.first, w.begun = ts, true
	}
	at, n := int(int32(ts-w.first)), len(p)-header
	if at < 0 || at > len(w.samples)+60*int(media.Rate8k) {
		return
	}
	if at+n > len(w.samples) {
		w.samples = append(w.samples, make([]int16, at+n-len(w.samples))...)
	}
	g711.Codec(p[1]&0x7f).Decode(w.samples[at:at+n], p[header:])
	w.passed = append(w.passed, passing{at, now})
}

// when is the time at which the sample at a place passed, roughly.
func (w *wiretap) when(at int) time.Time {
	for _, p := range w.passed {
		if p.at >= at {
			return p.when
		}
	}
	return w.passed[len(w.passed)-1].when
}

// place is that of the first packet that passed then or later.
func (w *wiretap) place(then time.Time) int {
	for _, p := range w.passed {
		if !p.when.Before(then) {
			return p.at
		}
	}
	return len(w.samples)
}

// lead is the place of the packets that pass less the time since begun, in samples, about
// then. Packets come late and never early, so the greatest within two seconds is the truth.
func (w *wiretap) lead(then, begun time.Time) int {
	most := math.MinInt
	for _, p := range w.passed {
		if p.when.Sub(then).Abs() < 2*time.Second {
			most = max(most, p.at-media.FromDuration(p.when.Sub(begun)).Samples(media.Rate8k))
		}
	}
	return most
}

// checkAligned holds the recording to what passed on the wire. A frame of the caller's
// has been spoken when it passes, and one of the agent's is about to be heard then: what
// is heard and said at the same moment must stand beside each other in the recording.
func checkAligned(t *testing.T, v *visitor, taps [2]*wiretap, words []heardWord, sides [2][]int16) {
	t.Helper()
	const most = 20 * time.Millisecond
	begun, heard := taps[0].passed[0].when, taps[1].samples
	// Of the agent's side: how much later a sample stands there than it was sent.
	type shift struct{ at, by int }
	var right []shift
	said, left, agent := finder{side: taps[0].samples}, finder{side: sides[0]}, finder{side: sides[1]}
	for i := 0; i < len(words); i += 3 {
		from := words[i].from
		if by, ok := agent.lag(heard[from:min(len(heard), from+6000)], from); ok {
			right = append(right, shift{from, by})
		}
	}
	if len(right) == 0 {
		t.Fatal("nothing of what the caller heard is in the recording")
	}
	var apart []time.Duration
	for i, began := range v.begins {
		sent, by, ok := piece(&said, &left, v.clips[i], taps[0].place(began))
		if !ok {
			continue // a telephone on a busy machine has torn it to pieces
		}
		then := taps[0].when(sent)
		at := sent - media.Rate8k.FrameSamples() - taps[0].lead(then, begun) + taps[1].lead(then, begun)
		near := slices.MinFunc(right, func(a, b shift) int { return abs(a.at-at) - abs(b.at-at) })
		if abs(near.at-at) > 10*int(media.Rate8k) {
			continue // the agent had been silent
		}
		off := sent + by - (at + near.by)
		apart = append(apart, time.Duration(off)*time.Second/time.Duration(media.Rate8k))
	}
	t.Logf("%d times when something was said and heard; how much later the recording has what was said: %v", len(apart), apart)
	if 3*len(apart) < len(v.begins) || len(apart) == 0 {
		t.Fatalf("%d times of %d", len(apart), len(v.begins))
	}
	// A machine that is too busy to keep time makes single measurements late, and none early: a recording whose sides
	// are apart has none that is less, and one whose sides drift apart has none in its second half.
	for i, half := range [][]time.Duration{apart[:(len(apart)+1)/2], apart[len(apart)/2:]} {
		half = slices.Sorted(slices.Values(half))
		if e := half[len(half)/4]; e.Abs() > most {
			t.Errorf("in half %d the sides of the recording are %v apart", i+1, e)
		}
	}
}

// piece finds a piece of a clip that was sent from a place on, on the wire and in the
// recording: where the piece was sent, and how much later it stands in the recording.
func piece(wire, recording *finder, clip []int16, from int) (sent, by int, ok bool) {
	const length = 2400
	for at := 0; at+length <= len(clip); at += length / 2 {
		if passed, there := wire.lag(clip[at:at+length], from+at); there {
			sent = from + at + passed
			if by, ok = recording.lag(clip[at:at+length], sent); ok {
				return sent, by, true
			}
		}
	}
	return 0, 0, false
}

// finder finds pieces of sound in a side of a recording.
type finder struct {
	side []int16
	last int // how much later the last one stood there than it was looked for
}

// lag is how much later than at a clip stands in the side; false when nothing there is
// like it. It is looked for where the last one was, then up to 500 ms about that: over
// twenty minutes two telephones that follow each other fall behind the clock by more.
func (f *finder) lag(clip []int16, at int) (int, bool) {
	const near, far = 400, 4000
	by, like := f.search(clip, at, f.last-near, f.last+near)
	if like < alike {
		by, like = f.search(clip[:min(len(clip), 4000)], at, f.last-far, f.last+far)
	}
	if like < alike {
		return 0, false
	}
	f.last = by
	return by, true
}

// alike is the correlation from which on two pieces of sound are the same.
const alike = 0.8

// search compares the clip with each place. These are a thousand million steps, of samples that
// nothing else touches any more.
//
//go:norace
func (f *finder) search(clip []int16, at, from, to int) (where int, like float64) {
	own := 1.0
	for _, a := range clip {
		own += float64(a) * float64(a)
	}
	for d := from; d <= to; d++ {
		if at+d < 0 || at+d+len(clip) > len(f.side) {
			continue
		}
		cross, power := 0.0, 1.0
		for i, b := range f.side[at+d : at+d+len(clip)] {
			cross += float64(clip[i]) * float64(b)
			power += float64(b) * float64(b)
		}
		if c := cross / math.Sqrt(power*own); c > like {
			where, like = d, c
		}
	}
	return where, like
}

func abs(n int) int { return max(n, -n) }
