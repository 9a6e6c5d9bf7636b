package sip

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	gosip "github.com/emiago/sipgo/sip"

	"parley/media/isolate"
	"parley/sip/dialog"
	"parley/sip/header"
	"parley/sip/transport"
	"parley/sip/trunk"
)

// Target is whom to call, as whom, and on what line: a Number on a trunk, or a
// URI, without one or at one of its targets.
type Target struct {
	Number string // E.164
	// Trunk is the name of the one to take. Empty: those that carry calls from From.Number, until one
	// takes the call (see trunk.Set.For).
	Trunk string

	// URI is called where it leads to: sip:user@host[:port][;transport=tcp]. With a Trunk that must be one of its targets
	// (trunk.Config.Leads), which is then called as the trunk calls numbers.
	URI  string
	Auth dialog.Credentials // for the challenges of a URI without a trunk; zero: a challenge is a refusal

	// Reservation, if not nil, was made on a trunk beforehand, from
	// the same number. Dial gives it back with the call's end.
	Reservation *trunk.Reservation

	// Headers go into the INVITE: X- headers and User-to-User, of the bounds of header.Fields.Custom. Those that the trunk
	// sends by itself count before them, and others are left out.
	Headers map[string]string

	From header.Identity // what the callee sees; without Host the trunk's or our own
	// Caller is the number of somebody whose call From sends on; empty: nobody's, or it is withheld. A trunk that
	// Diverts shows it in place of From, which stands in Diversion then.
	Caller  string
	Private bool // the callee is not to see it (Privacy: id)
	// Ringing, if not nil, is called with 180 and 183, on Dial's goroutine.
	Ringing func(code int)
	// Trace, if not nil, takes the messages of every attempt, also of a call that
	// is not answered.
	Trace *transport.Trace
}

// firstPatience is how long, in T1, a target may say nothing at all to an INVITE
// before the next one is tried: 4 s. Timer B of RFC 3261 would take 32 s,
// longer than callers wait.
const firstPatience = 8

// placement is where one INVITE goes and what it says.
type placement struct {
	uri      gosip.Uri // the Request-URI
	to, from gosip.Uri // without a host in from: our address
	display  string
	at       trunk.Endpoint
	trunk    *trunk.Trunk // nil: none
	auth     dialog.Credentials
	headers  []gosip.Header
	patience time.Duration // for the first response; 0: no end but the transaction's
	ringing  func(int)
	trace    *transport.Trace // nil: one of its own
}

// Dial calls and returns the answered leg, whose Run the caller must call. It
// gives up when ctx ends. Every failure is a *NotAnswered, a *trunk.Full,
// ErrClosed, or a mistake in t.
//
// On a trunk it tries one target after the other, as long as they cannot take
// the call and no phone has rung, and the next trunk, when there is one,
// after that.
func (u *UserAgent) Dial(ctx context.Context, t Target) (*Leg, error) {
	defer t.Reservation.Free() // when it was not used
	select {
	case <-u.layer.Ready():
	case <-ctx.Done():
		return nil, &NotAnswered{Err: context.Cause(ctx)}
	}
	if t.URI != "" && t.Trunk == "" {
		p, err := u.direct(ctx, t)
		if err != nil {
			return nil, err
		}
		return u.place(ctx, p)
	}
	trunks, err := u.choose(t)
	if err != nil {
		return nil, err
	}
	var leg *Leg
	for i, l := range trunks {
		if leg, err = u.dialOn(ctx, l, t, i+1 < len(trunks)); err == nil || ctx.Err() != nil || !nextTrunk(err) {
			break
		}
	}
	return leg, err
}

// choose lists the trunks to try.
func (u *UserAgent) choose(t Target) ([]*trunk.Trunk, error) {
	if t.URI != "" {
		_, to, err := parseURI(t.URI)
		l := u.trunks.Named(t.Trunk)
		if err == nil && (l == nil || !l.Leads(to)) {
			err = fmt.Errorf("sip: the trunk %s does not lead to %s", t.Trunk, to.Host)
		}
		return []*trunk.Trunk{l}, err
	}
	if plain := header.PlainNumber(t.Number); plain == "" || strings.Trim(plain, "+0123456789*#") != "" {
		return nil, fmt.Errorf("sip: %q is no telephone number", t.Number)
	}
	trunks := u.trunks.For(trunk.Caller{Trunk: t.Trunk, Number: t.From.Number})
	if len(trunks) == 0 {
		return nil, fmt.Errorf("sip: no trunk %s carries calls from %q", t.Trunk, t.From.Number)
	}
	return trunks, nil
}

