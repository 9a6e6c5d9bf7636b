package simulated_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"strings"
	"testing"
	"time"

	"parley/media"
	"parley/media/mediatest"
	"parley/sip"
	"parley/sip/simulated"
)

// network runs a carrier whose people speak in tones: 500 Hz for "Hello?", 900 Hz
// for machines, 700 Hz for all else.
func network(t *testing.T) *simulated.Carrier {
	t.Helper()
	c, err := simulated.NewCarrier(simulated.CarrierConfig{Listen: netip.AddrPortFrom(loopback, 0),
		Voice: func(_ context.Context, text string) ([]int16, error) {
			hz := 700.0
			switch {
			case text == "Hello?":
				hz = 500
			case strings.Contains(text, "voicemail"):
				hz = 900
			}
			return mediatest.Tone(hz, media.Rate8k, 4000, 0.3), nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return c
}

// call dials a number that ends in the two digits.
func call(t *testing.T, c *simulated.Carrier, digits string, cfg simulated.PhoneConfig) (*simulated.PhoneResult, error) {
	t.Helper()
	cfg.URI = fmt.Sprintf("sip:+120255501%s@%s", digits, c.Addr())
	return simulated.Call(t.Context(), cfg)
}

// hears says whether a tone sounds somewhere for 100 ms.
func hears(samples []int16, freq float64) bool {
	for ; len(samples) >= 800; samples = samples[400:] {
		if got, level := mediatest.Peak(samples[:800], media.Rate8k); math.Abs(got-freq) < 10 && level > -17 {
			return true
		}
	}
	return false
}

func TestCarrierRefuses(t *testing.T) {
	t.Parallel()
	c := network(t)
	for digits, want := range map[string]int{"01": 486, "03": 603, "09": 404} {
		_, err := call(t, c, digits, simulated.PhoneConfig{})
		if refused, ok := errors.AsType[*sip.NotAnswered](err); !ok || refused.Code != want {
			t.Errorf("%s: %v, want %d", digits, err, want)
		}
	}
}

func TestCarrierRingsForEver(t *testing.T) {
	t.Parallel()
	rang := 0
	_, err := call(t, network(t), "02", simulated.PhoneConfig{RingTimeout: time.Second, Ringing: func(code int) { rang = code }})
	if _, ok := errors.AsType[*sip.NotAnswered](err); !ok || rang != 180 {
		t.Errorf("%v, after %d", err, rang)
	}
}

// TestCarrierAnswers: people answer, hear the caller out, go on and hang up.
func TestCarrierAnswers(t *testing.T) {
	t.Parallel()
	c := network(t)
	for digits, ring := range map[string]time.Duration{"00": 0, "05": 3 * time.Second, "42": time.Second} {
		t.Run(digits, func(t *testing.T) {
			t.Parallel()
			r, err := call(t, c, digits, simulated.PhoneConfig{Play: mediatest.Tone(440, media.Rate8k, 8000, 0.3), Wait: time.Minute})
			if err != nil {
				t.Fatal(err)
			}
			if r.Ring < ring || !r.FarEnd {
				t.Errorf("answered after %v, ended by them: %t", r.Ring, r.FarEnd)
			}
			if !hears(r.Heard, 500) {
				t.Error("nobody said hello")
			}
			if !hears(r.Heard, 700) {
				t.Error("they never went on")
			}
		})
	}
}

func TestCarrierFaults(t *testing.T) {
	t.Parallel()
	c := network(t)
	t.Run("drops", func(t *testing.T) {
		t.Parallel()
		r, err := call(t, c, "06", simulated.PhoneConfig{Wait: time.Minute})
		if err != nil || !r.FarEnd || len(r.Heard) < 4*8000 {
			t.Errorf("%v", err)
		}
	})
	t.Run("one way", func(t *testing.T) {
		t.Parallel()
		r, err := call(t, c, "07", simulated.PhoneConfig{Play: make([]int16, 8000), Wait: 100 * time.Millisecond})
		if err != nil || r.Stats.Received != 0 {
			t.Errorf("%v", err)
		}
	})
	t.Run("machine", func(t *testing.T) {
		t.Parallel()
		r, err := call(t, c, "04", simulated.PhoneConfig{Wait: 3 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		if !hears(r.Heard, 900) || !hears(r.Heard, 1000) {
			t.Errorf("greeting %t, beep %t", hears(r.Heard, 900), hears(r.Heard, 1000))
		}
	})
}

func TestCarrierIsOnLoopbackOnly(t *testing.T) {
	_, err := simulated.NewCarrier(simulated.CarrierConfig{Listen: netip.MustParseAddrPort("0.0.0.0:0")})
	if !errors.Is(err, simulated.ErrLoopback) {
		t.Error(err)
	}
}

// TestCarrierPlaysBeforeTheAnswer: what is played before the answer is told by a 183, and
// is no part of the call.
func TestCarrierPlaysBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	var rang []int
	r, err := call(t, network(t), "08", simulated.PhoneConfig{Play: mediatest.Tone(440, media.Rate8k, 8000, 0.3), Wait: 3 * time.Second,
		Ringing: func(code int) { rang = append(rang, code) }})
	if err != nil {
		t.Fatal(err)
	}
	if len(rang) != 1 || rang[0] != 183 || r.Ring < 3*time.Second {
		t.Errorf("told of %d, answered after %v", rang, r.Ring)
	}
	if !hears(r.Heard, 500) {
		t.Error("nobody said hello")
	}
	if hears(r.Heard, 300) {
		t.Error("what was played before the answer is heard after it")
	}
}
