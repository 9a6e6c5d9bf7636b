package sip

import (
	"bytes"
	"net/netip"
	"slices"
	"time"

	gosip "github.com/emiago/sipgo/sip"
)

// What comes in passes these gates, the cheapest first: the source, before
// anything is parsed; how fast it sends; whose trunk it is; its credentials.

// inCall are the methods that belong to calls under way, which nobody can use
// to begin something.
var inCall = []gosip.RequestMethod{gosip.ACK, gosip.BYE, gosip.CANCEL, gosip.PRACK, gosip.UPDATE, gosip.INFO, gosip.NOTIFY, gosip.REFER}

// floods says whether a datagram is one too many from its source. It is dropped
// then: the far end repeats it, which slows it down, and a forged one costs us
// no answer.
func (u *UserAgent) floods(from netip.Addr, data []byte) bool {
	method, _, _ := bytes.Cut(data[:min(len(data), 16)], []byte(" "))
	if bytes.HasPrefix(method, []byte("SIP/")) || slices.Contains(inCall, gosip.RequestMethod(method)) || u.known.take(from, time.Now()) {
		return false
	}
	u.rejections.add(Rejection{Source: from, Trunk: u.trunkOf(from), Cause: CauseRate}, time.Now())
	return true
}

// tooFast is floods for streams, from which nothing can be dropped.
func (u *UserAgent) tooFast(req *gosip.Request) bool {
	return req.Transport() != "UDP" && !slices.Contains(inCall, req.Method) && !u.known.take(source(req).Addr(), time.Now())
}

// lineOfCall is the trunk that an INVITE came on: of those that its source belongs
// to, the one whose credentials it shows, else whose number it calls or whose
// registration, else the first; nil: none.
func (u *UserAgent) lineOfCall(req *gosip.Request) *line {
	lines := u.linesOf(source(req).Addr())
	if len(lines) < 2 {
		return u.lineOf(source(req).Addr())
	}
	number, shown := called(req), presented(req)
	best := lines[0]
	for _, l := range lines {
		switch {
		case shown != nil && shown.Username == l.trunk.Inbound.Username:
			return l
		case slices.Contains(l.trunk.Numbers, number), l.trunk.Register && number == l.contactUser():
			best = l
		}
	}
	return best
}

// authentic checks the credentials of an INVITE where its trunk wants some, and
// asks for them if need be (407).
func (u *UserAgent) authentic(req *gosip.Request, tx *gosip.ServerTx, l *line) bool {
	if l.trunk.Inbound == (Credentials{}) {
		return true
	}
	from, now := source(req).Addr(), time.Now()
	v := u.verifier.check(req, from, l.trunk.Inbound, now)
	if v == right {
		return true
	}
	if v == wrong {
		u.counters.refused.Add(1)
		u.rejections.add(Rejection{Source: from, Trunk: l.trunk.Name, Called: called(req), Code: 407, Cause: CauseDigest}, now)
	}
	_ = tx.Respond(response(req, 407, "", "", u.verifier.challenge(from, v == stale, now)...))
	return false
}

// trusts says whether a request of the call may come from an address: where the
// call comes from, where its far end has said to be, or its trunk. Whoever has
// read Call-ID and tags somewhere else must not end the call, and with it what
// is paid for it.
func (c *call) trusts(from netip.Addr) bool {
	d := &c.dialog
	if from == d.peer.Addr() {
		return true
	}
	if slices.Contains(c.heard, from) {
		return true
	}
	return d.line != nil && d.line.owns(from)
}

// owns says whether calls of the trunk may come from an address.
func (l *line) owns(from netip.Addr) bool {
	return slices.ContainsFunc(l.trunk.Allow, func(p netip.Prefix) bool { return p.Contains(from) }) || l.reaches(from)
}

// called is the number that a call on the trunk is for. A registrar sends calls
// to our Contact, so that the number stands in To, and for a line with one
// number perhaps nowhere.
func (l *line) called(in *Incoming) string {
	if !l.trunk.Register || in.Called != l.contactUser() || slices.Contains(l.trunk.Numbers, in.Called) {
		return in.Called
	}
	if len(l.trunk.Numbers) == 1 {
		return l.trunk.Numbers[0]
	}
	return in.To.Number
}

// trunkOf names a source's trunk; empty: none.
func (u *UserAgent) trunkOf(from netip.Addr) string {
	if l := u.lineOf(from); l != nil {
		return l.trunk.Name
	}
	return ""
}

// refused notes an INVITE that was told no.
func (u *UserAgent) refused(req *gosip.Request, code int) {
	from := source(req).Addr()
	r := Rejection{Source: from, Trunk: u.trunkOf(from), Code: code, Cause: CauseOther}
	if req.To() != nil {
		r.Called = called(req)
	}
	switch {
	case code == 487: // given up
		return
	case code == 503 && u.draining.Load():
		r.Cause = CauseDraining
	case code == 503:
		r.Cause = CauseOverload
	case code == 403 && !u.cfg.Allow(from) && r.Trunk == "":
		r.Cause = CauseUnknown
	case code == 404:
		r.Cause = CauseNumber
	case code == 480:
		r.Cause = CauseBalance
	case code == 486:
		r.Cause = CauseBusy
	case code == 488:
		r.Cause = CauseCodec
	case slices.Contains([]int{400, 413, 415, 416, 420, 421, 422, 482, 505}, code):
		r.Cause = CauseMalformed
	}
	u.rejections.add(r, time.Now())
}
