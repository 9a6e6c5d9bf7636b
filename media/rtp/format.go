package rtp

import (
	"errors"
	"time"

	"parley/media"
	"parley/media/codec"
	"parley/media/dtmf"
	"parley/media/jitter"
	"parley/media/opus"
	"parley/media/quality"
	"parley/media/stream"
)

var (
	errFormat = errors.New("the codec must be one of telephones, and the payload types of Opus and of events their own, below 128, and not look like RTCP")
	errRate   = errors.New("the rate must be 8 or 16 kHz")
)

// Format is what the payloads of a session are. All that a session knows of codecs is in this
// file and encode.go, and the decoders that New gives to its jitter buffer.
type Format struct {
	Codec codec.Codec      // of what we send, under its static payload type where it has one
	Takes codec.Set        // what the far end may send besides
	Opus  codec.OpusParams // of calls that have it
	// Events is the payload type of telephone events; 0: none. Their durations count 8 kHz, or with FastEvents 48 kHz, their
	// timestamps the clock of the audio (RFC 4733 section 2.1).
	Events     uint8
	FastEvents bool
}

func (f Format) check() error {
	hasOpus := f.has(codec.Opus)
	if !f.Codec.Valid() || hasOpus && (f.Opus.Type == 0 || f.Opus.Type == f.Events) || !free(f.Events) || hasOpus && !free(f.Opus.Type) {
		return errFormat
	}
	return nil
}

// free says whether a payload type may be used for what has none of its own; 0 is nothing.
func free(pt uint8) bool {
	// 64 to 95 with the marker set are the packet types of RTCP (RFC 5761).
	return pt == 0 || pt <= 127 && !(pt >= 64 && pt <= 95) && pt != noisePT && !codec.Codec(pt).Valid()
}

// has says whether either end may send a codec.
func (f Format) has(c codec.Codec) bool { return f.Codec == c || f.Takes.Has(c) }

// payloadType is that of the audio that we send.
func (f Format) payloadType() uint8 {
	if f.Codec == codec.Opus {
		return f.Opus.Type
	}
	return f.Codec.PayloadType()
}

// step is how far our timestamps advance in 20 ms.
func (f Format) step() uint32 { return uint32(media.Rate(f.Codec.Clock()).FrameSamples()) }

// score is the codec whose losses are scored.
func (f Format) score() quality.Codec {
	if f.Codec == codec.Opus {
		return quality.Opus
	}
	return quality.G711
}

// kind is what a packet carries, 0 when it is not of this format.
func (f Format) kind(pt uint8, payload []byte) jitter.Kind {
	switch n := len(payload); {
	case pt == f.Opus.Type && f.has(codec.Opus):
		if _, ok := opus.Duration(payload); ok {
			return jitter.Coded
		}
	case f.has(codec.Codec(pt)) && n >= minAudio && n <= jitter.MaxPayload:
		return jitter.Audio
	case pt == noisePT && f.Codec != codec.Opus && n <= maxNoise: // its clock is 8 kHz
		return jitter.Noise
	case pt != 0 && pt == f.Events && n >= dtmf.PayloadLen:
		return jitter.Event
	}
	return 0
}

// eventUnits is how many units of the duration of an event make a tick.
func (f Format) eventUnits() int {
	if f.FastEvents {
		return stream.OpusUnits
	}
	return 1
}

// timed gives a packet of this format its time in ticks.
func (f Format) timed(p jitter.Packet, clock *stream.Clock) jitter.Packet {
	switch {
	case p.Kind == jitter.Coded:
		d, _ := opus.Duration(p.Payload) // kind has checked it
		p.Timestamp, p.Duration = clock.Ticks(p.Timestamp), int(d*time.Duration(jitter.Rate)/time.Second)
	case p.Kind == jitter.Event && f.Codec == codec.Opus:
		p.Timestamp = clock.Ticks(p.Timestamp)
	}
	return p
}

// checkRate refuses a rate that no codec can be brought to.
func checkRate(r media.Rate) error {
	if r != media.Rate8k && r != media.Rate16k {
		return errRate
	}
	return nil
}
