package record

import (
	"bufio"
	"encoding/binary"
	"io"
)

// MaxPeaks is how many points the waveform of a side has at most: what a screen is
// wide, whatever the recording is long.
const MaxPeaks = 1200

// Peaks is the waveform of a raw recording of size bytes: of each side how loud it was
// at most in each of equal parts of the time, 0 to 255 for full scale, first the
// caller's and then as many of the other. A last sample that is cut off is not counted.
func Peaks(r io.Reader, size int64) ([]byte, error) {
	const pair = 2 * Channels
	samples := size / pair
	n := min(samples, MaxPeaks)
	out := make([]byte, n*Channels)
	in := bufio.NewReaderSize(r, 64<<10)
	var b [pair]byte
	for at := range n {
		var top [Channels]int
		for range (at+1)*samples/n - at*samples/n {
			if _, err := io.ReadFull(in, b[:]); err != nil {
				return nil, err
			}
			for c := range top {
				top[c] = max(top[c], loudness(b[2*c:]))
			}
		}
		for c := range top {
			out[int64(c)*n+at] = byte(top[c] >> 7)
		}
	}
	return out, nil
}

// loudness is a sample without its sign, 32,767 at most.
func loudness(b []byte) int {
	v := int(int16(binary.LittleEndian.Uint16(b)))
	return min(max(v, -v), 1<<15-1)
}
