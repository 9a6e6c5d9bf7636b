package sip

import (
	"net/netip"
	"slices"
	"time"

	gosip "github.com/emiago/sipgo/sip"

	"parley/sip/challenge"
	"parley/sip/dialog"
	"parley/sip/header"
	"parley/sip/transport"
	"parley/sip/trunk"
)

// trunkOfCall is the trunk that an INVITE came on: of those that its source belongs
// to, the one whose credentials it shows, else whose number it calls or whose
// registration, else the first; nil: none. Between accounts nothing is guessed: one that names the source comes
// before those that only register there, and of several that register there none is taken.
func (u *UserAgent) trunkOfCall(req *gosip.Request) *trunk.Trunk {
	trunks := u.trunks.AllOf(transport.Source(req).Addr())
	if len(trunks) < 2 {
		return u.trunks.Of(transport.Source(req).Addr())
	}
	user, shown, from := header.Called(req), challenge.Presented(req), transport.Source(req).Addr()
	one := !slices.ContainsFunc(trunks, func(l *trunk.Trunk) bool { return l.Account != trunks[0].Account })
	for _, is := range []func(*trunk.Trunk) bool{
		func(l *trunk.Trunk) bool { return shown != nil && shown.Username == l.Inbound.Username },
		func(l *trunk.Trunk) bool {
			return slices.Contains(l.Numbers, l.Plan.Called(user)) || l.Has(trunk.Register) && user == l.ContactUser()
		},
		func(l *trunk.Trunk) bool { return one || l.Names(from) },
	} {
		if i := slices.IndexFunc(trunks, is); i >= 0 {
			return trunks[i]
		}
	}
	return nil
}

// admit finds the trunk of an INVITE, nil where its source may call without one, and says whether the call may go on. Else it is
// answered: it is asked for its credentials (407), or is from a host that we have called and do not take calls of.
func (u *UserAgent) admit(req *gosip.Request, tx *gosip.ServerTx) (l *trunk.Trunk, ok bool) {
	if req.Transport() == transport.OverWebSocket {
		l = u.trunkOfBrowser(req, tx)
		return l, l != nil
	}
	l = u.trunkOfCall(req)
	switch {
	case l == nil && !u.cfg.Allow(transport.Source(req).Addr()):
		u.reply(req, tx, 403, "")
		return nil, false
	case l == nil || l.Inbound == (dialog.Credentials{}):
		return l, true
	}
	v := u.verifier.Check(req, transport.Source(req).Addr(), l.Inbound, time.Now())
	if v != challenge.Right {
		u.challenge(req, tx, v, l.Name)
	}
	return l, v == challenge.Right
}

// trunkOfBrowser is the trunk whose credentials an INVITE over a WebSocket shows. nil: it shows none of any, and is asked for them.
// The password tells trunks of one user name apart; between accounts that have chosen the same one nothing is guessed.
func (u *UserAgent) trunkOfBrowser(req *gosip.Request, tx *gosip.ServerTx) *trunk.Trunk {
	from, now := transport.Source(req).Addr(), time.Now()
	if !u.layer.MayGuess(from) {
		u.counters.refused.Add(1)
		u.layer.Rejections.Add(transport.Rejection{Source: from, Called: header.Called(req), Code: 503, Cause: transport.CauseRate}, now)
		_ = tx.Respond(response(req, 503, "", "", retryAfter(retryOverload)))
		return nil
	}
	v := u.verifier.Check(req, from, nobody, now)
	if v != challenge.Wrong {
		u.challenge(req, tx, v, "")
		return nil
	}
	trunks := u.trunks.Browsers(challenge.Presented(req).Username)
	for _, l := range trunks {
		taken := func(o *trunk.Trunk) bool { return o.Inbound == l.Inbound && o.Account != l.Account }
		if slices.ContainsFunc(trunks, taken) {
			continue
		}
		if v = u.verifier.Check(req, from, l.Inbound, now); v == challenge.Right {
			return l
		}
		if v == challenge.Stale {
			break
		}
	}
	if v == challenge.Wrong {
		u.layer.Guessed(from)
	}
	u.challenge(req, tx, v, "")
	return nil
}

// nobody has credentials that no request shows: a user is one line.
var nobody = dialog.Credentials{Username: "\n"}

// challenge asks an INVITE for credentials, and counts wrong ones, on a trunk if it is known.
func (u *UserAgent) challenge(req *gosip.Request, tx *gosip.ServerTx, v challenge.Verdict, on string) {
	from, now := transport.Source(req).Addr(), time.Now()
	if v == challenge.Wrong {
		u.counters.refused.Add(1)
		u.layer.Rejections.Add(transport.Rejection{Source: from, Trunk: on, Called: header.Called(req), Code: 407, Cause: transport.CauseDigest}, now)
	}
	ways := u.verifier.Challenge(from, v == challenge.Stale, now)
	if req.Transport() == transport.OverWebSocket {
		slices.Reverse(ways) // the libraries of browsers look at the last one, and know only MD5
	}
	_ = tx.Respond(response(req, 407, "", "", ways...))
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

// arrivedOn says on which trunk the call has come, and reads its numbers by the trunk's dial plan.
func (in *Incoming) arrivedOn(l *trunk.Trunk) {
	in.Trunk, in.Account, in.Trusted = l.Name, l.Account, !l.Has(trunk.DistrustIdentity)
	in.From.Number, in.Asserted.Number = l.Plan.Calling(in.From.Number), l.Plan.Calling(in.Asserted.Number)
	for i := range in.Headers.Diversions {
		by := &in.Headers.Diversions[i].By
		by.Number = l.Plan.Calling(by.Number)
	}
	for i := range in.Headers.History {
		to := &in.Headers.History[i].To
		to.Number = l.Plan.Calling(to.Number)
	}
	meant := in.To.Number
	in.To.Number = l.Plan.Called(meant)
	in.Extension, _ = l.Plan.Extension(in.User)
	in.Called = l.Plan.Called(in.User)
	if in.Extension != "" || !l.Has(trunk.Register) || in.User != l.ContactUser() || slices.Contains(l.Numbers, in.Called) {
		return
	}
	// A registrar sends calls to our Contact, so that the number stands in To, and for a line with one
	// number perhaps nowhere.
	in.User, in.Called = meant, in.To.Number
	if len(l.Numbers) == 1 {
		in.Called = l.Numbers[0]
	}
	in.Extension, _ = l.Plan.Extension(meant)
}

// refused records an INVITE that was refused.
func (u *UserAgent) refused(req *gosip.Request, code int) {
	from := transport.Source(req).Addr()
	name, _ := u.trunks.Source(from)
	r := transport.Rejection{Source: from, Trunk: name, Code: code, Cause: transport.CauseOther}
	if req.To() != nil {
		r.Called = header.Called(req)
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
