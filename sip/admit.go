package sip

import (
	"net/netip"
	"slices"
	"time"

	gosip "github.com/emiago/sipgo/sip"

	"parley/sip/dialog"
	"parley/sip/transport"
	"parley/sip/trunk"
)

// trunkOfCall is the trunk that an INVITE came on: of those that its source belongs
// to, the one whose credentials it shows, else whose number it calls or whose
// registration, else the first; nil: none.
func (u *UserAgent) trunkOfCall(req *gosip.Request) *trunk.Trunk {
	trunks := u.trunks.AllOf(transport.Source(req).Addr())
	if len(trunks) < 2 {
		return u.trunks.Of(transport.Source(req).Addr())
	}
	number, shown := called(req), presented(req)
	best := trunks[0]
	for _, l := range trunks {
		switch {
		case shown != nil && shown.Username == l.Inbound.Username:
			return l
		case slices.Contains(l.Numbers, number), l.Has(trunk.Register) && number == l.ContactUser():
			best = l
		}
	}
	return best
}

// authentic checks the credentials of an INVITE where its trunk wants some, and
// asks for them if need be (407).
func (u *UserAgent) authentic(req *gosip.Request, tx *gosip.ServerTx, l *trunk.Trunk) bool {
	if l.Inbound == (dialog.Credentials{}) {
		return true
	}
	from, now := transport.Source(req).Addr(), time.Now()
	v := u.verifier.check(req, from, l.Inbound, now)
	if v == right {
		return true
	}
	if v == wrong {
		u.counters.refused.Add(1)
		u.layer.Rejections.Add(transport.Rejection{Source: from, Trunk: l.Name, Called: called(req), Code: 407, Cause: transport.CauseDigest}, now)
	}
	_ = tx.Respond(response(req, 407, "", "", u.verifier.challenge(from, v == stale, now)...))
	return false
}

// trusts says whether a request of the call may come from an address: where the
// call comes from, where its far end has said to be, or its trunk. A stranger who has
// read Call-ID and tags must not end the call, and with it what
// is paid for it.
func (c *call) trusts(from netip.Addr) bool {
	if from == c.dialog.Peer.Addr() {
		return true
	}
	return c.heard.Holds(from) || c.trunk != nil && c.trunk.Owns(from)
}

// calledOn is the number that a call on a trunk is for. A registrar sends calls
// to our Contact, so that the number stands in To, and for a line with one
// number perhaps nowhere.
func calledOn(l *trunk.Trunk, in *Incoming) string {
	if !l.Has(trunk.Register) || in.Called != l.ContactUser() || slices.Contains(l.Numbers, in.Called) {
		return in.Called
	}
	if len(l.Numbers) == 1 {
		return l.Numbers[0]
	}
	return in.To.Number
}

// refused records an INVITE that was refused.
func (u *UserAgent) refused(req *gosip.Request, code int) {
	from := transport.Source(req).Addr()
	name, _ := u.trunks.Source(from)
	r := transport.Rejection{Source: from, Trunk: name, Code: code, Cause: transport.CauseOther}
	if req.To() != nil {
		r.Called = called(req)
	}
	switch cause, ok := causes[code]; {
	case code == 487: // given up
		return
	case code == 503 && u.draining.Load():
		r.Cause = transport.CauseDraining
	case code == 403 && !u.cfg.Allow(from) && r.Trunk == "":
		r.Cause = transport.CauseUnknown
	case ok:
		r.Cause = cause
	}
	u.layer.Rejections.Add(r, time.Now())
}

// causes are those of responses that have one cause.
var causes = map[int]transport.Cause{
	404: transport.CauseNumber, 480: transport.CauseBalance, 486: transport.CauseBusy, 488: transport.CauseCodec, 503: transport.CauseOverload,
	400: transport.CauseMalformed, 413: transport.CauseMalformed, 415: transport.CauseMalformed, 416: transport.CauseMalformed, 420: transport.CauseMalformed,
	421: transport.CauseMalformed, 422: transport.CauseMalformed, 482: transport.CauseMalformed, 505: transport.CauseMalformed,
}
