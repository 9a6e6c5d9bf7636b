package admission_test

import (
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	gosip "github.com/emiago/sipgo/sip"

	"parley/sip/admission"
	"parley/sip/dialog"
	"parley/sip/transport"
	"parley/sip/trunk"
)

const (
	number   = "+15550100002"
	carrier  = "192.0.2.1:5060" // names a trunk
	anywhere = "203.0.113.5:5060"
)

var ann, eve = dialog.Credentials{Username: "ann", Password: "secret"}, dialog.Credentials{Username: "ann", Password: "guess"}

// desk is a gate with what it records.
type desk struct {
	*admission.Gate
	t          *testing.T
	rejections *transport.Rejections
	guesses    int // that strangers made
	mayGuess   bool
	draining   bool
}

// MayGuess implements admission.Strangers.
func (d *desk) MayGuess(netip.Addr) bool { return d.mayGuess }

// Guessed implements admission.Strangers.
func (d *desk) Guessed(netip.Addr) { d.guesses++ }

func newDesk(t *testing.T, trunks ...trunk.Config) *desk {
	d := &desk{t: t, rejections: transport.NewRejections(), mayGuess: true}
	d.Gate = admission.New(admission.Config{
		Trunks: trunk.NewSet(trunks, trunk.Options{}), Allow: func(a netip.Addr) bool { return a.IsLoopback() },
		Draining: func() bool { return d.draining }, Strangers: d, Rejections: d.rejections,
	})
	return d
}

// invite is an INVITE to a user from a source.
func invite(network, from, user string) *gosip.Request {
	req := gosip.NewRequest(gosip.INVITE, gosip.Uri{Scheme: "sip", User: user, Host: "h"})
	req.AppendHeader(&gosip.ToHeader{Address: gosip.Uri{Scheme: "sip", User: user, Host: "h"}})
	req.SetTransport(network)
	req.SetSource(from)
	return req
}

// signed is an INVITE with the credentials that a refusal asks for.
func (d *desk) signed(req *gosip.Request, asked *admission.Refusal, who dialog.Credentials) *gosip.Request {
	d.t.Helper()
	if asked == nil || asked.Code != 407 {
		d.t.Fatalf("it is not asked for credentials: %+v", asked)
	}
	res := gosip.NewResponse(407, "No")
	for _, h := range asked.Headers {
		res.AppendHeader(h)
	}
	a := dialog.NewAuthorizer(who)
	if err := a.HandleChallenge(res, new(dialog.AuthAttempts)); err != nil {
		d.t.Fatal(err)
	}
	next := req.Clone()
	next.SetSource(req.Source())
	a.Sign(next)
	return next
}

// admits checks the trunk of an INVITE; empty: it comes in without one.
func (d *desk) admits(req *gosip.Request, want string) {
	d.t.Helper()
	l, refusal := d.Admit(req)
	name := ""
	if l != nil {
		name = l.Name
	}
	if refusal != nil || name != want {
		d.t.Errorf("on %q with %+v, want %q", name, refusal, want)
	}
}

// refuses checks how an INVITE is refused, and as what that is recorded; empty: it is not.
func (d *desk) refuses(req *gosip.Request, code int, cause transport.Cause) *admission.Refusal {
	d.t.Helper()
	before, counted := d.rejections.Counts()[cause], d.Refused()
	l, refusal := d.Admit(req)
	if l != nil || refusal == nil || refusal.Code != code {
		d.t.Fatalf("on %+v with %+v, want %d", l, refusal, code)
	}
	recorded := uint64(1)
	if cause == "" {
		recorded = 0
	}
	if got := d.rejections.Counts()[cause] - before; got != recorded || d.Refused()-counted != recorded {
		d.t.Errorf("%d are recorded as %s, %d refused; want %d", got, cause, d.Refused()-counted, recorded)
	}
	return refusal
}

func nets(list ...string) (all []netip.Prefix) {
	for _, s := range list {
		all = append(all, netip.MustParsePrefix(s))
	}
	return all
}

// A call comes in on the trunk of its source, or from where calls are allowed without one.
func TestSources(t *testing.T) {
	d := newDesk(t, trunk.Config{Name: "a", Allow: nets("192.0.2.0/24")})
	d.admits(invite("UDP", carrier, number), "a")
	d.admits(invite("TCP", "127.0.0.1:5060", number), "")
	d.refuses(invite("UDP", anywhere, number), 403, transport.CauseUnknown)
}

// Of several trunks of one source the number decides, and the first takes others.
func TestTrunksOfOneSource(t *testing.T) {
	from := nets("192.0.2.1/32")
	d := newDesk(t, trunk.Config{Name: "a", Allow: from, Numbers: []string{"+15550100001"}}, trunk.Config{Name: "b", Allow: from, Numbers: []string{number}})
	d.admits(invite("UDP", carrier, number), "b")
	d.admits(invite("UDP", carrier, "+15550100009"), "a")
}

