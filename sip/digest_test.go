package sip

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	gosip "github.com/emiago/sipgo/sip"
	"github.com/icholy/digest"
)

var here = netip.MustParseAddr("192.0.2.1")

// options is a request to sign.
func options(t *testing.T, uri string) *gosip.Request {
	t.Helper()
	var u gosip.Uri
	if err := gosip.ParseUri(uri, &u); err != nil {
		t.Fatal(err)
	}
	return gosip.NewRequest(gosip.OPTIONS, u)
}

// asks is a response with these challenges.
func asks(req *gosip.Request, code int, challenges ...string) *gosip.Response {
	res := gosip.NewResponse(code, "No")
	name := authHeaders[0].challenge
	if code == 407 {
		name = authHeaders[1].challenge
	}
	for _, c := range challenges {
		res.AppendHeader(gosip.NewHeader(name, c))
	}
	return res
}

func signed(t *testing.T, req *gosip.Request, name string) *digest.Credentials {
	t.Helper()
	hs := req.GetHeaders(name)
	if len(hs) != 1 {
		t.Fatalf("%d %s headers", len(hs), name)
	}
	c, err := digest.ParseCredentials(hs[0].Value())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestChallengesAreMet(t *testing.T) {
	const (
		md5    = `Digest realm="r", nonce="m", algorithm=MD5, qop="auth"`
		plain  = `Digest realm="r", nonce="p"`
		sha    = `Digest realm="r", nonce="s", algorithm=SHA-256, qop="auth-int, auth"`
		strong = `Digest realm="r", nonce="5", algorithm=SHA-512-256, qop="auth"`
		sess   = `Digest realm="r", nonce="x", algorithm=SHA-256-sess, qop="auth"`
		whole  = `Digest realm="r", nonce="i", algorithm=MD5, qop="auth-int"`
	)
	for _, tt := range []struct {
		challenges []string
		nonce      string // of the one that is answered; empty: none
	}{
		{[]string{md5}, "m"}, {[]string{plain}, "p"}, {[]string{md5, sha, strong}, "s"}, {[]string{sha, md5}, "s"}, {[]string{md5, strong}, "5"},
		{[]string{sess, md5}, "m"}, {[]string{`Bearer x`, `digest realm="r", nonce="m"`}, "m"},
		{[]string{sess}, ""}, {[]string{whole}, ""}, {[]string{"Basic x"}, ""}, {[]string{`Digest realm="r"`}, ""}, {[]string{`Digest ,,"`}, ""}, {nil, ""},
	} {
		a := newAuthorizer(Credentials{"u", "p"})
		req := options(t, "sip:h")
		err := a.meet(asks(req, 401, tt.challenges...), new(round))
		if (err == nil) != (tt.nonce != "") {
			t.Errorf("%q: %v", tt.challenges, err)
			continue
		}
		if err == nil {
			a.sign(req)
			if c := signed(t, req, "Authorization"); c.Nonce != tt.nonce || c.URI != "sip:h" {
				t.Errorf("%q: answered %+v", tt.challenges, c)
			}
		}
	}
}

// A request is challenged twice at most, and once more when the nonce is stale;
// later requests carry credentials at once, with a rising count.
func TestChallengesEnd(t *testing.T) {
	challenge := func(n int, stale bool) string {
		return fmt.Sprintf(`Digest realm="r", nonce="%d", algorithm=SHA-256, qop="auth", stale=%v`, n, stale)
	}
	a, r, req := newAuthorizer(Credentials{"u", "p"}), round{}, options(t, "sip:h")
	for i, tt := range []struct {
		code  int
		stale bool
		met   bool
	}{{401, false, true}, {407, false, true}, {401, false, false}, {401, true, true}, {401, true, false}, {407, true, true}, {407, true, false}} {
		if err := a.meet(asks(req, tt.code, challenge(i, tt.stale)), &r); (err == nil) != tt.met {
			t.Errorf("challenge %d, %+v: %v", i, tt, err)
		}
	}
	for n := 1; n <= 3; n++ {
		req = options(t, "sip:h")
		a.sign(req)
		a.sign(req) // again: the old answer goes
		if c := signed(t, req, "Authorization"); c.Nc != 2*n || c.Nonce != "3" {
			t.Errorf("request %d: %+v", n, c)
		}
		if c := signed(t, req, "Proxy-Authorization"); c.Nc != 2*n || c.Nonce != "5" {
			t.Errorf("request %d: %+v", n, c)
		}
	}
	var none *authorizer
	none.sign(req)
	if none.meet(asks(req, 401, challenge(1, false)), new(round)) == nil {
		t.Error("met without credentials")
	}
}

// answer is what a caller with these credentials answers to v's challenge.
func answer(t *testing.T, v *verifier, cred Credentials, uri, algorithm string, now time.Time) *gosip.Request {
	t.Helper()
	req := options(t, uri)
	res := gosip.NewResponse(407, "No")
	for _, h := range v.challenge(here, false, now) {
		if strings.Contains(h.Value(), algorithm) {
			res.AppendHeader(h)
		}
	}
	a := newAuthorizer(cred)
	if err := a.meet(res, new(round)); err != nil {
		t.Fatal(err)
	}
	a.sign(req)
	return req
}

func TestVerifier(t *testing.T) {
	v, want, now := newVerifier(), Credentials{"pbx", "secret"}, time.Unix(1_800_000_000, 0)
	const uri = "sip:+15550100002@h"
	for _, algorithm := range []string{"MD5", "SHA-256"} {
		good := answer(t, v, want, uri, algorithm, now)
		if got := v.check(good, netip.MustParseAddr("192.0.2.2"), want, now); got != stale {
			t.Errorf("%s: from another address: %v", algorithm, got)
		}
		other := good.Clone()
		other.Recipient.User = "+15550100003"
		if got := v.check(other, here, want, now); got != wrong {
			t.Errorf("%s: for another number: %v", algorithm, got)
		}
		if got := v.check(good, here, want, now); got != right {
			t.Errorf("%s: %v", algorithm, got)
		}
		if got := v.check(good, here, want, now); got != stale {
			t.Errorf("%s: replayed: %v", algorithm, got)
		}
		if got := v.check(answer(t, v, want, uri, algorithm, now), here, want, now.Add(nonceLife+time.Second)); got != stale {
			t.Errorf("%s: too late: %v", algorithm, got)
		}
		for _, cred := range []Credentials{{"pbx", "guess"}, {"other", "secret"}} {
			if got := v.check(answer(t, v, cred, uri, algorithm, now), here, want, now); got != wrong {
				t.Errorf("%s: %v: %v", algorithm, cred, got)
			}
		}
	}
	if got := v.check(options(t, uri), here, want, now); got != missing {
		t.Errorf("without credentials: %v", got)
	}
	if got := v.check(answer(t, newVerifier(), want, uri, "MD5", now), here, want, now); got != stale {
		t.Errorf("with a nonce of somebody else: %v", got)
	}
}

// The nonces that are remembered are bounded, and forgotten when they are too old.
func TestVerifierForgets(t *testing.T) {
	v, want, now := newVerifier(), Credentials{"pbx", "secret"}, time.Unix(1_800_000_000, 0)
	for range maxNonces {
		if got := v.check(answer(t, v, want, "sip:1@h", "MD5", now), here, want, now); got != right {
			t.Fatal(got)
		}
	}
	if got := v.check(answer(t, v, want, "sip:1@h", "MD5", now), here, want, now); got != stale {
		t.Errorf("one more than there is room for: %v", got)
	}
	now = now.Add(2 * nonceLife)
	if got := v.check(answer(t, v, want, "sip:1@h", "MD5", now), here, want, now); got != right {
		t.Errorf("after the old ones have expired: %v", got)
	}
}

func FuzzCredentials(f *testing.F) {
	f.Add(`Digest username="u", realm="parley", nonce="x", uri="sip:h", response="0", algorithm=MD5, qop=auth, nc=00000001, cnonce="c"`)
	f.Add(`Digest realm="parley", nc=zz`)
	f.Fuzz(func(t *testing.T, header string) {
		req := options(t, "sip:+15550100002@h")
		req.AppendHeader(gosip.NewHeader("Proxy-Authorization", header))
		if got := newVerifier().check(req, here, Credentials{"u", "p"}, time.Unix(1_800_000_000, 0)); got == right {
			t.Errorf("%q counts as right", header)
		}
	})
}

func TestCredentialsAreNotPrinted(t *testing.T) {
	c := Trunk{Name: "t", Auth: Credentials{"u", "hunter2"}, Inbound: Credentials{"u", "hunter2"}}
	for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
		if out := fmt.Sprintf(format, c); strings.Contains(out, "hunter2") {
			t.Errorf("%s prints %s", format, out)
		}
	}
}
