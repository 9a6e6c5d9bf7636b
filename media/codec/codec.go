// Package codec is the codecs of telephone calls over RTP: their names, their payload types, and an Encoder and a Decoder
// for audio at one rate, of all but Opus. So a call keeps its rate when it changes its codec.
//
// What is encoded and decoded here counts RTP time at 8 kHz and makes one byte of each tick. Opus, whose packets are of any
// size and fill gaps by themselves, is encoded and decoded by media/opus.
package codec

import (
	"slices"
	"strings"

	"parley/media"
	"parley/media/g711"
	"parley/media/g722"
	"parley/media/opus"
)

// Codec is a codec of telephones. Its value is its static RTP payload type (RFC 3551 section 6), but for Opus, which has none.
type Codec uint8

// The codecs.
const (
	PCMU       = Codec(g711.PCMU)
	PCMA       = Codec(g711.PCMA)
	G722 Codec = 9
	// Opus is no payload type that a packet could have: they have 7 bits.
	Opus Codec = 0x8F
)

// Default are the codecs of calls for which nobody has chosen any, the best first. Opus is not among them: a call in it takes twice the
// processor time of one in PCMU, carriers have none, and its parameters make offers longer.
func Default() []Codec { return []Codec{G722, PCMU, PCMA} }

// Names are those of all of them, as settings have them.
const Names = "Opus, G722, PCMU, PCMA"

var all = [...]Codec{Opus, G722, PCMU, PCMA}

// PayloadType is the static RTP payload type. Opus has none.
func (c Codec) PayloadType() uint8 { return uint8(c) }

// Valid says whether c is a codec.
func (c Codec) Valid() bool { return slices.Contains(all[:], c) }

// Rate is that of the codec's audio.
func (c Codec) Rate() media.Rate {
	switch c {
	case G722:
		return g722.Rate
	case Opus:
		return media.Rate16k // of any; recognisers take this one
	}
	return g711.Rate
}

// Clock is how many RTP timestamps a second of it has. That of G.722 is a mistake of RFC 1890 which RFC 3551 section 4.5.2 keeps.
func (c Codec) Clock() int {
	if c == Opus {
		return opus.ClockRate
	}
	return int(media.Rate8k)
}

func (c Codec) String() string {
	switch c {
	case Opus:
		return "Opus"
	case G722:
		return "G722"
	case PCMU:
		return "PCMU"
	case PCMA:
		return "PCMA"
	}
	return "codec?"
}

// Set is any number of codecs.
type Set uint16

// bit is that of a codec in a Set: the last four bits of all codecs differ.
func (c Codec) bit() Set { return 1 << (c & 15) }

// SetOf is the set of a list.
func SetOf(list ...Codec) (s Set) {
	for _, c := range list {
		s |= c.bit()
	}
	return s
}

// Has says whether c is in the set.
func (s Set) Has(c Codec) bool { return c.Valid() && s&c.bit() != 0 }

// Parse reads the name of a codec, in any case. A program without an encoder of Opus does not know it.
func Parse(name string) (c Codec, ok bool) {
	for _, c := range all {
		if strings.EqualFold(name, c.String()) {
			return c, c != Opus || opus.Encodes
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