// A trunk with credentials asks for them; wrong ones are recorded, and being asked is not.
func TestCredentials(t *testing.T) {
	d := newDesk(t, trunk.Config{Name: "a", Allow: nets("192.0.2.0/24"), Inbound: ann})
	req := invite("UDP", carrier, number)
	asked := d.refuses(req, 407, "")
	if len(asked.Headers) != 2 || !strings.Contains(asked.Headers[0].Value(), "MD5") {
		t.Errorf("%v", asked.Headers)
	}
	d.refuses(d.signed(req, asked, eve), 407, transport.CauseDigest)
	if r := d.rejections.List()[0]; r.Trunk != "a" || r.Called != number || r.Code != 407 {
		t.Errorf("%+v", r)
	}
	d.admits(d.signed(req, asked, ann), "a")
}

// Browsers are known by their credentials alone, and may not try many. Those that two accounts have are nobody's.
func TestBrowsers(t *testing.T) {
	bob := dialog.Credentials{Username: "bob", Password: "secret"}
	d := newDesk(t, trunk.Config{Name: "one", Account: "a", Inbound: ann, Flags: trunk.WebSocket},
		trunk.Config{Name: "two", Account: "b", Inbound: dialog.Credentials{Username: "ann", Password: "other"}, Flags: trunk.WebSocket},
		trunk.Config{Name: "three", Account: "a", Inbound: bob, Flags: trunk.WebSocket}, trunk.Config{Name: "four", Account: "b", Inbound: bob, Flags: trunk.WebSocket})
	req := invite(transport.OverWebSocket, anywhere, number)
	asked := d.refuses(req, 407, "")
	if len(asked.Headers) != 2 || !strings.Contains(asked.Headers[1].Value(), "MD5") {
		t.Errorf("the last one is not the one that browsers know: %v", asked.Headers)
	}
	d.admits(d.signed(req, asked, ann), "one")
	d.refuses(d.signed(req, asked, eve), 407, transport.CauseDigest)
	d.refuses(d.signed(req, asked, bob), 407, transport.CauseDigest)
	if d.guesses != 2 {
		t.Errorf("%d guesses", d.guesses)
	}
	d.mayGuess = false
	if r := d.refuses(d.signed(req, asked, ann), 503, transport.CauseRate); len(r.Headers) != 1 || r.Headers[0].Value() != "5" {
		t.Errorf("%v", r.Headers)
	}
}

// A source whose calls to a number nobody confirms may not begin more for a while; one that cannot be forged may.
func TestUnconfirmed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, trunk.Config{Name: "a", Allow: nets("192.0.2.0/24")}, trunk.Config{Name: "b", Allow: nets("198.51.100.0/24"), Inbound: ann})
		req := invite("UDP", carrier, number)
		for range 5 {
			l, refusal := d.Admit(req)
			if refusal != nil {
				t.Fatalf("%+v", refusal)
			}
			d.Unconfirmed(req, l)
			time.Sleep(time.Second)
		}
		if r := d.refuses(req, 503, transport.CauseUnconfirmed); len(r.Headers) != 1 || r.Headers[0].Value() != "60" {
			t.Errorf("%v", r.Headers)
		}
		d.admits(invite("UDP", carrier, "+15550100003"), "a")
		d.admits(invite("UDP", "192.0.2.9:5060", number), "a")
		d.admits(invite("TCP", carrier, number), "a")
		time.Sleep(55 * time.Second) // the first is a minute old
		l, refusal := d.Admit(req)
		if refusal != nil {
			t.Fatalf("a minute later: %+v", refusal)
		}
		d.Unconfirmed(req, l)
		d.refuses(req, 503, transport.CauseUnconfirmed)
		d.Confirmed(req, l)
		d.admits(req, "a")

		other := invite("UDP", "198.51.100.1:5060", number)
		asked := d.refuses(other, 407, "")
		for range 6 { // who shows credentials is no forger
			l, refusal := d.Admit(d.signed(other, asked, ann))
			if refusal != nil {
				t.Fatalf("%+v", refusal)
			}
			d.Unconfirmed(other, l)
			_, asked = d.Admit(other)
		}
	})
}

// What is refused later is recorded by its code.
func TestRecord(t *testing.T) {
	d := newDesk(t, trunk.Config{Name: "a", Allow: nets("192.0.2.0/24")})
	for _, c := range []struct {
		code     int
		draining bool
		want     transport.Cause
	}{
		{404, false, transport.CauseNumber}, {503, false, transport.CauseOverload}, {503, true, transport.CauseDraining},
		{403, false, transport.CauseOther}, {603, false, transport.CauseOther}, {420, false, transport.CauseMalformed},
	} {
		before := d.rejections.Counts()[c.want]
		d.draining = c.draining
		if d.Record(invite("UDP", carrier, number), c.code); d.rejections.Counts()[c.want] != before+1 {
			t.Errorf("%d: %v", c.code, d.rejections.Counts())
		}
	}
	if r := d.rejections.List()[0]; r.Trunk != "a" || r.Called != number {
		t.Errorf("%+v", r)
	}
	counts := d.rejections.Counts()
	if d.Record(invite("UDP", carrier, number), 487); d.Refused() != 7 || len(d.rejections.Counts()) != len(counts) || d.rejections.Counts()[transport.CauseOther] != counts[transport.CauseOther] {
		t.Errorf("given up: %v, %d refused", d.rejections.Counts(), d.Refused())
	}
}
