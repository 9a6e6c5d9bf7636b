// Package srtp encrypts and authenticates the packets of a call (SRTP and SRTCP,
// RFC 3711) with keys that the signalling carries (SDES, RFC 4568).
//
// Nothing here allocates for an RTP packet of a stream that is under way. A packet
// of a source never heard before costs some objects, one that fails under
// AEAD_AES_128_GCM four, and an RTCP packet under it one: the
// caller of an open port should drop packets of other sources first.
package srtp

import (
	"encoding/binary"
	"errors"

	"github.com/pion/rtcp"
	"github.com/pion/rtp"
	pion "github.com/pion/srtp/v3"
)

// Overhead is the room in bytes that a Sender needs behind a packet: a tag of at
// most 16, the name of the key, and for RTCP its index.
const Overhead = 20 + maxMKI

// replayWindow is how far back, in packets, repetitions are noticed (RFC 3711
// section 3.3.2 wants 64 at least); what is older is refused. It is twice what the
// jitter buffer can use.
const replayWindow = 128

// ErrRefused is of a packet that is not authentic, came before, or is too old to
// tell. It is no fault: anybody may send to an open port.
var ErrRefused = errors.New("srtp: refused packet")

func (s Suite) profile() pion.ProtectionProfile {
	switch s {
	case AESHMAC32:
		return pion.ProtectionProfileAes128CmHmacSha1_32
	case AESGCM:
		return pion.ProtectionProfileAeadAes128Gcm
	}
	return pion.ProtectionProfileAes128CmHmacSha1_80
}

func newContext(s Suite, k Key, opts ...pion.ContextOption) (*pion.Context, error) {
	if k.mkiLen > 0 {
		opts = append(opts, pion.MasterKeyIndicator(k.name()))
	}
	return pion.CreateContext(k.secret[:keyLen], k.secret[keyLen:keyLen+s.saltLen()], s.profile(), opts...)
}

// Sender protects the packets of one direction. It belongs to one goroutine.
type Sender struct {
	context *pion.Context
	rtp     rtp.Header // scratch
	rtcp    rtcp.Header
}

// NewSender returns a sender. A key serves one sender: the second would encrypt
// other packets with the same stream of bits.
func NewSender(s Suite, k Key) (*Sender, error) {
	c, err := newContext(s, k)
	if err != nil {
		return nil, err
	}
	return &Sender{context: c}, nil
}

// RTP protects a packet in place and returns it with its tag. The packet needs
// Overhead bytes of capacity beyond its length.
func (s *Sender) RTP(packet []byte) ([]byte, error) {
	return s.context.EncryptRTP(packet, packet, &s.rtp)
}

// RTCP does the same for a compound RTCP packet.
func (s *Sender) RTCP(packet []byte) ([]byte, error) {
	return s.context.EncryptRTCP(packet, packet, &s.rtcp)
}

// Position is how far a stream has come: the packet with the highest index that was opened (RFC 3711 section 3.3.1). The zero
// Position is that of no stream.
type Position struct {
	SSRC uint32
	ROC  uint32 // how often the sequence number has wrapped
	Seq  uint16
}

// Receiver opens the packets of one direction. It belongs to one goroutine.
type Receiver struct {
	// contexts are tried in turn. Usually there is one; after a change of keys the
	// old one opens what is still under way, until a packet came under the new.
	contexts []*pion.Context
	fresh    int // of contexts, from the first, have the latest key

	last   Position // of the stream that was opened last, or that is resumed or followed
	opened bool     // a packet was
	from   Position // from which the first context goes on, until a packet of that stream was opened; zero: from none

	rtp  rtp.Header
	rtcp rtcp.Header
	buf  [2048]byte
}

// NewReceiver returns a receiver.
func NewReceiver(s Suite, k Key) (*Receiver, error) {
	c, err := incoming(s, k)
	if err != nil {
		return nil, err
	}
	return &Receiver{contexts: []*pion.Context{c}, fresh: 1}, nil
}

