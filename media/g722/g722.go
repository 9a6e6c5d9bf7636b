// Package g722 is the wideband codec of the telephone network (ITU-T G.722) at 64 kbit/s, mode 1:
// speech from 50 Hz to 7 kHz at 16 kHz in as many bits as G.711 takes for half the band. Two samples
// become one byte: a filter splits them into a lower and an upper band of 8 kHz each, of which an
// adaptive differential coder makes 6 and 2 bits.
//
// RTP gives it payload type 9 and, by a mistake of RFC 1890 that RFC 3551 section 4.5.2 keeps, a
// clock of 8 kHz: one tick for each byte.
//
// An Encoder and a Decoder have a memory, so each belongs to one stream. Their zero values are at the
// start of it. They write into slices the caller owns, and never allocate. The arithmetic is the
// Recommendation's, to the bit; names of its blocks stand where they are computed.
//
// Read band.go for how a band is predicted and scaled, split.go for the filters.
package g722

import "parley/media"

// Rate is that of the audio.
const Rate = media.Rate16k

// samplesPerByte is how many samples a byte stands for.
const samplesPerByte = 2

// Encoder encodes one stream.
type Encoder struct {
	split     splitter
	low, high band
}

// Encode writes one byte to dst for each two samples and returns how many it wrote: as many as
// both slices have room for. An odd sample at the end is left out.
func (e *Encoder) Encode(dst []byte, samples []int16) int {
	n := min(len(dst), len(samples)/samplesPerByte)
	for i := range dst[:n] {
		low, high := e.split.split(samples[2*i], samples[2*i+1])
		dst[i] = e.code(low, high)
	}
	return n
}

// code takes a sample of each band, of 15 bits. The upper band's bits are the first (clause 1.4.4).
func (e *Encoder) code(low, high int32) byte {
	return e.high.quantizeHigh(high)<<6 | e.low.quantizeLow(low)
}

// Decoder decodes one stream.
type Decoder struct {
	join      joiner
	low, high band
}

// Decode writes two samples to dst for each byte of codes and returns how many it wrote: as many
// as both slices have room for.
func (d *Decoder) Decode(dst []int16, codes []byte) int {
	n := min(len(dst)/samplesPerByte, len(codes))
	for i, c := range codes[:n] {
		dst[2*i], dst[2*i+1] = d.join.join(d.decode(c))
	}
	return n * samplesPerByte
}

// decode gives a sample of each band, of 15 bits.
func (d *Decoder) decode(code byte) (low, high int32) {
	return d.low.decodeLow(code & 0x3F), d.high.decodeHigh(code >> 6)
}
