package sdp

import (
	"fmt"
	"strconv"
	"strings"

	psdp "github.com/pion/sdp/v3"

	"parley/media/srtp"
)

// Policy says whether a call's audio is encrypted, with keys in the description
// (SDES, RFC 4568) or by a handshake (DTLS). Keys in the description are no safer than the signalling that carries them.
type Policy uint8

// The policies.
const (
	// SRTPOff: never. An offer of RTP/SAVP is refused.
	SRTPOff Policy = iota
	// SRTPOffered: when the far end can. Our offers are RTP/AVP with keys beside
	// it, which is plain to a far end without it (RFC 8643).
	SRTPOffered
	// SRTPRequired: always, or there is no call. Our offers are RTP/SAVP.
	SRTPRequired
	// SRTPHandshake: always, with keys that nobody reads in the description. Our offers are UDP/TLS/RTP/SAVPF, on one port, of a
	// lite agent (RFC 5763, RFC 8839).
	SRTPHandshake
)

// ParsePolicy reads "off", "offered", "required" or "dtls".
func ParsePolicy(s string) (Policy, bool) {
	for p := SRTPOff; p <= SRTPHandshake; p++ {
		if p.String() == s {
			return p, true
		}
	}
	return 0, false
}

func (p Policy) String() string {
	return [...]string{"off", "offered", "required", "dtls"}[min(p, SRTPHandshake)]
}

// offerSuites are those of our offers, best first. We answer AEAD_AES_128_GCM too;
// in offers it would cost room in a datagram, and no carrier asks for it.
var offerSuites = []srtp.Suite{srtp.AESHMAC80, srtp.AESHMAC32}

// crypto is one a=crypto attribute.
type crypto struct {
	tag   int
	suite srtp.Suite
	key   srtp.Key
}

func (c crypto) attribute() psdp.Attribute {
	return psdp.NewAttribute("crypto", fmt.Sprintf("%d %s inline:%s", c.tag, c.suite, c.key.Inline(c.suite)))
}

// minLifetime is the least number of packets that a key must be good for: a call
// of five hours.
const minLifetime = 1 << 20

// parseCrypto reads an a=crypto attribute (RFC 4568 section 9.1). It says false for
// what we cannot do: other suites, long master key identifiers, several keys, lifetimes
// shorter than a call, and session parameters that change how packets look. Those
// lines are passed over, as section 5.1.2 has it.
func parseCrypto(v string) (c crypto, ok bool) {
	f := strings.Fields(v)
	if len(f) < 3 || len(f[0]) > 9 {
		return crypto{}, false
	}
	var err error
	if c.tag, err = strconv.Atoi(f[0]); err != nil || c.tag < 0 {
		return crypto{}, false
	}
	if c.suite, ok = srtp.ParseSuite(f[1]); !ok {
		return crypto{}, false
	}
	key, ok := strings.CutPrefix(f[2], "inline:")
	if !ok {
		return crypto{}, false
	}
	key, rest, _ := strings.Cut(key, "|")
	lifetime, mki, named := strings.Cut(rest, "|")
	if !named && strings.Contains(lifetime, ":") {
		lifetime, mki, named = "", lifetime, true
	}
	if !longEnough(lifetime) {
		return crypto{}, false
	}
	for _, param := range f[3:] {
		// WSH is a hint; a leading "-" marks what may be ignored (section 6.3.7).
		if !strings.HasPrefix(param, "WSH=") && !strings.HasPrefix(param, "-") {
			return crypto{}, false
		}
	}
	if c.key, ok = srtp.ParseKey(c.suite, key); ok && named {
		c.key, ok = identified(c.key, mki)
	}
	return c, ok
}

// identified is a key with its master key identifier, which is written VALUE:LENGTH.
func identified(k srtp.Key, mki string) (srtp.Key, bool) {
	value, length, _ := strings.Cut(mki, ":")
	v, err := strconv.ParseUint(value, 10, 32)
	if err != nil {
		return k, false
	}
	n, err := strconv.ParseUint(length, 10, 8)
	if err != nil {
		return k, false
	}
	return k.Named(uint32(v), int(n))
}

// longEnough judges what follows a key: nothing, a number of packets, or a power of
// two.
func longEnough(lifetime string) bool {
	if lifetime == "" {
		return true
	}
	if power, ok := strings.CutPrefix(lifetime, "2^"); ok {
		n, err := strconv.ParseUint(power, 10, 8)
		return err == nil && n >= 20
	}
	n, err := strconv.ParseUint(lifetime, 10, 64)
	return err == nil && n >= minLifetime
}

// secure decides on the keys of the far end's stream r, which is an offer. tag is
// that of the attribute chosen, for the answer.
func (s *Session) secure(r *remote) (k srtp.Keys, tag int, err error) {
	if r.lines[r.audio].dtls() {
		return k, 0, nil
	}
	policy := s.local.SRTP
	if now := s.media.Keys; s.agreed && now.Suite != srtp.None {
		policy = SRTPRequired // what is encrypted stays so
	}
	if policy == SRTPOff || policy == SRTPHandshake || len(r.cryptos) == 0 {
		if r.lines[r.audio].savp() || policy >= SRTPRequired {
			return k, 0, fmt.Errorf("%w: encryption is %s", ErrNotAcceptable, policy)
		}
		return k, 0, nil
	}
	c := r.cryptos[0]
	k = srtp.Keys{Suite: c.suite, Receive: c.key}
	if now := s.media.Keys; now.Suite == c.suite && now.Receive == c.key {
		k.Send = now.Send // a refresh
	} else {
		k.Send = srtp.NewKey(c.suite).NamedAs(c.key) // whose key has an identifier expects one
	}
	return k, c.tag, nil
}

// offerKeys are the attributes of our next offer: the key in force, or fresh ones,
// one for each suite.
func (s *Session) offerKeys() []crypto {
	if s.handshakes() {
		return nil
	}
	if now := s.media.Keys; s.agreed && now.Suite != srtp.None {
		return []crypto{{1, now.Suite, now.Send}}
	}
	if s.local.SRTP == SRTPOff || s.agreed {
		return nil
	}
	var list []crypto
	for i, suite := range offerSuites {
		list = append(list, crypto{i + 1, suite, srtp.NewKey(suite)})
	}
	return list
}

// accepted finds the keys that the answer r chose from those that we offered.
func (s *Session) accepted(r *remote, offered []crypto) (srtp.Keys, error) {
	if r.lines[r.audio].dtls() {
		return srtp.Keys{}, nil
	}
	if len(r.cryptos) == 0 || len(offered) == 0 {
		if r.lines[r.audio].savp() || s.insists() {
			return srtp.Keys{}, fmt.Errorf("%w: the answer has no key", ErrNotAcceptable)
		}
		return srtp.Keys{}, nil
	}
	c := r.cryptos[0]
	for _, o := range offered {
		if o.tag == c.tag && o.suite == c.suite {
			return srtp.Keys{Suite: o.suite, Send: o.key, Receive: c.key}, nil
		}
	}
	return srtp.Keys{}, fmt.Errorf("%w: the answer has a key that was not asked for", ErrNotAcceptable)
}

// insists says whether there must be keys.
func (s *Session) insists() bool {
	return s.local.SRTP >= SRTPRequired || s.agreed && s.media.Keys.Suite != srtp.None
}
