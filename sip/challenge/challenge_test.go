package challenge

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
func answer(t *testing.T, v *Verifier, cred dialog.Credentials, uri, algorithm string, now time.Time) *gosip.Request {
	t.Helper()
	req := options(t, uri)
	res := gosip.NewResponse(407, "No")
	for _, h := range v.Challenge(here, false, now) {
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
	v, want, now := New(), dialog.Credentials{Username: "pbx", Password: "secret"}, time.Unix(1_800_000_000, 0)
	const uri = "sip:+15550100002@h"
	for _, algorithm := range []string{"MD5", "SHA-256"} {
		good := answer(t, v, want, uri, algorithm, now)
		if got := v.Check(good, netip.MustParseAddr("192.0.2.2"), want, now); got != Stale {
			t.Errorf("%s: from another address: %v", algorithm, got)
		}
		other := good.Clone()
		other.Recipient.User = "+15550100003"
		if got := v.Check(other, here, want, now); got != Wrong {
			t.Errorf("%s: for another number: %v", algorithm, got)
		}
		if got := v.Check(good, here, want, now); got != Right {
			t.Errorf("%s: %v", algorithm, got)
		}
		if got := v.Check(good, here, want, now); got != Stale {
			t.Errorf("%s: replayed: %v", algorithm, got)
		}
		if got := v.Check(answer(t, v, want, uri, algorithm, now), here, want, now.Add(nonceLife+time.Second)); got != Stale {
			t.Errorf("%s: too late: %v", algorithm, got)
		}
		for _, cred := range []dialog.Credentials{{Username: "pbx", Password: "guess"}, {Username: "other", Password: "secret"}} {
			if got := v.Check(answer(t, v, cred, uri, algorithm, now), here, want, now); got != Wrong {
				t.Errorf("%s: %v: %v", algorithm, cred, got)
			}
		}
	}
	if got := v.Check(options(t, uri), here, want, now); got != Missing {
		t.Errorf("without credentials: %v", got)
	}
	if got := v.Check(answer(t, New(), want, uri, "MD5", now), here, want, now); got != Stale {
		t.Errorf("with a nonce of somebody else: %v", got)
	}
}

// The nonces that are remembered are bounded, and forgotten when they are too old.
func TestVerifierForgets(t *testing.T) {
	v, want, now := New(), dialog.Credentials{Username: "pbx", Password: "secret"}, time.Unix(1_800_000_000, 0)
	for range maxNonces {
		if got := v.Check(answer(t, v, want, "sip:1@h", "MD5", now), here, want, now); got != Right {
			t.Fatal(got)
		}
	}
	if got := v.Check(answer(t, v, want, "sip:1@h", "MD5", now), here, want, now); got != Stale {
		t.Errorf("one more than there is room for: %v", got)
	}
	now = now.Add(2 * nonceLife)
	if got := v.Check(answer(t, v, want, "sip:1@h", "MD5", now), here, want, now); got != Right {
		t.Errorf("after the old ones have expired: %v", got)
	}
}

func FuzzCredentials(f *testing.F) {
	f.Add(`Digest username="u", realm="parley", nonce="x", uri="sip:h", response="0", algorithm=MD5, qop=auth, nc=00000001, cnonce="c"`)
	f.Add(`Digest realm="parley", nc=zz`)
	f.Fuzz(func(t *testing.T, header string) {
		req := options(t, "sip:+15550100002@h")
		req.AppendHeader(gosip.NewHeader("Proxy-Authorization", header))
		if got := New().Check(req, here, dialog.Credentials{Username: "u", Password: "p"}, time.Unix(1_800_000_000, 0)); got == Right {
			t.Errorf("%q counts as right", header)
		}
	})
}
