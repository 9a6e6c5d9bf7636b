package rtp

import (
	"errors"

	"parley/media/dtmf"
	"parley/media/g711"
	"parley/media/jitter"
)

var errFormat = errors.New("the codec must be G.711, and the payload type of events none of the audio's, below 128, and not look like RTCP")

// Format is what the payloads of a session are. All that a session knows of codecs is in this
// file, and the decoder that New gives to its jitter buffer.
type Format struct {
	Codec  g711.Codec // of what we send, under its static payload type
	Either bool       // the far end may send the other law of G.711 as well
	Events uint8      // payload type of telephone events at 8 kHz; 0: none
}

func (f Format) check() error {
	// 64 to 95 with the marker set are the packet types of RTCP (RFC 5761).
	if pt := f.Events; !f.Codec.Valid() || pt > 127 || pt >= 64 && pt <= 95 || pt == noisePT || pt == g711.PCMA.PayloadType() {
		return errFormat
	}
	return nil
}

// kind is what a packet carries, 0 when it is not of this format.
func (f Format) kind(pt uint8, payload []byte) jitter.Kind {
	switch n := len(payload); {
	case (pt == f.Codec.PayloadType() || f.Either && g711.Codec(pt).Valid()) && n >= minAudio && n <= jitter.MaxPayload:
		return jitter.Audio
	case pt == noisePT && n <= maxNoise:
		return jitter.Noise
	case pt != 0 && pt == f.Events && n >= dtmf.PayloadLen:
		return jitter.Event
	}
	return 0
}

// encode fills a packet's payload with samples, and silence for what they lack of it.
func (f Format) encode(payload []byte, samples []int16) {
	for i := f.Codec.Encode(payload, samples); i < len(payload); i++ {
		payload[i] = f.Codec.Silence()
	}
}
