// Package ice is the lite agent of ICE (RFC 8445 section 2.5) for one stream on one port: it answers the far end's connectivity
// checks and makes none, so that nobody directs our packets at somebody else.
//
// A lite agent has a public address, which it describes as its only candidate. The far end checks ways to it, and
// nominates one.
package ice

import (
	"crypto/rand"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/pion/stun/v4"
)

// Credentials authenticate the checks that one side receives (RFC 8445 section 5.3). The zero Credentials are none.
type Credentials struct{ Ufrag, Password string }

// NewCredentials draws credentials from the system's random numbers.
func NewCredentials() Credentials {
	text := rand.Text() + rand.Text() // 52 characters of 5 bits
	return Credentials{Ufrag: text[:8], Password: text[8:]}
}

// Valid says whether a far end may have described the credentials (RFC 8839 section 5.4).
func (c Credentials) Valid() bool {
	return iceChars(c.Ufrag, 4) && iceChars(c.Password, 22)
}

// iceChars says whether text is of ice-char, and of so many at least.
func iceChars(text string, least int) bool {
	return len(text) >= least && len(text) <= 256 && !strings.ContainsFunc(text, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '+' || r == '/')
	})
}

// maxPassed is how many ways of the far end are known at one time: by each of its networks and translators.
const maxPassed = 8

// Agent answers the checks of one stream. Address, Passed and Check belong to one goroutine at a time; Restart may be called
// from any.
type Agent struct {
	keys   atomic.Pointer[keys]
	at     netip.AddrPort // that the far end has nominated, or has checked first
	passed [maxPassed]netip.AddrPort
	turn   int // whose place in passed is taken next

	request, response stun.Message // scratch
}

// keys are what checks are authenticated with.
type keys struct {
	username  string // of the far end's checks
	integrity stun.MessageIntegrity
}

// New returns an agent with our credentials and the far end's.
func New(local, remote Credentials) *Agent {
	a := &Agent{}
	a.Restart(local, remote)
	return a
}

// Restart changes the credentials (RFC 8445 section 9). Media goes on where it went until the far end nominates another way.
func (a *Agent) Restart(local, remote Credentials) {
	a.keys.Store(&keys{username: local.Ufrag + ":" + remote.Ufrag, integrity: stun.NewShortTermIntegrity(local.Password)})
}

// Address is where the far end is: the source of the check that nominated last, before that of the first
// one; not valid until then.
func (a *Agent) Address() netip.AddrPort { return a.at }

// Passed says whether a check of the far end has come from a source, of the last eight: media may come from there, too, before it
// is nominated (RFC 8445 section 12.2).
func (a *Agent) Passed(from netip.AddrPort) bool { return slices.Contains(a.passed[:], from) }

// Check takes a datagram that is no media and returns what answers it, which is valid until the next call. It is nil where the
// datagram is no check of the far end: those of others get no answer, which a port of media owes nobody.
func (a *Agent) Check(b []byte, from netip.AddrPort) (response []byte) {
	req, k := &a.request, a.keys.Load()
	if stun.Decode(b, req) != nil || req.Type != stun.BindingRequest {
		return nil
	}
	if name, err := req.Get(stun.AttrUsername); err != nil || string(name) != k.username {
		return nil // before the integrity, which costs more
	}
	if k.integrity.Check(req) != nil || stun.Fingerprint.Check(req) != nil {
		return nil
	}
	if req.Contains(stun.AttrICEControlled) { // who is lite is controlled (RFC 8445 section 6.1.1)
		return a.build(req, stun.BindingError, stun.CodeRoleConflict, k.integrity, stun.Fingerprint)
	}
	if req.Contains(stun.AttrUseCandidate) || !a.at.IsValid() {
		a.at = from
	}
	if !a.Passed(from) {
		a.passed[a.turn] = from
		a.turn = (a.turn + 1) % maxPassed
	}
	mapped := stun.XORMappedAddress{IP: net.IP(from.Addr().AsSlice()), Port: int(from.Port())}
	return a.build(req, stun.BindingSuccess, mapped, k.integrity, stun.Fingerprint)
}

// build makes a response to req.
func (a *Agent) build(req *stun.Message, kind stun.MessageType, rest ...stun.Setter) []byte {
	a.response.Reset()
	if a.response.Build(append([]stun.Setter{stun.NewTransactionIDSetter(req.TransactionID), kind}, rest...)...) != nil {
		return nil
	}
	return a.response.Raw
}
