//go:build !cgo

package opus

import (
	"fmt"

	gopus "github.com/pion/opus"

	"parley/media"
)

// Encodes says whether this build has an encoder.
const Encodes = false

// Encoder does not exist in this build.
type Encoder struct{}

// NewEncoder returns ErrNoEncoder.
func NewEncoder(EncoderConfig) (*Encoder, error) { return nil, ErrNoEncoder }

// Encode is never called.
func (*Encoder) Encode([]byte, []int16) (int, error) { return 0, ErrNoEncoder }

// Limit is never called.
func (*Encoder) Limit(int) error { return ErrNoEncoder }

// ExpectLoss is never called.
func (*Encoder) ExpectLoss(int) error { return ErrNoEncoder }

// Decoder decodes packets, and fills in for those that were lost. It implements
// jitter.Codec.
type Decoder struct {
	dec   gopus.Decoder
	scrap []int16 // 120 ms
	last  []int16 // the last 20 ms that were heard
	at    int     // within them, of the concealment in progress
	gain  int32   // of it, in 1/32768
}

// NewDecoder returns a decoder to samples at rate: 8, 16, 24 or 48 kHz.
func NewDecoder(rate media.Rate) (*Decoder, error) {
	dec, err := gopus.NewDecoderWithOutput(int(rate), 1)
	if err != nil {
		return nil, fmt.Errorf("opus: decoder: %w", err)
	}
	return &Decoder{dec: dec, scrap: make([]int16, rate.FrameSamples()*6), last: make([]int16, rate.FrameSamples())}, nil
}

// Decode fills dst with the packet's audio, and with concealment what a broken packet
// lacks of it.
func (d *Decoder) Decode(dst []int16, packet []byte) {
	n, err := d.dec.DecodeToInt16(packet, d.scrap)
	if err != nil {
		n = 0
	}
	if n = copy(dst, d.scrap[:n]); n > 0 {
		keep := d.last[copy(d.last, d.last[min(n, len(d.last)):]):]
		copy(keep, dst[n-len(keep):n])
		d.at, d.gain = 0, 1<<15
	}
	if n < len(dst) {
		d.Conceal(dst[n:])
	}
}

// Recover fills dst with what was lost just before the packet next, whose copy this
// decoder cannot read.
func (d *Decoder) Recover(dst []int16, _ []byte) { d.Conceal(dst) }

// Conceal repeats the last 20 ms, half as loud each time.
func (d *Decoder) Conceal(dst []int16) {
	for i := range dst {
		if d.at == 0 {
			d.gain /= 2
		}
		dst[i] = int16(int32(d.last[d.at]) * d.gain >> 15)
		d.at = (d.at + 1) % len(d.last)
	}
}
