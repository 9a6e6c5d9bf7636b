package rtp

import (
	"errors"

	"parley/media"
	"parley/media/codec"
	"parley/media/dtmf"
	"parley/media/jitter"
)

var (
	errFormat = errors.New("the codec must be one of telephones, and the payload type of events none of the audio's, below 128, and not look like RTCP")
	errRate   = errors.New("the rate must be 8 or 16 kHz")
)

// Format is what the payloads of a session are. All that a session knows of codecs is in this
// file, and the decoder that New gives to its jitter buffer.
type Format struct {
	Codec  codec.Codec // of what we send, under its static payload type
	Takes  codec.Set   // what the far end may send besides
	Events uint8       // payload type of telephone events at 8 kHz; 0: none
}

func (f Format) check() error {
	// 64 to 95 with the marker set are the packet types of RTCP (RFC 5761).
	if pt := f.Events; !f.Codec.Valid() || pt > 127 || pt >= 64 && pt <= 95 || pt == noisePT || pt != 0 && codec.Codec(pt).Valid() {
		return errFormat
	}
	return nil
}

// kind is what a packet carries, 0 when it is not of this format.
func (f Format) kind(pt uint8, payload []byte) jitter.Kind {
	switch n := len(payload); {
	case (pt == f.Codec.PayloadType() || f.Takes.Has(codec.Codec(pt))) && n >= minAudio && n <= jitter.MaxPayload:
		return jitter.Audio
	case pt == noisePT && n <= maxNoise:
		return jitter.Noise
	case pt != 0 && pt == f.Events && n >= dtmf.PayloadLen:
		return jitter.Event
	}
	return 0
}

// checkRate refuses a rate that no codec can be brought to.
func checkRate(r media.Rate) error {
	if r != media.Rate8k && r != media.Rate16k {
		return errRate
	}
	return nil
}
