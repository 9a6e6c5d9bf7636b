package rtp

import (
	"encoding/binary"
	"net/netip"
	"time"

	"parley/media/srtp"
)

// RTCP packet types (RFC 3550 section 12.1) and sizes in bytes.
const (
	senderReport   = 200
	receiverReport = 201
	description    = 202

	senderInfoLen = 20
	blockLen      = 24
	maxCNAME      = 255

	// reportEvery is the interval of reports. RFC 3550 section 6.2 spreads it at
	// random so that the members of a conference do not report together; a call
	// has two, and calls begin at random.
	reportEvery = 5 * time.Second
	// maxRTT is the longest round trip that is no mistake.
	maxRTT = 10 * time.Second
)

// reporter keeps what sender and receiver reports are made of and what those of the
// far end say. Times on the wire are NTP: here the wall clock at the start of the
// session and the monotonic clock from there on, so that setting the wall clock
// does not upset round trips.
type reporter struct {
	ssrc  uint32
	cname string
	start time.Time
	epoch uint64 // NTP time of start

	next time.Time // when to report

	lastSR   uint32 // middle of the NTP time in the far end's last sender report
	lastSRAt time.Time
	// At the last report of ours, for the share lost since then.
	expected, received uint64

	rtt          time.Duration
	remoteLost   float64
	remoteJitter time.Duration

	buf [8 + senderInfoLen + blockLen + 8 + 2 + maxCNAME + 4 + srtp.Overhead]byte
}

// ntpEpoch is the number of seconds from 1900 to 1970.
const ntpEpoch = 2_208_988_800

func newReporter(ssrc uint32, cname string, start time.Time) reporter {
	return reporter{
		ssrc: ssrc, cname: cname, start: start,
		epoch: uint64(start.Unix()+ntpEpoch)<<32 | uint64(start.Nanosecond())<<32/uint64(time.Second),
		next:  start.Add(reportEvery),
	}
}

// ntp is t in units of 2^-32 s since 1900.
func (r *reporter) ntp(t time.Time) uint64 {
	d := t.Sub(r.start)
	whole, part := int64(d/time.Second), int64(d%time.Second)
	return r.epoch + uint64(whole<<32+part<<32/int64(time.Second))
}

// outgoing is what a report says about our stream at its time.
type outgoing struct {
	timestamp       uint32
	packets, octets uint32
}

// incoming is what a report says about the far end's stream.
type incoming struct {
	ssrc               uint32
	expected, received uint64
	highest            uint32
	jitter             time.Duration
}

// write makes a compound packet of a sender report (of a receiver report when
// nothing was sent) and our name (RFC 3550 section 6.1). It is valid until the next.
func (r *reporter) write(now time.Time, out outgoing, in incoming) []byte {
	b := r.buf[:0]
	count := byte(0)
	if in.received > 0 {
		count = 1
	}
	words := uint16(1 + int(count)*blockLen/4)
	if out.packets > 0 {
		b = append(b, 2<<6|count, senderReport)
		b = binary.BigEndian.AppendUint16(b, words+senderInfoLen/4)
		b = binary.BigEndian.AppendUint32(b, r.ssrc)
		b = binary.BigEndian.AppendUint64(b, r.ntp(now))
		b = binary.BigEndian.AppendUint32(b, out.timestamp)
		b = binary.BigEndian.AppendUint32(b, out.packets)
		b = binary.BigEndian.AppendUint32(b, out.octets)
	} else {
		b = append(b, 2<<6|count, receiverReport)
		b = binary.BigEndian.AppendUint16(b, words)
		b = binary.BigEndian.AppendUint32(b, r.ssrc)
	}
	if count > 0 {
		b = r.block(b, now, in)
	}
	return r.describe(b)
}

