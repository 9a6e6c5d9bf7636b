// Package srtp encrypts and authenticates the packets of a call (SRTP and SRTCP,
// RFC 3711) with keys that the signalling carries (SDES, RFC 4568).
//
// Nothing here allocates for an RTP packet of a stream that is under way. A packet
// of a source never heard before costs some objects, one that fails under
// AEAD_AES_128_GCM four, and an RTCP packet under it one: the
// caller of an open port should drop packets of other sources first.
package srtp

import (
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

// Receiver opens the packets of one direction. It belongs to one goroutine.
type Receiver struct {
	// contexts are tried in turn. Usually there is one; after a change of keys the
	// old one opens what is still under way, until a packet came under the new.
	contexts []*pion.Context
	fresh    int // of contexts, from the first, have the latest key

	ssrc uint32 // of the last packet opened
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
	if roc, ok := latest.ROC(old.ssrc); ok && roc > 0 {
		if c, err := incoming(s, k); err == nil {
			c.SetROC(old.ssrc, roc)
			r.contexts = append(r.contexts, c)
		}
	}
	r.fresh = len(r.contexts)
	r.contexts = append(r.contexts, latest)
}

// RTP opens a packet. The plain one is valid until the next call; the packet
// itself is left as it is.
func (r *Receiver) RTP(packet []byte) (plain []byte, err error) {
	for i, c := range r.contexts {
		if plain, err = c.DecryptRTP(r.buf[:0], packet, &r.rtp); err == nil {
			r.ssrc = r.rtp.SSRC
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

// settle keeps the context that a packet was opened with, when it has the latest key.
func (r *Receiver) settle(i int) {
	if len(r.contexts) > 1 && i < r.fresh {
		r.contexts[0] = r.contexts[i]
		r.contexts, r.fresh = r.contexts[:1], 1
	}
}
