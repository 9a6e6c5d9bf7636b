package dialog

import (
	"errors"
	"slices"
	"strings"
	"sync"

	gosip "github.com/emiago/sipgo/sip"
	"github.com/icholy/digest"
)

// Credentials are a user name and a password for digest authentication (RFC
// 8760). The zero value stands for none.
type Credentials struct{ Username, Password string }

// String keeps the password out of whatever prints it.
func (c Credentials) String() string {
	if c == (Credentials{}) {
		return ""
	}
	return c.Username + ":(secret)"
}

// GoString is String, for %#v.
func (c Credentials) GoString() string { return c.String() }

// ErrAuth is wrapped by the failure of a request whose challenge we could not
// answer: there are no credentials, they are wrong, or the challenge is none that
// we understand. sip.NotAnswered calls it carrier_auth.
var ErrAuth = errors.New("sip: the far end does not accept our credentials")

// Authorizer answers the challenges of one far end: a dialog has one, and so has
// a registration. A nil one has no credentials. Its methods may be called from
// several goroutines.
//
// Challenges are cached, so that later requests carry credentials at once, with a
// rising nonce count (RFC 7616 section 3.4). A far end and a proxy in front of
// it may both want some (RFC 3261 section 22.3).
type Authorizer struct {
	cred Credentials

	mu     sync.Mutex
	cached [2]cachedChallenge // of the far end (401) and of a proxy (407)
}

// cachedChallenge is a challenge and how often it was answered.
type cachedChallenge struct {
	challenge *digest.Challenge
	count     int
}

// authHeaders are what a challenge and its answer are called.
var authHeaders = [2]struct {
	code              int
	challenge, answer string
}{
	{401, "WWW-Authenticate", "Authorization"},
	{407, "Proxy-Authenticate", "Proxy-Authorization"},
}

// NewAuthorizer makes an Authorizer; nil for no credentials.
func NewAuthorizer(c Credentials) *Authorizer {
	if c == (Credentials{}) {
		return nil
	}
	return &Authorizer{cred: c}
}

// Sign puts credentials into req for the challenges that are known, in place of
// those it has. The method and Request-URI must be final. Not for ACK and
// CANCEL, which cannot be challenged: an ACK repeats what its INVITE had
// (RFC 3261 section 22.1).
func (a *Authorizer) Sign(req *gosip.Request) {
	if a == nil || req.Method == gosip.ACK || req.Method == gosip.CANCEL {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, names := range authHeaders {
		k := &a.cached[i]
		if k.challenge == nil {
			continue
		}
		k.count++
		cred, err := digest.Digest(k.challenge, digest.Options{
			Method: string(req.Method), URI: req.Recipient.String(), Count: k.count,
			Username: a.cred.Username, Password: a.cred.Password,
		})
		if err != nil {
			continue // HandleChallenge has looked at it; it will come again if not
		}
		for req.RemoveHeader(names.answer) {
		}
		req.AppendHeader(gosip.NewHeader(names.answer, cred.String()))
	}
}

// AuthAttempts counts how often one request was challenged, by each. Its zero value is
// for a request that was not yet.
type AuthAttempts [2]struct{ asked, stale bool }

// Challenged says whether a response asks for credentials.
func Challenged(res *gosip.Response) bool { return res.StatusCode == 401 || res.StatusCode == 407 }

// HandleChallenge takes the challenge of a response (401 or 407). Without an error the
// request is to be sent again, as a new one: Sign puts the answer in. The error
// is ErrAuth when that would not help. A first challenge is always answered, because
// credentials for a cached one may only be too old; after that, one more when the
// far end says that the nonce is stale, so that this ends.
func (a *Authorizer) HandleChallenge(res *gosip.Response, tried *AuthAttempts) error {
	if a == nil {
		return ErrAuth
	}
	i := 0
	if res.StatusCode == authHeaders[1].code {
		i = 1
	}
	c := bestChallenge(res, authHeaders[i].challenge)
	if c == nil {
		return ErrAuth
	}
	switch step := &tried[i]; {
	case !step.asked:
		step.asked = true
	case c.Stale && !step.stale:
		step.stale = true
	default:
		return ErrAuth
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if old := a.cached[i].challenge; old == nil || old.Nonce != c.Nonce || old.Realm != c.Realm || old.Algorithm != c.Algorithm {
		a.cached[i] = cachedChallenge{challenge: c}
	}
	return nil
}

// algorithms that we answer, the preferred one first. RFC 8760 section 2.4 lets
// the far end order them; but it lists MD5 for those who have nothing else.
var algorithms = []string{"SHA-256", "SHA-512-256", "MD5"}

// bestChallenge is the one to answer among those of a response; nil: none.
func bestChallenge(res *gosip.Response, header string) *digest.Challenge {
	var best *digest.Challenge
	rank := len(algorithms)
	for _, h := range res.GetHeaders(header) {
		if !digest.IsDigest(h.Value()) {
			continue
		}
		c, err := digest.ParseChallenge(h.Value())
		if err != nil || c.Nonce == "" || !plainQOP(c) {
			continue
		}
		for i, name := range algorithms {
			if i < rank && (strings.EqualFold(c.Algorithm, name) || name == "MD5" && c.Algorithm == "") {
				best, rank = c, i
			}
		}
	}
	return best
}

// plainQOP says whether a challenge asks for no protection beyond the request
// line, and makes that its only choice. The body of a call's offer is not worth
// auth-int, which hardly anybody asks for.
func plainQOP(c *digest.Challenge) bool {
	if len(c.QOP) == 0 {
		return true // RFC 2069
	}
	if !slices.ContainsFunc(c.QOP, func(q string) bool { return strings.EqualFold(strings.TrimSpace(q), "auth") }) {
		return false
	}
	c.QOP = []string{"auth"}
	return true
}
