package dialog

import (
	"fmt"
	"testing"

	gosip "github.com/emiago/sipgo/sip"
	"github.com/icholy/digest"
)

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
		a := NewAuthorizer(Credentials{"u", "p"})
		req := options(t, "sip:h")
		err := a.HandleChallenge(asks(req, 401, tt.challenges...), new(AuthAttempts))
		if (err == nil) != (tt.nonce != "") {
			t.Errorf("%q: %v", tt.challenges, err)
			continue
		}
		if err == nil {
			a.Sign(req)
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
	a, r, req := NewAuthorizer(Credentials{"u", "p"}), AuthAttempts{}, options(t, "sip:h")
	for i, tt := range []struct {
		code  int
		stale bool
		met   bool
	}{{401, false, true}, {407, false, true}, {401, false, false}, {401, true, true}, {401, true, false}, {407, true, true}, {407, true, false}} {
		if err := a.HandleChallenge(asks(req, tt.code, challenge(i, tt.stale)), &r); (err == nil) != tt.met {
			t.Errorf("challenge %d, %+v: %v", i, tt, err)
		}
	}
	for n := 1; n <= 3; n++ {
		req = options(t, "sip:h")
		a.Sign(req)
		a.Sign(req) // again: the old answer goes
		if c := signed(t, req, "Authorization"); c.Nc != 2*n || c.Nonce != "3" {
			t.Errorf("request %d: %+v", n, c)
		}
		if c := signed(t, req, "Proxy-Authorization"); c.Nc != 2*n || c.Nonce != "5" {
			t.Errorf("request %d: %+v", n, c)
		}
	}
	var none *Authorizer
	none.Sign(req)
	if none.HandleChallenge(asks(req, 401, challenge(1, false)), new(AuthAttempts)) == nil {
		t.Error("met without credentials")
	}
}
