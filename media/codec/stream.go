package codec

import (
	"parley/media"
	"parley/media/g711"
	"parley/media/g722"
	"parley/media/resample"
)

// Longest is the most bytes, and ticks, of one packet: 60 ms.
const Longest = 480

// stream is what both directions of a stream need: audio at the other one of the two rates, for codecs that have it.
type stream struct {
	rate  media.Rate // of the audio
	conv  *resample.Pieces
	coded [2 * Longest]int16 // audio at the codec's rate
}

// samples is how many of a rate n ticks have.
func samples(rate media.Rate, n int) int { return n * int(rate/media.Rate8k) }

// other is the one of the two rates that rate is not.
func other(rate media.Rate) media.Rate { return media.Rate8k + media.Rate16k - rate }

// Encoder encodes the audio of a call. It belongs to one goroutine and does not allocate.
type Encoder struct {
	stream
	wide  g722.Encoder
	whole [2 * Longest]int16
}

// NewEncoder is for audio at 8 or 16 kHz.
func NewEncoder(rate media.Rate) *Encoder {
	return &Encoder{stream: stream{rate: rate, conv: resample.NewPieces(rate, other(rate))}}
}

// Encode fills payload, of Longest bytes at most, and ends in silence where the audio is too short.
func (e *Encoder) Encode(c Codec, payload []byte, audio []int16) {
	whole := e.whole[:samples(e.rate, len(payload))]
	clear(whole[copy(whole, audio):])
	if c.Rate() != e.rate {
		coded := e.coded[:samples(c.Rate(), len(payload))]
		e.conv.Convert(coded, whole)
		whole = coded
	}
	if c == G722 {
		e.wide.Encode(payload, whole)
		return
	}
	g711.Codec(c).Encode(payload, whole)
}

// Decoder decodes the audio of a call, of which each packet says its codec. It belongs to one goroutine and does not
// allocate.
type Decoder struct {
	stream
	wide g722.Decoder
}

// NewDecoder is for audio at 8 or 16 kHz.
func NewDecoder(rate media.Rate) *Decoder {
	return &Decoder{stream: stream{rate: rate, conv: resample.NewPieces(other(rate), rate)}}
}

// Decode fills dst from a payload of Longest bytes at most, of a payload type that is Valid. dst is as long as the
// time of it.
func (d *Decoder) Decode(dst []int16, payloadType uint8, payload []byte) {
	c, out := Codec(payloadType), dst
	if c.Rate() != d.rate {
		out = d.coded[:samples(c.Rate(), len(payload))]
	}
	if c == G722 {
		d.wide.Decode(out, payload)
	} else {
		g711.Codec(c).Decode(out, payload)
	}
	if c.Rate() != d.rate {
		d.conv.Convert(dst, out)
	}
}
