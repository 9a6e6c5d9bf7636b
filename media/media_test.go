package media_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"testing"
	"time"

	"parley/media"
	"parley/media/mediatest"

	"pgregory.net/rapid"
)

var rates = []media.Rate{
	media.Rate8k, media.Rate16k, media.Rate22k, media.Rate24k, media.Rate44k, media.Rate48k,
}

func TestRatesAreExact(t *testing.T) {
	samples := map[media.Rate]int{8000: 160, 16000: 320, 22050: 441, 24000: 480, 44100: 882, 48000: 960}
	for _, r := range rates {
		if !r.Valid() {
			t.Errorf("%v is not valid", r)
		}
		if r.FrameSamples() != samples[r] || r.FrameSamples() > media.MaxFrameSamples {
			t.Errorf("%v: %d samples in a frame, want %d", r, r.FrameSamples(), samples[r])
		}
		if r.Tick()*media.Time(r) != media.Second {
			t.Errorf("%v: a tick of %d units does not divide a second", r, r.Tick())
		}
		if r.Duration(r.FrameSamples()) != media.FrameTime {
			t.Errorf("%v: a frame is %d units, want %d", r, r.Duration(r.FrameSamples()), media.FrameTime)
		}
	}
	for _, r := range []media.Rate{0, -8000, 7999, 8001, 11025, 32000, 96000, math.MaxInt32} {
		if r.Valid() {
			t.Errorf("%v is valid", r)
		}
	}
}

func TestFrameTimeIsFrameDuration(t *testing.T) {
	if got := media.FrameTime.Duration(); got != media.FrameDuration {
		t.Errorf("%v, want %v", got, media.FrameDuration)
	}
	if got := media.FromDuration(media.FrameDuration); got != media.FrameTime {
		t.Errorf("%d units, want %d", got, media.FrameTime)
	}
	if 1000*media.Millisecond != media.Second {
		t.Error("a millisecond is not exact")
	}
}

// TestSamplesRoundTrip: samples to time and back is exact for a century of audio,
// and time that is not a whole number of samples is cut down.
func TestSamplesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rapid.SampledFrom(rates).Draw(t, "rate")
		n := rapid.IntRange(0, 100*365*86400*48000).Draw(t, "n")
		extra := rapid.Int64Range(0, int64(r.Tick())-1).Draw(t, "extra")
		if got := (r.Duration(n) + media.Time(extra)).Samples(r); got != n {
			t.Fatalf("%d samples at %v become %d", n, r, got)
		}
	})
}

// scaled is a*b/c rounded toward zero, without overflow.
func scaled(a, b, c int64) int64 {
	x := new(big.Int).Mul(big.NewInt(a), big.NewInt(b))
	return x.Quo(x, big.NewInt(c)).Int64()
}

func TestDurationsAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.Int64().Draw(t, "nanoseconds")
		want := scaled(d, int64(media.Second), int64(time.Second))
		if got := media.FromDuration(time.Duration(d)); got != media.Time(want) {
			t.Fatalf("%d ns are %d units, want %d", d, got, want)
		}
	})
	// As far as a time.Duration reaches: 292 years.
	most := scaled(math.MaxInt64, int64(media.Second), int64(time.Second))
	rapid.Check(t, func(t *rapid.T) {
		u := rapid.Int64Range(-most, most).Draw(t, "units")
		want := scaled(u, int64(time.Second), int64(media.Second))
		if got := media.Time(u).Duration(); got != time.Duration(want) {
			t.Fatalf("%d units are %d ns, want %d", u, got, want)
		}
		if got, want := media.Time(u).Milliseconds(), scaled(u, 1000, int64(media.Second)); got != want {
			t.Fatalf("%d units are %d ms, want %d", u, got, want)
		}
	})
}

func TestMillisecondsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Range(-1e9, 1e9).Draw(t, "ms")) * time.Millisecond
		if got := media.FromDuration(d); got.Duration() != d || got.Milliseconds() != d.Milliseconds() {
			t.Fatalf("%v becomes %v, %d ms", d, got.Duration(), got.Milliseconds())
		}
	})
}

func TestConversionsDoNotAllocate(t *testing.T) {
	n := 0
	mediatest.NoAllocs(t, func() {
		n += media.FromDuration(time.Duration(n)).Samples(media.Rate16k) + media.Rate44k.FrameSamples()
	})
}

func TestEndedAsCause(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(fmt.Errorf("call 7: %w", &media.Ended{Reason: media.MaxDuration, Detail: "3600 s"}))
	ended, ok := errors.AsType[*media.Ended](context.Cause(ctx))
	if !ok || ended.Reason != media.MaxDuration || ended.Error() != "max_duration: 3600 s" {
		t.Errorf("got %v", context.Cause(ctx))
	}
	if got := (&media.Ended{Reason: media.Busy}).Error(); got != "busy" {
		t.Errorf("without a detail: %q", got)
	}
}

func ExampleRate_Duration() {
	fmt.Println(media.Rate44k.Duration(882) == media.FrameTime, media.Rate22k.Duration(22050).Duration())
	// Output: true 1s
}