// nextTrunk says whether another trunk could do better: this one is full, does
// not know us, or cannot be reached.
func nextTrunk(err error) bool {
	if _, full := errors.AsType[*trunk.Full](err); full {
		return true
	}
	e, ok := errors.AsType[*NotAnswered](err)
	return ok && e.heard < heardRinging && (e.Retry() || e.Ended().Detail == DetailAuth)
}

// dialOn places a call on a trunk, target after target. more says that another trunk is
// tried if need be, so that silence is not waited for here.
func (u *UserAgent) dialOn(ctx context.Context, l *trunk.Trunk, t Target, more bool) (*Leg, error) {
	user, to := l.Plan.Dialled(header.PlainNumber(t.Number)), trunk.Target{}
	if t.URI != "" {
		var uri gosip.Uri
		uri, to, _ = parseURI(t.URI) // choose has parsed it
		user = uri.User
	}
	choices, err := l.Choices(ctx, to)
	if resting, ok := errors.AsType[*trunk.Resting](err); ok {
		return nil, &NotAnswered{Code: 503, Phrase: resting.Error()}
	}
	if err != nil {
		return nil, unreached(ctx, err)
	}
	if !t.Reservation.Use(l) {
		err := l.Reserve(ctx)
		if _, full := errors.AsType[*trunk.Full](err); err != nil && !full {
			err = &NotAnswered{Err: err}
		}
		if err != nil {
			return nil, err
		}
	}
	// The call that comes up takes the channel over; see call.release.
	for i, h := range choices {
		p := u.placement(l, t, user, h.Endpoint)
		if more || i+1 < len(choices) {
			p.patience = firstPatience * u.cfg.T1
		}
		var leg *Leg
		if leg, err = u.place(ctx, p); err == nil {
			l.Worked(h)
			return leg, nil
		}
		e, ok := errors.AsType[*NotAnswered](err)
		if !ok || !e.Retry() || ctx.Err() != nil {
			if ok && e.Code != 0 {
				l.Worked(h)
			}
			break
		}
		l.Failed(h, user, e, e.Code, e.rest)
	}
	l.Release()
	return nil, err
}

// placement is what the trunk wants an INVITE to look like (telephone numbers
// in URIs: RFC 3261 section 19.1.6, identities: RFC 3325, privacy: RFC 3323). user is whom it calls.
func (u *UserAgent) placement(k *trunk.Trunk, t Target, user string, e trunk.Endpoint) placement {
	p := placement{at: e, trunk: k, auth: k.Auth, ringing: t.Ringing, trace: t.Trace, uri: e.Target.URI(user)}
	if k.Has(trunk.UserPhone) && t.URI == "" {
		p.uri.UriParams = append(p.uri.UriParams, gosip.HeaderKV{K: "user", V: "phone"})
	}
	p.to = *p.uri.Clone()
	p.to.UriParams.Remove("transport")
	host := cmp.Or(trunk.Bracketed(k.FromHost), t.From.Host)
	identity := gosip.Uri{Scheme: "sip", User: k.Plan.Shown(t.From.Number), Host: cmp.Or(host, dialog.URIHost(k.Facing(e.Addr.Addr())))}
	if k.Has(trunk.UserPhone) {
		identity.UriParams = gosip.HeaderParams{{K: "user", V: "phone"}}
	}
	if k.Has(trunk.Diverts) && t.Caller != "" {
		p.headers = append(p.headers, header.Deflected(identity, p.to)...)
		identity.User, t.From = k.Plan.Shown(t.Caller), header.Identity{Number: t.Caller}
	}
	p.from = gosip.Uri{Scheme: "sip", User: cmp.Or(k.FromUser, identity.User), Host: host}
	p.display = t.From.Display
	for _, h := range []struct {
		name   string
		wanted bool
	}{{"P-Asserted-Identity", k.Has(trunk.PAI)}, {"P-Preferred-Identity", k.Has(trunk.PPI)}} {
		if h.wanted && t.From.Number != "" {
			p.headers = append(p.headers, gosip.NewHeader(h.name, header.NameAddr(t.From.Display, identity)))
		}
	}
	if k.Has(trunk.Private) || t.Private {
		p.headers = append(p.headers, gosip.NewHeader("Privacy", "id"))
		if k.Has(trunk.PAI | trunk.PPI) {
			// The trunk learns who calls from the other header. Without one, it has
			// nothing but From, and must hide it itself.
			p.from, p.display = gosip.Uri{Scheme: "sip", User: "anonymous", Host: "anonymous.invalid"}, "Anonymous"
		}
	}
	for _, name := range slices.Sorted(maps.Keys(k.Headers)) {
		p.headers = append(p.headers, gosip.NewHeader(name, k.Headers[name]))
	}
	p.headers = append(p.headers, header.Custom(t.Headers, k.Headers)...)
	return p
}

