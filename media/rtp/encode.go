package rtp

import (
	"parley/media"
	"parley/media/codec"
	"parley/media/comfort"
	"parley/media/opus"
)

// frameTicks are the bytes of audio of a packet in all codecs but Opus, which make a byte of each tick of 8 kHz.
const frameTicks = 160

// maxFrameSamples are those of a frame at 16 kHz.
const maxFrameSamples = 320

// floorLevel is how loud the floor is, in dB below overload (dBov): what a quiet telephone line has. Without it, people between two
// sentences take the line for dead; a far end's recogniser does not hear it.
const floorLevel = 66

// encoder makes the payloads of what we say.
type encoder struct {
	plain *codec.Encoder
	opus  *opus.Encoder // nil: the call never has it
	frame int           // samples of one

	floor comfort.Noise // what is heard where the agent says nothing
	quiet [maxFrameSamples]int16

	scratch [maxFrameSamples]int16 // a frame that is made here
}

func (e *encoder) init(rate media.Rate, withOpus bool) (err error) {
	e.plain, e.frame = codec.NewEncoder(rate), rate.FrameSamples()
	e.floor.Set(floorLevel)
	if withOpus {
		e.opus, err = opus.NewEncoder(opus.EncoderConfig{Rate: rate, Complexity: opus.Complexity})
	}
	return err
}

// follow heeds what the far end says of the Opus that it takes.
func (e *encoder) follow(p codec.OpusParams) {
	if e.opus == nil {
		return
	}
	_ = e.opus.Limit(p.Bitrate) // else it stays
	if !p.FEC {
		_ = e.opus.ExpectLoss(0)
	}
}

// audible is a frame, and the floor in place of a silent one.
func (e *encoder) audible(samples []int16) []int16 {
	for _, v := range samples {
		if v != 0 {
			return samples
		}
	}
	e.floor.Fill(e.quiet[:e.frame])
	return e.quiet[:e.frame]
}

// encode writes a payload of samples, and of silence for what they lack of a frame, in the format's codec, and says how long it
// is. lost is the share of packets that is expected to be lost, in percent.
func (e *encoder) encode(payload []byte, f Format, samples []int16, lost int) (n int, err error) {
	if f.Codec != codec.Opus {
		e.plain.Encode(f.Codec, payload[:frameTicks], samples)
		return frameTicks, nil
	}
	if len(samples) != e.frame {
		clear(e.scratch[copy(e.scratch[:e.frame], samples):])
		samples = e.scratch[:e.frame]
	}
	if f.Opus.FEC {
		_ = e.opus.ExpectLoss(lost) // else it expects what it did
	}
	return e.opus.Encode(payload, samples)
}