// block appends what we think of the far end's stream (RFC 3550 section 6.4.1).
func (r *reporter) block(b []byte, now time.Time, in incoming) []byte {
	expected, received := in.expected-r.expected, in.received-r.received
	r.expected, r.received = in.expected, in.received
	fraction := uint32(0)
	if expected > received && expected < 1<<32 {
		fraction = uint32((expected - received) * 256 / expected)
	}
	total := max(-1<<23, min(int64(in.expected)-int64(in.received), 1<<23-1))
	delay := uint32(0)
	if r.lastSR != 0 {
		delay = uint32(max(0, now.Sub(r.lastSRAt)) * 65536 / time.Second)
	}
	b = binary.BigEndian.AppendUint32(b, in.ssrc)
	b = binary.BigEndian.AppendUint32(b, min(fraction, 255)<<24|uint32(total)&0xFFFFFF)
	b = binary.BigEndian.AppendUint32(b, in.highest)
	b = binary.BigEndian.AppendUint32(b, uint32(in.jitter*8/time.Millisecond))
	b = binary.BigEndian.AppendUint32(b, r.lastSR)
	return binary.BigEndian.AppendUint32(b, delay)
}

// describe appends our canonical name (RFC 3550 section 6.5).
func (r *reporter) describe(b []byte) []byte {
	body := 4 + 2 + len(r.cname) + 1 // SSRC, item, at least one zero
	words := (body + 3) / 4
	b = append(b, 2<<6|1, description)
	b = binary.BigEndian.AppendUint16(b, uint16(words))
	b = binary.BigEndian.AppendUint32(b, r.ssrc)
	b = append(b, 1, byte(len(r.cname)))
	b = append(b, r.cname...)
	for range words*4 - 4 - 2 - len(r.cname) {
		b = append(b, 0)
	}
	return b
}

// read takes a compound packet from the far end. It says false, and believes
// nothing, unless the whole of it is well formed (RFC 3550 appendix A.2).
func (r *reporter) read(b []byte, at time.Time) bool {
	if !wellFormed(b) {
		return false
	}
	for len(b) > 0 {
		size := 4 + 4*int(binary.BigEndian.Uint16(b[2:]))
		p, blocks := b[:size], 0
		switch p[1] {
		case senderReport:
			blocks = 8 + senderInfoLen
			if size >= blocks {
				r.lastSR, r.lastSRAt = binary.BigEndian.Uint32(p[10:]), at
			}
		case receiverReport:
			blocks = 8
		}
		for range int(p[0] & 0x1F) {
			if blocks == 0 || len(p) < blocks+blockLen {
				break
			}
			r.readBlock(p[blocks:blocks+blockLen], at)
			blocks += blockLen
		}
		b = b[size:]
	}
	return true
}

func wellFormed(b []byte) bool {
	if len(b) < 8 || b[1] != senderReport && b[1] != receiverReport || b[0]&0x20 != 0 {
		return false
	}
	for len(b) > 0 {
		if len(b) < 4 || b[0]>>6 != 2 {
			return false
		}
		size := 4 + 4*int(binary.BigEndian.Uint16(b[2:]))
		if size > len(b) {
			return false
		}
		b = b[size:]
	}
	return true
}

// readBlock takes what the far end thinks of our stream.
func (r *reporter) readBlock(b []byte, at time.Time) {
	if binary.BigEndian.Uint32(b) != r.ssrc {
		return
	}
	r.remoteLost = float64(b[4]) / 256
	r.remoteJitter = time.Duration(binary.BigEndian.Uint32(b[12:])) * time.Second / 8000
	lastSR, delay := binary.BigEndian.Uint32(b[16:]), binary.BigEndian.Uint32(b[20:])
	if lastSR == 0 {
		return
	}
	trip := int32(uint32(r.ntp(at)>>16) - lastSR - delay)
	if d := time.Duration(trip) * time.Second / 65536; d <= maxRTT {
		r.rtt = max(0, d) // a far end that rounds its delay up gives a little below 0
	}
}

// rtcpLink is where reports go.
type rtcpLink struct {
	sdp     netip.AddrPort // from signalling; invalid: next to the media's port
	learned netip.AddrPort // whence the far end's reports came
}

// target is where to send reports when media goes to media and the SDP said sdp.
func (l *rtcpLink) target(media, sdp netip.AddrPort, mux bool) netip.AddrPort {
	switch {
	case !media.IsValid() || mux:
		return media
	case l.learned.IsValid() && l.learned.Addr() == media.Addr():
		return l.learned
	case l.sdp.IsValid() && media.Addr() == sdp.Addr():
		return l.sdp
	case media.Port() == 0xFFFF:
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(media.Addr(), media.Port()+1)
}
