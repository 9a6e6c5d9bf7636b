package record

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// raw is a recording whose sides are given by functions of the sample.
func raw(samples int, left, right func(int) int16) []byte {
	var b []byte
	for i := range samples {
		b = binary.LittleEndian.AppendUint16(b, uint16(left(i)))
		b = binary.LittleEndian.AppendUint16(b, uint16(right(i)))
	}
	return b
}

// The loudest sample of each part is in the waveform, at its place and on its side.
func TestPeaks(t *testing.T) {
	const samples = 10*MaxPeaks + 7
	at := map[int]int16{0: 32767, 777: -32768, samples / 2: 12800, samples - 1: -128}
	b := raw(samples, func(i int) int16 { return at[i] }, func(i int) int16 { return 256 })
	peaks, err := Peaks(bytes.NewReader(append(b, 1, 2, 3)), int64(len(b)+3))
	if err != nil || len(peaks) != 2*MaxPeaks {
		t.Fatalf("%d, %v", len(peaks), err)
	}
	want := make([]byte, MaxPeaks)
	for i, v := range map[int]byte{0: 255, 777: 255, samples / 2: 100, samples - 1: 1} {
		want[(i*MaxPeaks+MaxPeaks-1)/samples] = v // the part that has sample i
	}
	if !bytes.Equal(peaks[:MaxPeaks], want) {
		t.Errorf("the caller's side is %v", peaks[:MaxPeaks])
	}
	if !bytes.Equal(peaks[MaxPeaks:], bytes.Repeat([]byte{2}, MaxPeaks)) {
		t.Errorf("the other side is %v", peaks[MaxPeaks:])
	}
}

// A short recording has as many points as samples, an empty one none, and one that
// breaks off is an error.
func TestPeaksOfLittle(t *testing.T) {
	b := raw(3, func(i int) int16 { return int16(i) << 7 }, func(int) int16 { return 0 })
	for size, want := range map[int64]string{0: "", 3: "", 4: "\x00\x00", 12: "\x00\x01\x02\x00\x00\x00"} {
		if peaks, err := Peaks(bytes.NewReader(b), size); err != nil || string(peaks) != want {
			t.Errorf("%d bytes: %q, %v", size, peaks, err)
		}
	}
	if _, err := Peaks(bytes.NewReader(b), 16); err == nil {
		t.Error("four samples of three")
	}
}
