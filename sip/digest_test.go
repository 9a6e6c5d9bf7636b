package sip

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	gosip "github.com/emiago/sipgo/sip"

	"parley/sip/dialog"
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

// answer is what a caller with these credentials answers to v's challenge.
func answer(t *testing.T, v *verifier, cred dialog.Credentials, uri, algorithm string, now time.Time) *gosip.Request {
	t.Helper()
	req := options(t, uri)
	res := gosip.NewResponse(407, "No")
	for _, h := range v.challenge(here, false, now) {
		if strings.Contains(h.Value(), algorithm) {
			res.AppendHeader(h)
		}
	}
	a := dialog.NewAuthorizer(cred)
	if err := a.HandleChallenge(res, new(dialog.AuthAttempts)); err != nil {
		t.Fatal(err)
	}
	a.Sign(req)
	return req
}

func TestVerifier(t *testing.T) {
	v, want, now := newVerifier(), dialog.Credentials{Username: "pbx", Password: "secret"}, time.Unix(1_800_000_000, 0)
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
		for _, cred := range []dialog.Credentials{{Username: "pbx", Password: "guess"}, {Username: "other", Password: "secret"}} {
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
	v, want, now := newVerifier(), dialog.Credentials{Username: "pbx", Password: "secret"}, time.Unix(1_800_000_000, 0)
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
		if got := newVerifier().check(req, here, dialog.Credentials{Username: "u", Password: "p"}, time.Unix(1_800_000_000, 0)); got == right {
			t.Errorf("%q counts as right", header)
		}
	})
}
