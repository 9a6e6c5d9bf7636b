// Package opus is the codec of WebRTC (RFC 6716, RFC 7587), mono. With cgo both
// directions are libopus, with its own concealment and its redundant copies of lost
// packets; without, packets are decoded in Go, losses are bridged plainly, and there is
// no encoder.
//
// Speech is encoded by CELT alone: the search of SILK took two thirds of the processor time of
// a call over WebRTC. Told to encode any audio, libopus leaves it out; 48 kbit/s then come as
// close to the voice as 32 with SILK, at a fifth of the time, and silence is three bytes. Where
// the far end reports losses SILK comes back, because only it has redundant copies.
//
// Encoders and decoders belong to one goroutine each. Those of libopus do not allocate
// after New; the decoder in Go does, once a packet.
package opus

import (
	"errors"
	"time"

	"parley/media"
)

// ClockRate is that of RTP timestamps, whatever the audio is sampled at (RFC 7587
// section 4.1).
const ClockRate = 48000

// MaxPacket is more bytes than a frame of 20 ms can have (RFC 6716 section 3.2.1).
const MaxPacket = 1276

// MaxDuration is the longest packet (RFC 6716 section 3.2.5).
const MaxDuration = 120 * time.Millisecond

// ErrNoEncoder says that the program was built without libopus.
var ErrNoEncoder = errors.New("opus: built without an encoder")

// EncoderConfig is how to encode.
type EncoderConfig struct {
	Rate    media.Rate // of the samples: 8, 16, 24 or 48 kHz
	Bitrate int        // bits a second; 0: DefaultBitrate
	// Complexity is from 0, the cheapest, to 10.
	Complexity int
	// Loss is the share of packets, in percent, that are expected to be lost: above 0
	// each packet also holds a coarse copy of the one before. It can be changed later.
	Loss int
}

// DefaultBitrate, in bits a second, is what speech wants of CELT alone. At 32,000 libopus
// would put SILK below it for as good a sound, whose search takes five times as long.
const DefaultBitrate = 48_000

// Complexity is what an encoder for speech may cost: twice that of the cheapest, and no difference
// that one can hear in speech.
const Complexity = 4

// leastBitrate is the least that there is (RFC 6716 section 2.1.1).
const leastBitrate = 6000

// Duration is how long the audio of a packet lasts by its first bytes; false when it is
// no packet of Opus (RFC 6716 section 3.4, R5).
func Duration(packet []byte) (d time.Duration, ok bool) {
	if len(packet) == 0 {
		return 0, false
	}
	toc := packet[0]
	n := 1
	switch toc & 3 {
	case 1, 2:
		n = 2
	case 3:
		if len(packet) < 2 {
			return 0, false
		}
		n = int(packet[1] & 0x3F)
	}
	d = time.Duration(n) * frame(toc>>3)
	return d, d > 0 && d <= MaxDuration
}

// frame is how long a frame of a configuration is (RFC 6716 table 2).
func frame(config byte) time.Duration {
	const ms = time.Millisecond
	switch {
	case config < 12: // SILK: 10, 20, 40, 60 ms
		return [...]time.Duration{10 * ms, 20 * ms, 40 * ms, 60 * ms}[config&3]
	case config < 16: // hybrid: 10, 20 ms
		return [...]time.Duration{10 * ms, 20 * ms}[config&1]
	}
	return [...]time.Duration{ms * 5 / 2, 5 * ms, 10 * ms, 20 * ms}[config&3] // CELT
}
