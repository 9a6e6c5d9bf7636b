package rtp

import "encoding/binary"

const (
	headerLen = 12
	// noisePT is the static payload type of comfort noise (RFC 3389 section 4).
	noisePT = 13
	// minAudio is 1 ms: shorter is no audio packet of anyone.
	minAudio = 8
	maxNoise = 64 // level and a spectrum of any sensible order
)

// header is what we use of an RTP packet (RFC 3550 section 5.1).
type header struct {
	marker    bool
	pt        uint8
	seq       uint16
	timestamp uint32
	ssrc      uint32
}

// parse reads an RTP packet and finds its payload, which is part of b. It says
// false for what is no RTP packet: a port for media receives STUN, RTCP, keep-alives
// of one byte and worse.
func parse(b []byte) (h header, payload []byte, ok bool) {
	if len(b) < headerLen || b[0]>>6 != 2 || isRTCP(b) {
		return h, nil, false
	}
	h = header{
		marker: b[1]&0x80 != 0, pt: b[1] & 0x7F,
		seq:       binary.BigEndian.Uint16(b[2:]),
		timestamp: binary.BigEndian.Uint32(b[4:]),
		ssrc:      binary.BigEndian.Uint32(b[8:]),
	}
	start := headerLen + 4*int(b[0]&0x0F) // contributing sources
	if b[0]&0x10 != 0 {                   // header extension
		if len(b) < start+4 {
			return h, nil, false
		}
		start += 4 + 4*int(binary.BigEndian.Uint16(b[start+2:]))
	}
	end := len(b)
	if b[0]&0x20 != 0 { // padding, its own length included
		pad := int(b[end-1])
		if pad == 0 {
			return h, nil, false
		}
		end -= pad
	}
	if start > end {
		return h, nil, false
	}
	return h, b[start:end], true
}

// isRTCP tells the two apart on one port by the packet types that RTP payload types
// may not take (RFC 5761 section 4).
func isRTCP(b []byte) bool { return len(b) >= 2 && b[1] >= 192 && b[1] <= 223 }

// put writes the header to the first 12 bytes of b.
func (h header) put(b []byte) {
	_ = b[headerLen-1]
	b[0], b[1] = 2<<6, h.pt
	if h.marker {
		b[1] |= 0x80
	}
	binary.BigEndian.PutUint16(b[2:], h.seq)
	binary.BigEndian.PutUint32(b[4:], h.timestamp)
	binary.BigEndian.PutUint32(b[8:], h.ssrc)
}
