//go:build cgo

package opus

import (
	"cmp"
	"fmt"

	libopus "gopkg.in/hraban/opus.v2"

	"parley/media"
)

// Encodes says whether this build has an encoder.
const Encodes = true

// copiesFrom is the loss in percent from which libopus, told to encode any audio, goes
// over to SILK: only SILK has copies.
const copiesFrom = 6

// Encoder makes packets of 20 ms.
type Encoder struct {
	enc  *libopus.Encoder
	loss int
}

// NewEncoder returns an encoder for speech: of CELT alone, and with SILK for a far end that
// loses packets.
func NewEncoder(cfg EncoderConfig) (*Encoder, error) {
	enc, err := libopus.NewEncoder(int(cfg.Rate), 1, libopus.AppAudio)
	if err != nil {
		return nil, fmt.Errorf("opus: encoder: %w", err)
	}
	cfg.Bitrate = cmp.Or(cfg.Bitrate, DefaultBitrate)
	for _, set := range []error{enc.SetBitrate(cfg.Bitrate), enc.SetComplexity(cfg.Complexity)} {
		if set != nil {
			return nil, fmt.Errorf("opus: encoder: %w", set)
		}
	}
	e := &Encoder{enc: enc, loss: -1}
	return e, e.ExpectLoss(cfg.Loss)
}

// Encode encodes 20 ms to dst, which has room for MaxPacket bytes, and says how many it
// took.
func (e *Encoder) Encode(dst []byte, samples []int16) (int, error) {
	return e.enc.Encode(samples, dst[:MaxPacket])
}

// Limit is the most that the far end wants on average, bits a second; 0: it does not say. Above DefaultBitrate it makes no difference.
func (e *Encoder) Limit(bitrate int) error {
	if bitrate <= 0 {
		bitrate = DefaultBitrate
	}
	if err := e.enc.SetBitrate(max(leastBitrate, min(bitrate, DefaultBitrate))); err != nil {
		return fmt.Errorf("opus: encoder: %w", err)
	}
	return nil
}

// ExpectLoss says which share of packets is lost, from 0 to 100 percent.
func (e *Encoder) ExpectLoss(percent int) error {
	if percent = max(0, min(percent, 100)); percent == e.loss {
		return nil
	}
	e.loss = percent
	if err := e.enc.SetInBandFEC(percent > 0); err != nil {
		return fmt.Errorf("opus: encoder: %w", err)
	}
	if percent > 0 {
		percent = max(percent, copiesFrom)
	}
	if err := e.enc.SetPacketLossPerc(percent); err != nil {
		return fmt.Errorf("opus: encoder: %w", err)
	}
	return nil
}

// Decoder decodes packets, and fills in for those that were lost. It implements
// jitter.Codec.
type Decoder struct {
	dec   *libopus.Decoder
	scrap []int16 // 120 ms
	step  int     // samples of 2.5 ms
}

// NewDecoder returns a decoder to samples at rate: 8, 16, 24 or 48 kHz.
func NewDecoder(rate media.Rate) (*Decoder, error) {
	dec, err := libopus.NewDecoder(int(rate), 1)
	if err != nil {
		return nil, fmt.Errorf("opus: decoder: %w", err)
	}
	return &Decoder{dec: dec, scrap: make([]int16, rate.FrameSamples()*6), step: rate.FrameSamples() / 8}, nil
}

// Decode fills dst with the packet's audio, and with concealment what a broken packet
// lacks of it.
func (d *Decoder) Decode(dst []int16, packet []byte) {
	n, err := d.dec.Decode(packet, d.scrap)
	if err != nil {
		n = 0
	}
	if n = copy(dst, d.scrap[:n]); n < len(dst) {
		d.Conceal(dst[n:])
	}
}

// Recover fills dst with what was lost just before the packet next.
func (d *Decoder) Recover(dst []int16, next []byte) {
	n := d.whole(len(dst))
	// libopus itself conceals where next has no copy.
	if err := d.dec.DecodeFEC(next, d.scrap[:n:n]); err != nil {
		clear(d.scrap[:n])
	}
	copy(dst, d.scrap[n-len(dst):n])
}

// Conceal fills dst with the likely continuation.
func (d *Decoder) Conceal(dst []int16) {
	for len(dst) > 0 {
		n := d.whole(min(len(dst), len(d.scrap)))
		if err := d.dec.DecodePLC(d.scrap[:n:n]); err != nil {
			clear(d.scrap[:n])
		}
		dst = dst[copy(dst, d.scrap[:n]):]
	}
}

// whole is n samples, rounded up to a length that packets may have.
func (d *Decoder) whole(n int) int { return min((n+d.step-1)/d.step*d.step, len(d.scrap)) }
