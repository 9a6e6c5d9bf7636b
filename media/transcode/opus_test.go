package transcode_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"parley/media"
	"parley/media/mediatest"
	"parley/media/transcode"
	"parley/media/wav"
)

// twoTones is a second of raw PCM: 1000 Hz on the left, 400 Hz on the right.
func twoTones() []byte {
	left, right := mediatest.Tone(1000, media.Rate16k, 16000, 0.3), mediatest.Tone(400, media.Rate16k, 16000, 0.3)
	var raw []byte
	for i := range left {
		raw = binary.LittleEndian.AppendUint16(raw, uint16(left[i]))
		raw = binary.LittleEndian.AppendUint16(raw, uint16(right[i]))
	}
	return raw
}

func wavFile(t *testing.T) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "x.wav"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// channels are those of a stereo WAV file, behind its header.
func channels(t *testing.T, f *os.File) (left, right []int16) {
	t.Helper()
	b, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	all := make([]int16, (len(b)-wav.HeaderSize)/2)
	if _, err := binary.Decode(b[wav.HeaderSize:], binary.LittleEndian, all); err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(all); i += 2 {
		left, right = append(left, all[i]), append(right, all[i+1])
	}
	return left, right
}

// TestOpusAndBack keeps both channels, apart and as long as they were.
func TestOpusAndBack(t *testing.T) {
	if !transcode.Available() {
		t.Skip("there is no ffmpeg")
	}
	raw := twoTones()
	var ogg bytes.Buffer
	if err := transcode.Opus(t.Context(), &ogg, bytes.NewReader(raw), media.Rate16k, 2); err != nil {
		t.Fatal(err)
	}
	if got := transcode.Sniff(ogg.Bytes()); got != transcode.Ogg || ogg.Len() > len(raw)/5 {
		t.Errorf("%d bytes of %q", ogg.Len(), got)
	}
	f := wavFile(t)
	if err := transcode.OpusToWAV(t.Context(), f, &ogg, media.Rate16k, 2); err != nil {
		t.Fatal(err)
	}
	left, right := channels(t, f)
	if n := len(left); n < 15900 || n > 16400 {
		t.Errorf("%d samples came back of 16000", n)
	}
	for _, c := range []struct {
		samples []int16
		own     float64
		other   float64
	}{{left, 1000, 400}, {right, 400, 1000}} {
		middle := c.samples[4000:12000]
		own, other := mediatest.ToneLevel(middle, media.Rate16k, c.own), mediatest.ToneLevel(middle, media.Rate16k, c.other)
		if own < -16 || own-other < 20 {
			t.Errorf("the tone of %v Hz has %.0f dBFS, the other channel's %.0f", c.own, own, other)
		}
	}
}

func TestRawToWAV(t *testing.T) {
	f := wavFile(t)
	raw := twoTones()
	if err := transcode.RawToWAV(f, bytes.NewReader(raw), media.Rate16k, 2); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(f.Name()); err != nil || !bytes.Equal(b[wav.HeaderSize:], raw) {
		t.Errorf("the samples are not what they were, %v", err)
	}
}

// TestOpusIsStopped with its context, and says so when w takes no more.
func TestOpusIsStopped(t *testing.T) {
	if !transcode.Available() {
		t.Skip("there is no ffmpeg")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := transcode.Opus(ctx, &bytes.Buffer{}, bytes.NewReader(twoTones()), media.Rate16k, 2); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if err := transcode.Opus(t.Context(), broken{}, bytes.NewReader(twoTones()), media.Rate16k, 2); !errors.Is(err, errBroken) {
		t.Errorf("a full disk: %v", err)
	}
}

var errBroken = errors.New("no space left on device")

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errBroken }
