package wav

import (
	"bytes"
	"slices"
	"testing"

	"parley/media"

	"pgregory.net/rapid"
)

// TestParseIsDecode: Parse takes what Decode takes, and gives the same samples in
// whatever pieces they are read.
func TestParseIsDecode(t *testing.T) {
	formats := [][]byte{
		format(tagPCM, 1, 8000, 8), format(tagPCM, 1, 8000, 16), format(tagPCM, 2, 8000, 24), format(tagPCM, 3, 44100, 32),
		format(tagFloat, 1, 8000, 32), format(tagFloat, 2, 8000, 64), format(tagALaw, 1, 8000, 8), extensible(tagMuLaw, 2, 8000, 8),
		format(tagPCM, 1, 8000, 12), format(2, 1, 8000, 4), format(tagPCM, 0, 8000, 16), {1, 2, 3},
	}
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "data")
		b := file(chunk("LIST", []byte("odd")), chunk("fmt ", rapid.SampledFrom(formats).Draw(t, "format")), chunk("data", data))
		b = b[:len(b)-rapid.IntRange(0, len(b)).Draw(t, "cut")]
		clip, wrong := Decode(bytes.NewReader(b), noLimit)
		audio, err := Parse(b)
		if (err == nil) != (wrong == nil) || err != nil && err.Error() != wrong.Error() {
			t.Fatalf("%v, want %v", err, wrong)
		}
		if err != nil {
			return
		}
		if audio.Rate != clip.Rate || audio.Samples() != len(clip.Samples) {
			t.Fatalf("%d at %v, want %d at %v", audio.Samples(), audio.Rate, len(clip.Samples), clip.Rate)
		}
		first := rapid.IntRange(0, len(clip.Samples)+1).Draw(t, "first")
		got := make([]int16, rapid.IntRange(0, 300).Draw(t, "length"))
		want := clip.Samples[min(first, len(clip.Samples)):]
		want = want[:min(len(want), len(got))]
		if n := audio.ReadAt(got, first); !slices.Equal(got[:n], want) {
			t.Fatalf("%v, want %v", got[:n], want)
		}
	})
}

// TestWriteHeader: a header and the samples are the file that Encode writes.
func TestWriteHeader(t *testing.T) {
	clip := Clip{Samples: []int16{1, -2, 300}, Rate: media.Rate24k}
	var want, got bytes.Buffer
	if err := Encode(&want, clip); err != nil {
		t.Fatal(err)
	}
	if err := WriteHeader(&got, clip.Rate, int64(len(clip.Samples))); err != nil {
		t.Fatal(err)
	}
	if got.Len() != HeaderSize || !bytes.Equal(append(got.Bytes(), 1, 0, 0xFE, 0xFF, 0x2C, 1), want.Bytes()) {
		t.Errorf("% x", got.Bytes())
	}
	if err := WriteHeader(&got, clip.Rate, 1<<32); err != ErrTooLarge {
		t.Errorf("%v, want %v", err, ErrTooLarge)
	}
}