func incoming(s Suite, k Key) (*pion.Context, error) {
	return newContext(s, k, pion.SRTPReplayProtection(replayWindow), pion.SRTCPReplayProtection(replayWindow))
}

// Follow makes r, which has a new key, take over what old may still have to open.
// Far ends differ in whether a stream that goes on under a new key counts its
// wraps of the sequence number from 0 or goes on with them, as RFC 3711 section
// 3.3.1 says; the first packet decides.
func (r *Receiver) Follow(old *Receiver, s Suite, k Key) {
	latest := old.contexts[0]
	if r.last = old.last; r.last.ROC > 0 {
		if c, err := incoming(s, k); err == nil {
			c.SetROC(r.last.SSRC, r.last.ROC)
			r.contexts = append(r.contexts, c)
		}
	}
	r.fresh = len(r.contexts)
	r.contexts = append(r.contexts, latest)
}

// Resume makes r, which is new, go on with a stream that another receiver has opened up to at, maybe with the same key: packets
// that are not after at are repetitions (RFC 3711 section 3.3.2), and refused until another is opened. A far end that has a new key may
// count its wraps from 0; the first packet decides. So that one may be a repetition from before the first wrap, by somebody who has recorded it.
func (r *Receiver) Resume(at Position, s Suite, k Key) {
	if r.last, r.from = at, at; at == (Position{}) {
		return
	}
	if c, err := incoming(s, k); err == nil {
		r.contexts = append(r.contexts, c)
		r.fresh = len(r.contexts)
	}
}

// Position is how far the stream has come whose packet was opened last.
func (r *Receiver) Position() Position { return r.last }

// RTP opens a packet. The plain one is valid until the next call; the packet
// itself is left as it is.
func (r *Receiver) RTP(packet []byte) (plain []byte, err error) {
	if r.from != (Position{}) && !r.estimate(packet) {
		return nil, ErrRefused
	}
	for i, c := range r.contexts {
		if plain, err = c.DecryptRTP(r.buf[:0], packet, &r.rtp); err == nil {
			r.advance(c)
			r.settle(i)
			return plain, nil
		}
	}
	return nil, ErrRefused
}

// RTCP opens an RTCP packet, likewise.
func (r *Receiver) RTCP(packet []byte) (plain []byte, err error) {
	for _, c := range r.contexts {
		if plain, err = c.DecryptRTCP(r.buf[:0], packet, &r.rtcp); err == nil {
			return plain, nil
		}
	}
	return nil, ErrRefused
}

// estimate says how often the sequence number of the stream that is resumed has wrapped: as often as at its last packet known, and once
// more where the number is lower. Nothing else is possible, for a sequence lasts 22 minutes. later is false for a packet that is not after the last
// one known.
func (r *Receiver) estimate(packet []byte) (later bool) {
	if len(packet) < 12 || binary.BigEndian.Uint32(packet[8:]) != r.from.SSRC {
		return true
	}
	seq, roc := binary.BigEndian.Uint16(packet[2:]), r.from.ROC
	if seq-r.from.Seq-1 >= 1<<15 {
		return false
	}
	if seq < r.from.Seq {
		roc++
	}
	r.contexts[0].SetROC(r.from.SSRC, roc)
	return true
}

// advance notes a packet that c has opened, unless it comes late.
func (r *Receiver) advance(c *pion.Context) {
	h := &r.rtp
	if r.opened && h.SSRC == r.last.SSRC && h.SequenceNumber-r.last.Seq >= 1<<15 {
		return
	}
	roc, _ := c.ROC(h.SSRC)
	r.last, r.opened = Position{h.SSRC, roc, h.SequenceNumber}, true
	if h.SSRC == r.from.SSRC {
		r.from = Position{}
	}
}

// settle keeps the context that a packet was opened with, when it has the latest key.
func (r *Receiver) settle(i int) {
	if len(r.contexts) > 1 && i < r.fresh {
		r.contexts[0] = r.contexts[i]
		r.contexts, r.fresh = r.contexts[:1], 1
	}
}
