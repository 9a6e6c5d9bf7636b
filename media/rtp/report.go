package rtp

import (
	"net/netip"
	"time"

	"github.com/pion/rtcp"

	"parley/media/jitter"
	"parley/media/srtp"
	"parley/media/stream"
)

const (
	maxCNAME = 255 // bytes, RFC 3550 section 6.5
	// maxReport is the longest report of ours: a sender report with one block (RFC 3550 section
	// 6.4.1), a source description with the longest name, and what encrypts them.
	maxReport = 8 + 20 + 24 + 8 + 2 + maxCNAME + 4 + srtp.Overhead
)

// reporter keeps what sender and receiver reports are made of. Times on the wire are NTP:
// here the wall clock at the start of the session and the monotonic clock from there on, so
// that setting the wall clock does not upset round trips. pion/rtcp allocates
// three small objects for a report of ours, once in 5 s, and none for one of the far end's.
type reporter struct {
	cname       string
	description []byte // our source description, as it is sent
	start       time.Time
	epoch       uint64 // NTP time of start

	ssrc     uint32 // ours
	clock    int    // timestamps a second, of the far end's stream, too
	lastSR   uint32 // middle of the NTP time in the far end's last sender report
	lastSRAt time.Time
	// At the last report of ours, for the share lost since then.
	expected, received uint64

	// Scratch: of a report that is written or read.
	sender   rtcp.SenderReport
	receiver rtcp.ReceiverReport
	blocks   [1]rtcp.ReceptionReport
	about    []rtcp.ReceptionReport
	buf      [maxReport]byte
}

func newReporter(cname string, start time.Time) reporter {
	return reporter{cname: cname, start: start, epoch: stream.NTP(start)}
}

// name makes reports those of our stream ssrc. They carry our canonical name (RFC 3550
// section 6.5), which does not change.
func (r *reporter) name(ssrc uint32) {
	r.ssrc = ssrc
	r.description, _ = rtcp.NewCNAMESourceDescription(ssrc, r.cname).Marshal() // New has checked the length
}

// ntp is t in units of 2^-32 s since 1900.
func (r *reporter) ntp(t time.Time) uint64 {
	d := t.Sub(r.start)
	whole, part := int64(d/time.Second), int64(d%time.Second)
	return r.epoch + uint64(whole<<32+part<<32/int64(time.Second))
}

// middle is the middle 32 bits of t, which reports refer to.
func (r *reporter) middle(t time.Time) uint32 { return uint32(r.ntp(t) >> 16) }

// write makes a compound packet of a sender report (of a receiver report when
// nothing was sent) and our name (RFC 3550 section 6.1). timestamp is that of our stream
// now, far the far end's SSRC, and in what came from it. The packet is valid until the next.
func (r *reporter) write(now time.Time, timestamp uint32, out *sender, far uint32, in jitter.Stats) ([]byte, error) {
	blocks := r.blocks[:0]
	if in.Received > 0 {
		blocks = append(blocks, r.block(now, far, in))
	}
	r.receiver = rtcp.ReceiverReport{SSRC: r.ssrc, Reports: blocks}
	report := rtcp.Packet(&r.receiver)
	if out.packets > 0 {
		r.sender = rtcp.SenderReport{SSRC: r.ssrc, NTPTime: r.ntp(now), RTPTime: timestamp,
			PacketCount: out.packets, OctetCount: out.octets, Reports: blocks}
		report = &r.sender
	}
	b, err := report.Marshal()
	return append(append(r.buf[:0], b...), r.description...), err
}

// block is what we think of the far end's stream (RFC 3550 section 6.4.1).
func (r *reporter) block(now time.Time, far uint32, in jitter.Stats) rtcp.ReceptionReport {
	expected, received := in.Expected-r.expected, in.Received-r.received
	r.expected, r.received = in.Expected, in.Received
	fraction := uint64(0)
	if expected > received && expected < 1<<32 {
		fraction = min((expected-received)*256/expected, 255)
	}
	total := max(-1<<23, min(int64(in.Expected)-int64(in.Received), 1<<23-1))
	delay := time.Duration(0)
	if r.lastSR != 0 {
		delay = max(0, now.Sub(r.lastSRAt)) * 65536 / time.Second
	}
	return rtcp.ReceptionReport{
		SSRC: far, FractionLost: uint8(fraction), TotalLost: uint32(total) & 0xFFFFFF,
		LastSequenceNumber: in.Highest, Jitter: uint32(in.Jitter * time.Duration(r.clock) / time.Second),
		LastSenderReport: r.lastSR, Delay: uint32(delay),
	}
}

