// Package g711 is the telephone network's codec (ITU-T G.711): one byte a sample
// at 8 kHz, in the two companding laws that every carrier speaks. It writes into
// slices the caller owns, so it never allocates.
package g711

import (
	"cmp"

	"github.com/zaf/g711"

	"parley/media"
)

// Rate is the only sample rate of the codec.
const Rate = media.Rate8k

// Codec is one of the two laws. Its value is its static RTP payload type
// (RFC 3551 section 6). Both are stateless: one value may serve any number of
// goroutines.
type Codec uint8

// The two laws.
const (
	PCMU Codec = 0 // mu-law: North America, Japan
	PCMA Codec = 8 // A-law: everywhere else
)

// names are the encodings of the laws, as a=rtpmap has them.
var names = map[Codec]string{PCMU: "PCMU", PCMA: "PCMA"}

// String is the encoding name as in an SDP rtpmap.
func (c Codec) String() string { return cmp.Or(names[c], "G711?") }

// Encode writes the code of each sample to dst and returns how many it wrote:
// the shorter of the two lengths.
func (c Codec) Encode(dst []byte, samples []int16) int {
	n := min(len(dst), len(samples))
	dst, samples = dst[:n], samples[:n]
	if c == PCMA {
		for i, s := range samples {
			dst[i] = g711.EncodeAlawFrame(s)
		}
		return n
	}
	for i, s := range samples {
		dst[i] = g711.EncodeUlawFrame(s)
	}
	return n
}

// Decode writes the sample of each code to dst and returns how many it wrote:
// the shorter of the two lengths.
func (c Codec) Decode(dst []int16, codes []byte) int {
	n := min(len(dst), len(codes))
	dst, codes = dst[:n], codes[:n]
	if c == PCMA {
		for i, b := range codes {
			dst[i] = g711.DecodeAlawFrame(b)
		}
		return n
	}
	for i, b := range codes {
		dst[i] = g711.DecodeUlawFrame(b)
	}
	return n
}
