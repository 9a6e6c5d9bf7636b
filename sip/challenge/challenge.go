// Package challenge asks those who call for their credentials, and checks them (RFC 7616, RFC 3261 section 22).
package challenge

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"maps"
	"net/netip"
	"strings"
	"sync"
	"time"

	gosip "github.com/emiago/sipgo/sip"
	"github.com/icholy/digest"

	"parley/sip/dialog"
	"parley/sip/header"
)

const (
	// nonceLife is how long after a challenge its answer may come: a round trip,
	// repetitions and a slow far end, and room for one that keeps the nonce.
	nonceLife = 5 * time.Minute
	// maxNonces bounds the nonces whose counts are remembered. Only right
	// credentials enter one, so no stranger can fill it; while it is full, every
	// answer counts as stale.
	maxNonces = 4096

	realm = "parley"
)

// Verdict is what the credentials of a request are worth.
type Verdict uint8

const (
	Missing Verdict = iota // there are none
	Wrong                  // another user, another password, or tampered with
	Stale                  // right, but for a nonce that is too old or used up
	Right
)

// Verifier challenges requests and checks their answers (RFC 7616, RFC 3261
// section 22). A nonce carries its time and source under a MAC, so that a
// challenge costs no memory: only nonces that were answered rightly are kept,
// with the count that the next answer must exceed. Its methods may be called
// from several goroutines.
type Verifier struct {
	key [32]byte

	mu   sync.Mutex
	used map[string]spent
}

type spent struct {
	count   int
	expires time.Time
}

// New returns a verifier with a key of its own: nonces of another, also of before a restart, are stale.
func New() *Verifier {
	v := &Verifier{used: map[string]spent{}}
	_, _ = rand.Read(v.key[:]) // never fails
	return v
}

// Challenge is what a 407 asks with: MD5 and SHA-256. RFC 8760 section 2.4 has
// the better one come first; but telephones that know only MD5 look at the first
// and give up, and those that know both may choose.
func (v *Verifier) Challenge(from netip.Addr, old bool, now time.Time) []gosip.Header {
	nonce := v.nonce(from, now)
	var hs []gosip.Header
	for _, algorithm := range []string{"MD5", "SHA-256"} {
		c := digest.Challenge{Realm: realm, Nonce: nonce, Algorithm: algorithm, QOP: []string{"auth"}, Stale: old}
		hs = append(hs, gosip.NewHeader("Proxy-Authenticate", c.String()))
	}
	return hs
}

// nonce is the time and 8 random bytes under a MAC that covers the source too.
func (v *Verifier) nonce(from netip.Addr, now time.Time) string {
	var b [16 + sha256.Size]byte
	binary.BigEndian.PutUint64(b[:], uint64(now.Unix()))
	_, _ = rand.Read(b[8:16])
	copy(b[16:], v.mac(from, b[:16]))
	return base64.RawURLEncoding.EncodeToString(b[:])
}

func (v *Verifier) mac(from netip.Addr, b []byte) []byte {
	h := hmac.New(sha256.New, v.key[:])
	source := from.As16()
	h.Write(source[:])
	h.Write(b)
	return h.Sum(nil)
}

// issued says when a nonce was given to a source; false: it was not.
func (v *Verifier) issued(nonce string, from netip.Addr) (time.Time, bool) {
	b, err := base64.RawURLEncoding.DecodeString(nonce)
	if err != nil || len(b) != 16+sha256.Size || !hmac.Equal(b[16:], v.mac(from, b[:16])) {
		return time.Time{}, false
	}
	return time.Unix(int64(binary.BigEndian.Uint64(b)), 0), true
}

// Check judges the credentials of a request against want.
func (v *Verifier) Check(req *gosip.Request, from netip.Addr, want dialog.Credentials, now time.Time) Verdict {
	got := Presented(req)
	if got == nil {
		return Missing
	}
	at, ours := v.issued(got.Nonce, from)
	if !ours {
		// A nonce from before a restart, or of another source.
		return Stale
	}
	if !matches(req, got, want) {
		return Wrong
	}
	if now.Sub(at) > nonceLife || !v.spend(got, at, now) {
		return Stale
	}
	return Right
}

// Presented are the credentials for our realm in a request; nil: none.
func Presented(req *gosip.Request) *digest.Credentials {
	for _, h := range req.GetHeaders("proxy-authorization") {
		if c, err := digest.ParseCredentials(h.Value()); err == nil && c.Realm == realm {
			return c
		}
	}
	return nil
}

// matches computes what the response must be. It takes as long for an unknown
// user as for a wrong password.
func matches(req *gosip.Request, got *digest.Credentials, want dialog.Credentials) bool {
	algorithm := strings.ToUpper(got.Algorithm)
	if algorithm != "" && algorithm != "MD5" && algorithm != "SHA-256" || got.QOP != "" && got.QOP != "auth" {
		return false
	}
	c := &digest.Challenge{Realm: realm, Nonce: got.Nonce, Algorithm: got.Algorithm}
	if got.QOP == "auth" {
		if got.Nc <= 0 || got.Cnonce == "" {
			return false
		}
		c.QOP = []string{"auth"}
	}
	right, err := digest.Digest(c, digest.Options{Method: string(req.Method), URI: got.URI, Count: got.Nc, Cnonce: got.Cnonce,
		Username: want.Username, Password: want.Password})
	if err != nil {
		return false
	}
	user := subtle.ConstantTimeCompare([]byte(got.Username), []byte(want.Username))
	response := subtle.ConstantTimeCompare([]byte(strings.ToLower(got.Response)), []byte(right.Response))
	return user&response == 1 && sameCallee(req, got.URI)
}

// sameCallee holds the credentials to the number they were made for. Proxies
// rewrite the host and its parameters, but whom a call goes to stays. Some
// telephones name the host only.
func sameCallee(req *gosip.Request, uri string) bool {
	var u gosip.Uri
	if gosip.ParseUri(uri, &u) != nil {
		return false
	}
	number := header.URIIdentity(&u).Number
	return number == "" || number == header.URIIdentity(&req.Recipient).Number
}

// spend uses an answer up: each nonce count is good once, rising; without one
// (RFC 2069) the nonce is.
func (v *Verifier) spend(got *digest.Credentials, at, now time.Time) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	last, known := v.used[got.Nonce]
	count := max(got.Nc, 1)
	if known && (count <= last.count || got.QOP == "") {
		return false
	}
	if !known && len(v.used) >= maxNonces {
		maps.DeleteFunc(v.used, func(_ string, s spent) bool { return now.After(s.expires) })
		if len(v.used) >= maxNonces {
			return false
		}
	}
	v.used[got.Nonce] = spent{count, at.Add(nonceLife + time.Second)}
	return true
}
