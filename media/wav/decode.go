package wav

import (
	"encoding/binary"
	"io"
	"math"

	"parley/media"

	"github.com/zaf/g711"
)

// What a file may say of itself. A rate outside is a broken header.
const (
	minRate     = 1000
	maxRate     = 384000
	maxChannels = 32
)

// layout is what the fmt chunk says.
type layout struct {
	tag      int
	channels int
	rate     media.Rate
	bytes    int // of one sample of one channel
}

// Decode reads a WAV file of at most limit bytes, all of which it keeps in memory. Channels are
// averaged. Chunks that are neither fmt nor data are skipped; a file that ends early, or whose
// writer did not know its length, gives the whole samples that are there. The error is a
// *FormatError, ErrTooLarge or that of r.
func Decode(r io.Reader, limit int64) (Clip, error) {
	file, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return Clip{}, err
	}
	if int64(len(file)) > limit {
		return Clip{}, ErrTooLarge
	}
	audio, err := Parse(file)
	if err != nil {
		return Clip{}, err
	}
	clip := Clip{Rate: audio.Rate, Samples: make([]int16, audio.Samples())}
	audio.ReadAt(clip.Samples, 0)
	return clip, nil
}

// Header is what a file says of its audio before it.
type Header struct {
	Rate  media.Rate // not always a rate of a call
	Plain bool       // 16-bit PCM in one channel
	Bytes int64      // of samples; 0, or some 4 GiB: the writer did not know
}

// ReadHeader reads up to the first sample. Errors are a *FormatError or r's.
func ReadHeader(r io.Reader) (Header, error) {
	fm, size, err := findAudio(r)
	return Header{Rate: fm.rate, Plain: fm == layout{tagPCM, 1, fm.rate, 2}, Bytes: size}, err
}

// findAudio reads up to the first sample and says how many bytes of them there
// should be.
func findAudio(r io.Reader) (layout, int64, error) {
	var head [12]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return layout{}, 0, err
	}
	if string(head[:4]) != "RIFF" || string(head[8:]) != "WAVE" {
		return layout{}, 0, malformed("it does not begin with a RIFF WAVE header")
	}
	riff := binary.LittleEndian.Uint32(head[4:])
	var fm layout
	for {
		var chunk [8]byte
		if _, err := io.ReadFull(r, chunk[:]); err != nil {
			return layout{}, 0, err
		}
		size := int64(binary.LittleEndian.Uint32(chunk[4:]))
		switch string(chunk[:4]) {
		case "fmt ":
			var err error
			if fm, err = readLayout(r, size); err != nil {
				return layout{}, 0, err
			}
		case "data":
			if fm.rate == 0 {
				return layout{}, 0, malformed("no fmt chunk before its audio")
			}
			if size == 0 && (riff <= HeaderSize-8 || riff == unknownSize) {
				size = unknownSize // of a writer that could not seek back
			}
			return fm, size, nil
		default:
			if _, err := io.CopyN(io.Discard, r, size+size%2); err != nil {
				return layout{}, 0, err
			}
		}
	}
}

func readLayout(r io.Reader, size int64) (layout, error) {
	if size < 16 {
		return layout{}, malformed("a fmt chunk of %d bytes", size)
	}
	var b [40]byte // all of the extensible format
	n := min(size, int64(len(b)))
	if _, err := io.ReadFull(r, b[:n]); err != nil {
		return layout{}, err
	}
	if _, err := io.CopyN(io.Discard, r, size-n+size%2); err != nil {
		return layout{}, err
	}
	fm := layout{
		tag:      int(binary.LittleEndian.Uint16(b[0:])),
		channels: int(binary.LittleEndian.Uint16(b[2:])),
	}
	rate := binary.LittleEndian.Uint32(b[4:])
	bits := int(binary.LittleEndian.Uint16(b[14:]))
	if fm.tag == tagExtensible && n == int64(len(b)) {
		fm.tag = int(binary.LittleEndian.Uint16(b[24:]))
	}
	if rate < minRate || rate > maxRate {
		return layout{}, malformed("%d samples a second", rate)
	}
	if fm.channels < 1 || fm.channels > maxChannels {
		return layout{}, malformed("%d channels", fm.channels)
	}
	fm.rate, fm.bytes = media.Rate(rate), bits/8
	if readers[encoding{fm.tag, bits}] == nil {
		err := malformed("encoding %d with %d bits a sample", fm.tag, bits)
		err.Encoding = fm.tag
		return layout{}, err
	}
	return fm, nil
}

type encoding struct{ tag, bits int }

// readers turn the first sample in b into 16 bits. Wider samples lose their low
// bits by rounding.
var readers = map[encoding]func(b []byte) int32{
	{tagPCM, 8}:    func(b []byte) int32 { return (int32(b[0]) - 128) << 8 },
	{tagPCM, 16}:   func(b []byte) int32 { return int32(int16(binary.LittleEndian.Uint16(b))) },
	{tagPCM, 24}:   func(b []byte) int32 { return round16(int32(b[0])<<8 | int32(b[1])<<16 | int32(b[2])<<24) },
	{tagPCM, 32}:   func(b []byte) int32 { return round16(int32(binary.LittleEndian.Uint32(b))) },
	{tagFloat, 32}: func(b []byte) int32 { return fromFloat(float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))) },
	{tagFloat, 64}: func(b []byte) int32 { return fromFloat(math.Float64frombits(binary.LittleEndian.Uint64(b))) },
	{tagALaw, 8}:   func(b []byte) int32 { return int32(g711.DecodeAlawFrame(b[0])) },
	{tagMuLaw, 8}:  func(b []byte) int32 { return int32(g711.DecodeUlawFrame(b[0])) },
}

// round16 rounds a 32-bit sample to 16 bits and saturates.
func round16(v int32) int32 { return min(int32((int64(v)+1<<15)>>16), math.MaxInt16) }

// fromFloat takes full scale as 1 and what is not a number as silence.
func fromFloat(v float64) int32 {
	x := v * 32768
	if math.IsNaN(x) {
		return 0
	}
	return int32(math.Round(max(math.MinInt16, min(x, math.MaxInt16))))
}

// mix appends to dst the mean of the channels for each whole sample in b.
func (fm layout) mix(dst []int16, b []byte) []int16 {
	step := fm.bytes * fm.channels
	read := readers[encoding{fm.tag, 8 * fm.bytes}]
	for ; len(b) >= step; b = b[step:] {
		sum := int32(0)
		for c := 0; c < step; c += fm.bytes {
			sum += read(b[c:])
		}
		dst = append(dst, int16(sum/int32(fm.channels)))
	}
	return dst
}
