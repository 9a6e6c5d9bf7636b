// Package codec is the codecs of telephone calls over RTP: their names, their payload types, and an Encoder and a Decoder
// of all of them for audio at one rate. So a call keeps its rate when it changes its codec.
//
// All that is here counts RTP time at 8 kHz and makes one byte of each tick.
package codec

import (
	"slices"
	"strings"

	"parley/media"
	"parley/media/g711"
	"parley/media/g722"
)

// Codec is a codec of telephones. Its value is its static RTP payload type (RFC 3551 section 6).
type Codec uint8

// The codecs.
const (
	PCMU       = Codec(g711.PCMU)
	PCMA       = Codec(g711.PCMA)
	G722 Codec = 9
)

// All are all of them, the best first.
func All() []Codec { return []Codec{G722, PCMU, PCMA} }

// Names are those of All, as settings have them.
const Names = "G722, PCMU, PCMA"

// names are the encodings as a=rtpmap has them.
var names = map[Codec]string{G722: "G722", PCMU: "PCMU", PCMA: "PCMA"}

// PayloadType is the static RTP payload type.
func (c Codec) PayloadType() uint8 { return uint8(c) }

// Valid says whether c is one of All.
func (c Codec) Valid() bool { return names[c] != "" }

// Rate is that of the codec's audio.
func (c Codec) Rate() media.Rate {
	if c == G722 {
		return g722.Rate
	}
	return g711.Rate
}

func (c Codec) String() string {
	if n := names[c]; n != "" {
		return n
	}
	return "codec?"
}

// Set is any number of codecs.
type Set uint16

// SetOf is the set of a list.
func SetOf(list ...Codec) (s Set) {
	for _, c := range list {
		s |= 1 << c
	}
	return s
}

// Has says whether c is in the set.
func (s Set) Has(c Codec) bool { return s>>c&1 != 0 }

// Parse reads the name of a codec, in any case.
func Parse(name string) (c Codec, ok bool) {
	for c, own := range names {
		if strings.EqualFold(name, own) {
			return c, true
		}
	}
	return 0, false
}

// ParseList reads names, of which each may stand once.
func ParseList(names []string) (list []Codec, ok bool) {
	for _, name := range names {
		c, ok := Parse(name)
		if !ok || slices.Contains(list, c) {
			return nil, false
		}
		list = append(list, c)
	}
	return list, true
}
