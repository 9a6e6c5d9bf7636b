// Package admission says which calls come in: the trunk that an INVITE belongs to, the credentials that it has to show there, and
// the sources whose calls nobody ever confirms. It records what was refused, and why. It sends nothing and knows no calls: who
// serves an INVITE asks it first.
//
// Between accounts nothing is guessed: an INVITE that may be of several is of none.
package admission

import (
	"net/netip"
	"slices"
	"sync/atomic"
	"time"

	gosip "github.com/emiago/sipgo/sip"

	"parley/sip/challenge"
	"parley/sip/dialog"
	"parley/sip/header"
	"parley/sip/transport"
	"parley/sip/trunk"
)

// Retry-After values, in seconds.
const (
	retryGuess       = 5
	retryUnconfirmed = 60
)

// Config is what a Gate needs. All of it is required.
type Config struct {
	Trunks     *trunk.Set
	Allow      func(netip.Addr) bool // whether a source may call without a trunk
	Draining   func() bool           // whether no new calls are taken, so that a 503 is for this
	Strangers  Strangers
	Rejections *transport.Rejections
}

// Strangers bounds the wrong credentials of strangers by their addresses; a transport.Layer does.
type Strangers interface {
	MayGuess(from netip.Addr) bool // not while wrong ones come too fast
	Guessed(from netip.Addr)       // wrong ones came
}

// Gate admits INVITEs. Its methods may be called from several goroutines.
type Gate struct {
	cfg         Config
	verifier    *challenge.Verifier
	unconfirmed *unconfirmed
	refused     atomic.Uint64
}

// New is a gate that challenges with nonces of its own.
func New(cfg Config) *Gate {
	return &Gate{cfg: cfg, verifier: challenge.New(), unconfirmed: newUnconfirmed()}
}

// Refusal is the response to an INVITE that does not come in. It is recorded already.
type Refusal struct {
	Code    int
	Headers []gosip.Header
}

// Admit finds the trunk of an INVITE, nil where its source may call without one. With a Refusal it does not come in: it is asked for
// its credentials (407), is from a host that we have called and do not take calls of (403), or comes too fast after others that were
// wrong or never confirmed (503).
func (g *Gate) Admit(req *gosip.Request) (*trunk.Trunk, *Refusal) {
	from := transport.Source(req).Addr()
	if req.Transport() == transport.OverWebSocket {
		return g.trunkOfBrowser(req, from)
	}
	l := g.trunkOf(req, from)
	switch {
	case l == nil && !g.cfg.Allow(from):
		g.Record(req, 403)
		return nil, &Refusal{Code: 403}
	case l != nil && l.Inbound != (dialog.Credentials{}):
		if v := g.verifier.Check(req, from, l.Inbound, time.Now()); v != challenge.Right {
			return nil, g.challenge(req, v, l.Name)
		}
	}
	if refusal := g.doubts(req, l); refusal != nil {
		return nil, refusal
	}
	return l, nil
}

// Refused is how many INVITEs were refused since the start; those that were only asked for credentials are none.
func (g *Gate) Refused() uint64 { return g.refused.Load() }

// trunkOf is the trunk that an INVITE came on: of those that its source belongs
// to, the one whose credentials it shows, else whose number it calls or whose
// registration, else the first; nil: none. Between accounts nothing is guessed: one that names the source comes
// before those that only register there, and of several that register there none is taken.
func (g *Gate) trunkOf(req *gosip.Request, from netip.Addr) *trunk.Trunk {
	trunks := g.cfg.Trunks.AllOf(from)
	if len(trunks) < 2 {
		return g.cfg.Trunks.Of(from)
	}
	user, shown := header.Called(req), challenge.Presented(req)
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

// trunkOfBrowser is the trunk whose credentials an INVITE over a WebSocket shows. A Refusal: it shows none of any, and is asked for
// them. The password tells trunks of one user name apart; between accounts that have chosen the same one nothing is guessed.
func (g *Gate) trunkOfBrowser(req *gosip.Request, from netip.Addr) (*trunk.Trunk, *Refusal) {
	now := time.Now()
	if !g.cfg.Strangers.MayGuess(from) {
		return nil, g.refuse(transport.Rejection{Source: from, Called: header.Called(req), Code: 503, Cause: transport.CauseRate}, header.RetryAfter(retryGuess))
	}
	v := g.verifier.Check(req, from, nobody, now)
	if v != challenge.Wrong {
		return nil, g.challenge(req, v, "")
	}
	trunks := g.cfg.Trunks.Browsers(challenge.Presented(req).Username)
	for _, l := range trunks {
		taken := func(o *trunk.Trunk) bool { return o.Inbound == l.Inbound && o.Account != l.Account }
		if slices.ContainsFunc(trunks, taken) {
			continue
		}
		if v = g.verifier.Check(req, from, l.Inbound, now); v == challenge.Right {
			return l, nil
		}
		if v == challenge.Stale {
			break
		}
	}
	if v == challenge.Wrong {
		g.cfg.Strangers.Guessed(from)
	}
	return nil, g.challenge(req, v, "")
}

// nobody has credentials that no request shows: a user is one line.
var nobody = dialog.Credentials{Username: "\n"}

// challenge asks an INVITE for credentials, and counts wrong ones, on a trunk if it is known.
func (g *Gate) challenge(req *gosip.Request, v challenge.Verdict, on string) *Refusal {
	from := transport.Source(req).Addr()
	ways := g.verifier.Challenge(from, v == challenge.Stale, time.Now())
	if req.Transport() == transport.OverWebSocket {
		slices.Reverse(ways) // the libraries of browsers look at the last one, and know only MD5
	}
	if v != challenge.Wrong {
		return &Refusal{Code: 407, Headers: ways}
	}
	return g.refuse(transport.Rejection{Source: from, Trunk: on, Called: header.Called(req), Code: 407, Cause: transport.CauseDigest}, ways...)
}

// refuse records an INVITE that is refused.
func (g *Gate) refuse(r transport.Rejection, headers ...gosip.Header) *Refusal {
	g.refused.Add(1)
	g.cfg.Rejections.Add(r, time.Now())
	return &Refusal{Code: r.Code, Headers: headers}
}

// Record records an INVITE that was refused with a response, after it came in or before. One that was given up (487) is counted only.
func (g *Gate) Record(req *gosip.Request, code int) {
	from := transport.Source(req).Addr()
	name, _ := g.cfg.Trunks.Source(from)
	r := transport.Rejection{Source: from, Trunk: name, Code: code, Cause: transport.CauseOther}
	if req.To() != nil {
		r.Called = header.Called(req)
	}
	switch cause, ok := causes[code]; {
	case code == 487:
		g.refused.Add(1)
		return
	case code == 503 && g.cfg.Draining():
		r.Cause = transport.CauseDraining
	case code == 403 && !g.cfg.Allow(from) && r.Trunk == "":
		r.Cause = transport.CauseUnknown
	case ok:
		r.Cause = cause
	}
	g.refuse(r)
}

// causes are those of responses that have one cause.
var causes = map[int]transport.Cause{
	404: transport.CauseNumber, 480: transport.CauseBalance, 486: transport.CauseBusy, 488: transport.CauseCodec, 503: transport.CauseOverload,
	400: transport.CauseMalformed, 413: transport.CauseMalformed, 415: transport.CauseMalformed, 416: transport.CauseMalformed, 420: transport.CauseMalformed,
	421: transport.CauseMalformed, 422: transport.CauseMalformed, 482: transport.CauseMalformed, 505: transport.CauseMalformed,
}