// read takes a compound packet from the far end and returns what it says about our
// stream, which is valid until the next. It says false, and believes nothing, unless
// the whole of it is well formed (RFC 3550 appendix A.2).
func (r *reporter) read(b []byte, at time.Time) (about []rtcp.ReceptionReport, ok bool) {
	r.about = r.about[:0]
	lastSR := uint32(0)
	for first := true; first || len(b) > 0; first = false {
		var h rtcp.Header
		if h.Unmarshal(b) != nil {
			return nil, false
		}
		size := 4 * (int(h.Length) + 1)
		if size > len(b) || first && (h.Padding || h.Type != rtcp.TypeSenderReport && h.Type != rtcp.TypeReceiverReport) {
			return nil, false
		}
		p := b[:size]
		b = b[size:]
		switch h.Type {
		case rtcp.TypeSenderReport:
			r.sender.Reports = r.sender.Reports[:0]
			if r.sender.Unmarshal(p) != nil {
				return nil, false
			}
			lastSR = uint32(r.sender.NTPTime >> 16)
			r.about = append(r.about, r.sender.Reports...)
		case rtcp.TypeReceiverReport:
			r.receiver.Reports = r.receiver.Reports[:0]
			if r.receiver.Unmarshal(p) != nil {
				return nil, false
			}
			r.about = append(r.about, r.receiver.Reports...)
		}
	}
	if lastSR != 0 {
		r.lastSR, r.lastSRAt = lastSR, at
	}
	return r.about, true
}

// report sends our reports when an interval of the quality score is over.
func (s *Session) report(now time.Time) {
	if !s.stream.CloseInterval(now) {
		return
	}
	conn := s.cfg.RTCP
	if conn == nil {
		if !s.cfg.Mux {
			return
		}
		conn = s.cfg.RTP
	}
	to := s.rtcp.target(s.latch.target(), s.latch.sdp, s.cfg.Mux)
	if s.ended.Load() || !reachable(to) {
		return
	}
	packet, err := s.reporter.write(now, s.stream.Timestamp(now), &s.out, s.farSSRC, s.stream.Buffered())
	if err == nil && s.guard.on() {
		packet, err = s.guard.sender.RTCP(packet)
	}
	if err == nil {
		err = conn.Send(packet, to)
	}
	if err != nil {
		s.counters().SendErrors++
	}
}

// receiveReport takes an RTCP packet. It must come from where the media goes; its
// port is learnt, once for each far end, since a NAT may have changed it.
func (s *Session) receiveReport(b []byte, from netip.AddrPort, at time.Time) {
	target := s.latch.target()
	if from.Addr() != target.Addr() || s.cfg.Mux && from != target {
		s.counters().Foreign++
		return
	}
	if s.guard.on() {
		plain, err := s.guard.receiver.RTCP(b)
		if err != nil {
			s.counters().Refused++
			return
		}
		b = plain
	}
	about, ok := s.reporter.read(b, at)
	if !ok {
		s.counters().Invalid++
		return
	}
	for _, r := range about {
		if r.SSRC == s.out.ssrc {
			s.stream.Reported(r, s.reporter.middle(at))
		}
	}
	// A far end that says nothing, because its microphone is off, is there all the same.
	s.alive.Store(max(s.alive.Load(), int64(at.Sub(s.cfg.Start))))
	if !s.rtcp.learned.IsValid() || s.rtcp.learned.Addr() != from.Addr() {
		s.rtcp.learned = from
	}
}

// rtcpLink is where reports go.
type rtcpLink struct {
	sdp     netip.AddrPort // from signalling; invalid: next to the media's port
	learned netip.AddrPort // source of the far end's reports
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

// reachable says whether a is an address to send to: signalling may give 0.0.0.0.
func reachable(a netip.AddrPort) bool {
	return a.IsValid() && a.Port() != 0 && !a.Addr().IsUnspecified()
}
