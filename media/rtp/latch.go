package rtp

import (
	"cmp"
	"net/netip"
	"slices"
	"time"
)

// latchWindow is how long after the answer a source that signalling does not vouch for may
// still become the far end.
const latchWindow = 5 * time.Second

// latchSilence is how long a source must be silent before another may follow it. It is
// longer than what networks lose at a stretch, and shorter than the patience of a caller.
const latchSilence = 1500 * time.Millisecond

// candidates of each sort that may be on trial at once: enough that a scanner does
// not push the true one out between two packets.
const candidates = 4

// latch decides which source is the far end. Behind a NAT that is not the address
// in its SDP, so we must learn it from the packets; but a third party that
// sends to an open port must neither hear the call (RTP bleed) nor speak in it (RTP inject). So:
//
//   - a source must send two consecutive packets of one SSRC;
//   - one that signalling vouches for may latch at any time, another only within
//     5 s of the answer, and within them the former displaces the latter;
//   - then nothing moves until signalling gives a new address, or the source has been
//     silent for 1.5 s: a translator may have given the far end another port, or its media
//     may have moved to another server. Then one that signalling vouches for, or another
//     port of the same host, may follow.
//
// With SRTP only authentic packets are judged at all, and may follow from anywhere. Where the far end makes connectivity checks
// (Path), they alone decide.
type latch struct {
	sdp     netip.AddrPort
	trusted []netip.Prefix // besides the address of sdp
	closed  bool           // to all others
	path    Path           // the far end is where its checks say, and nowhere else; nil: it makes none
	until   time.Time      // end of the window

	to       netip.AddrPort // the source latched to; invalid before
	toStatic bool           // it is one that signalling vouches for
	heard    time.Time      // when it last sent

	trial [2][candidates]candidate // other sources, trusted ones
	turn  [2]int                   // whose place is taken next
}

type candidate struct {
	from netip.AddrPort
	ssrc uint32
	seq  uint16
}

type source uint8

const (
	foreign source = iota
	onTrial
	farEnd
)

// reset awaits a new far end at address sdp.
func (l *latch) reset(sdp netip.AddrPort, now time.Time) {
	*l = latch{sdp: sdp, trusted: l.trusted, closed: l.closed, path: l.path, until: now.Add(latchWindow)}
	if l.path != nil {
		l.to = sdp
	}
}

// move follows the far end's connectivity checks, which only it can make.
func (l *latch) move(to netip.AddrPort) {
	if l.path != nil && to.IsValid() {
		l.to = to
	}
}

// target is where to send: the address of the SDP until a source is latched.
func (l *latch) target() netip.AddrPort { return cmp.Or(l.to, l.sdp) }

// judge says what the source of a valid packet is, and latches to it when it has
// proved itself. authentic says that the packet was encrypted.
func (l *latch) judge(from netip.AddrPort, ssrc uint32, seq uint16, at time.Time, authentic bool) source {
	if from == l.to {
		l.heard = at
		return farEnd
	}
	if l.bars(from, at, authentic) {
		return foreign
	}
	if l.path != nil {
		return farEnd
	}
	static := l.trusts(from.Addr())
	sort := 0
	if static {
		sort = 1
	}
	c := l.find(sort, from)
	if c.from == from && c.ssrc == ssrc && seq == c.seq+1 {
		l.to, l.toStatic, l.heard = from, static, at
		return farEnd
	}
	*c = candidate{from, ssrc, seq}
	return onTrial
}

// bars says whether from cannot be the far end, whatever it sends. authentic says that only
// what is encrypted is heard.
func (l *latch) bars(from netip.AddrPort, at time.Time, authentic bool) bool {
	if from == l.to {
		return false
	}
	if l.path != nil {
		return !l.path.Passed(from)
	}
	static := l.trusts(from.Addr())
	open := at.Before(l.until)
	if l.to.IsValid() {
		follows := static || authentic && !l.closed || from.Addr() == l.to.Addr()
		return !(open && static && !l.toStatic) && !(follows && at.Sub(l.heard) >= latchSilence)
	}
	return !static && (l.closed || !open)
}

// find is the place of from among the candidates, or the one it may take.
func (l *latch) find(sort int, from netip.AddrPort) *candidate {
	for i := range l.trial[sort] {
		if c := &l.trial[sort][i]; c.from == from {
			return c
		}
	}
	c := &l.trial[sort][l.turn[sort]]
	l.turn[sort] = (l.turn[sort] + 1) % candidates
	return c
}

func (l *latch) trusts(a netip.Addr) bool {
	return a == l.sdp.Addr() || slices.ContainsFunc(l.trusted, func(p netip.Prefix) bool { return p.Contains(a) })
}