// parseURI reads a sip: URI, and the server that it names. Its transport is empty where the URI has none.
func parseURI(text string) (uri gosip.Uri, server trunk.Target, err error) {
	if err := gosip.ParseUri(text, &uri); err != nil || uri.Scheme != "sip" || uri.Host == "" {
		return uri, server, fmt.Errorf("sip: %q is no sip: URI", text)
	}
	transport := strings.ToLower(uri.UriParams.GetOr("transport", ""))
	if transport != "" && transport != "udp" && transport != "tcp" && transport != "tls" {
		return uri, server, fmt.Errorf("sip: transport %q is not supported", transport)
	}
	if uri.Port < 0 || uri.Port > 65535 {
		return uri, server, fmt.Errorf("sip: port %d", uri.Port)
	}
	return uri, trunk.Target{Host: strings.Trim(uri.Host, "[]"), Port: uint16(uri.Port), Transport: transport}, nil
}

// direct is a call to a URI without a trunk.
func (u *UserAgent) direct(ctx context.Context, t Target) (p placement, err error) {
	uri, server, err := parseURI(t.URI)
	if err != nil {
		return p, err
	}
	found, err := trunk.Locate(ctx, u.layer, []trunk.Target{server})
	if len(found) == 0 {
		return p, unreached(ctx, err)
	}
	uri.Headers = nil
	p = placement{uri: uri, to: *uri.Clone(), from: gosip.Uri{Scheme: "sip", User: t.From.Number, Host: t.From.Host},
		display: t.From.Display, at: found[0], auth: t.Auth, ringing: t.Ringing, trace: t.Trace}
	p.to.UriParams = nil
	if t.Private {
		p.headers = []gosip.Header{gosip.NewHeader("Privacy", "id")}
	}
	p.headers = append(p.headers, header.Custom(t.Headers, nil)...)
	return p, nil
}

// place sends one INVITE and sees it through.
func (u *UserAgent) place(ctx context.Context, p placement) (*Leg, error) {
	if !u.begin() {
		return nil, ErrClosed
	}
	c, req, err := u.outgoing(p)
	if err != nil {
		u.work.Done()
		return nil, err
	}
	grant := u.layer.Grant(p.at.Addr.Addr())
	isolate.Go("sip/outgoing", c.broke, c.run, c.end, func() { grant.Set() }, u.work.Done)
	i := &clientInvite{call: c, req: req}
	if err = u.layer.Connect(ctx, c.dialog.By, req); err == nil {
		i.tx, err = u.layer.Begin(ctx, req)
	}
	if err != nil {
		c.drop()
		return nil, unreached(ctx, err)
	}
	return i.await(ctx, p)
}

// mtu is the size of a request that fits a datagram on any path (RFC 3261
// section 18.1.1).
const mtu = 1300

// supportedOn is our Supported header on a trunk.
func supportedOn(l *trunk.Trunk) gosip.Header {
	if l != nil && l.Has(trunk.NoPRACK) {
		return gosip.NewHeader("Supported", "timer")
	}
	return supported()
}
