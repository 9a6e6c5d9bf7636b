package transcode

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	"parley/media"
	"parley/media/mediatest"
)

// written encodes a tone of half a second, in pieces.
func written(t *testing.T, format Format, rate media.Rate) ([]byte, error) {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, err := Encode(t.Context(), f, format, rate)
	if err != nil {
		return nil, err
	}
	tone := mediatest.Tone(700, rate, int(rate)/2, 0.5)
	for len(tone) > 0 {
		n := min(len(tone), 12345)
		if err := w.Write(tone[:n]); err != nil {
			t.Error(err)
		}
		tone = tone[n:]
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	b, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	return b, nil
}

// TestRoundTrip: what was written is read again, in every format.
func TestRoundTrip(t *testing.T) {
	for _, format := range []Format{WAV, PCM, ULaw, MP3} {
		if format == MP3 && !Available() {
			continue
		}
		for _, rate := range []media.Rate{8000, 24000, 44100} {
			body, err := written(t, format, rate)
			if err != nil {
				t.Errorf("%s %v: %v", format, rate, err)
				continue
			}
			var source Source
			if format == PCM || format == ULaw {
				source = Source{Format: format, Rate: rate}
			}
			c, err := Decode(t.Context(), body, Options{Source: source})
			if err != nil {
				t.Errorf("%s %v: %v", format, rate, err)
				continue
			}
			if c.Rate() != rate {
				t.Errorf("%s %v: it is read as %v", format, rate, c.Rate())
			}
			if d := c.Duration().Seconds(); math.Abs(d-0.5) > 0.15 || format != MP3 && d != 0.5 {
				t.Errorf("%s %v: %.3f s", format, rate, d)
			}
			samples := all(t, c)
			freq, level := mediatest.Peak(samples[rate/10:rate*4/10], rate)
			if math.Abs(freq-700) > 2 || math.Abs(level+9) > 1 {
				t.Errorf("%s %v: %.1f Hz, %.1f dB", format, rate, freq, level)
			}
		}
	}
}

func TestCannotEncode(t *testing.T) {
	for _, tt := range []struct {
		format Format
		rate   media.Rate
	}{{"tape", 8000}, {WAV, 8000}, {PCM, 11025}, {FLAC, 8000}} {
		if w, err := Encode(t.Context(), &bytes.Buffer{}, tt.format, tt.rate); err == nil {
			t.Errorf("%+v: %v", tt, w)
		}
	}
}

// broken takes nothing.
type broken struct{}

var errFull = errors.New("the disk is full")

func (broken) Write([]byte) (int, error) { return 0, errFull }

func TestEncodeFails(t *testing.T) {
	for _, format := range []Format{PCM, ULaw, MP3} {
		if format == MP3 && !Available() {
			continue
		}
		w, err := Encode(t.Context(), broken{}, format, 44100)
		if err != nil {
			t.Fatal(err)
		}
		for range 100 {
			if w.Write(make([]int16, 44100)) != nil {
				break
			}
		}
		if err := w.Close(); !errors.Is(err, errFull) {
			t.Errorf("%s: %v, want %v", format, err, errFull)
		}
	}
}

// TestEncodeCancelled: the end of the context ends the child, and its place is
// free again.
func TestEncodeCancelled(t *testing.T) {
	dir := stand(t, endless)
	why := errors.New("the task was cancelled")
	for range cap(encoders) + 1 {
		ctx, cancel := context.WithCancelCause(t.Context())
		w, err := Encode(ctx, &bytes.Buffer{}, MP3, 44100)
		if err != nil {
			t.Fatal(err)
		}
		awaitChild(t, dir)
		cancel(why)
		for w.Write(make([]int16, 44100)) == nil { // the pipe is full or broken
		}
		if err := w.Close(); !errors.Is(err, why) {
			t.Errorf("%v, want %v", err, why)
		}
		childless(t)
	}
}
