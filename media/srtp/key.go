package srtp

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
)

// Suite is a crypto suite: how packets are encrypted and authenticated.
type Suite uint8

// The suites, of RFC 4568 section 6.2 and RFC 7714 section 14. None is plain RTP.
const (
	None      Suite = iota
	AESHMAC80       // AES_CM_128_HMAC_SHA1_80: what everyone speaks
	AESHMAC32       // AES_CM_128_HMAC_SHA1_32: the same with a short tag on RTP
	AESGCM          // AEAD_AES_128_GCM
)

// names are those of the a=crypto attribute.
var names = [...]string{None: "", AESHMAC80: "AES_CM_128_HMAC_SHA1_80", AESHMAC32: "AES_CM_128_HMAC_SHA1_32", AESGCM: "AEAD_AES_128_GCM"}

// ParseSuite finds a suite by its name in an a=crypto attribute; false for one
// that we do not speak.
func ParseSuite(name string) (Suite, bool) {
	for s := AESHMAC80; s <= AESGCM; s++ {
		if names[s] == name {
			return s, true
		}
	}
	return None, false
}

// ErrSuite is of the name of another crypto suite.
var ErrSuite = errors.New("srtp: unknown crypto suite")

func (s Suite) String() string {
	if int(s) < len(names) {
		return names[s]
	}
	return fmt.Sprintf("Suite(%d)", uint8(s))
}

// MarshalText implements encoding.TextMarshaler.
func (s Suite) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler. ErrSuite: we do not speak it.
func (s *Suite) UnmarshalText(text []byte) (err error) {
	var ok bool
	if *s, ok = ParseSuite(string(text)); !ok {
		err = ErrSuite
	}
	return err
}

// keyLen and saltLen are in bytes.
const keyLen = 16

func (s Suite) saltLen() int {
	if s == AESGCM {
		return 12
	}
	return 14
}

// Key is a master key with its salt, for one direction of one call. However it is
// printed, it does not show. Keys may be compared.
type Key struct {
	secret [keyLen + 14]byte // what is beyond the suite's salt is 0
	// mki is what names the key in each packet, big-endian, so many bytes long; 0: nothing.
	mki    uint32
	mkiLen uint8
}

// maxMKI is the longest name of a key that we can tell, in bytes.
const maxMKI = 4

// Named is the key with a name, a master key identifier so many bytes long (RFC 3711 section
// 3.1), which every packet under it carries; false for one that is too long, or does not fit.
func (k Key) Named(mki uint32, length int) (Key, bool) {
	if length < 1 || length > maxMKI || uint64(mki) >= 1<<(8*length) {
		return k, false
	}
	k.mki, k.mkiLen = mki, uint8(length)
	return k, true
}

// NamedAs is the key with the name of another, if that has one.
func (k Key) NamedAs(other Key) Key {
	k.mki, k.mkiLen = other.mki, other.mkiLen
	return k
}

// Identifier is the key's name as a=crypto has it, VALUE:LENGTH; empty: it has none.
func (k Key) Identifier() string {
	if k.mkiLen == 0 {
		return ""
	}
	return fmt.Sprintf("%d:%d", k.mki, k.mkiLen)
}

func (k Key) name() []byte {
	var b [maxMKI]byte
	binary.BigEndian.PutUint32(b[:], k.mki)
	return b[maxMKI-k.mkiLen:]
}

// NewKey draws a key from the system's random numbers.
func NewKey(s Suite) (k Key) {
	_, _ = rand.Read(k.secret[:keyLen+s.saltLen()]) // it never fails
	return k
}

// ParseKey reads a key as a=crypto has it after "inline:", in base64.
func ParseKey(s Suite, text string) (k Key, ok bool) {
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(b) != keyLen+s.saltLen() {
		return Key{}, false
	}
	copy(k.secret[:], b)
	return k, true
}

// Inline is the key as a=crypto has it after "inline:", with its name, for the description
// that goes to the far end and nothing else.
func (k Key) Inline(s Suite) string {
	if k.mkiLen > 0 {
		return k.NamedAs(Key{}).Inline(s) + "|" + k.Identifier()
	}
	return base64.StdEncoding.EncodeToString(k.secret[:keyLen+s.saltLen()])
}

// masked stands for a key in all that is printed.
const masked = "[key]"

// Format implements fmt.Formatter.
func (Key) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(masked)) }

// LogValue implements slog.LogValuer.
func (Key) LogValue() slog.Value { return slog.StringValue(masked) }

// MarshalText implements encoding.TextMarshaler.
func (Key) MarshalText() ([]byte, error) { return []byte(masked), nil }

// Keys are what the two sides of a call have agreed on. The zero Keys are those of
// a call that is not encrypted.
type Keys struct {
	Suite         Suite
	Send, Receive Key
}

// MaterialLen is how many bytes KeysFrom needs.
func (s Suite) MaterialLen() int { return 2 * (keyLen + s.saltLen()) }

// KeysFrom takes keys from the material that a DTLS handshake exports (RFC 5764 section 4.2): the client's key and the
// server's, then their salts. client says that we were the client.
func KeysFrom(s Suite, material []byte, client bool) Keys {
	k := Keys{Suite: s}
	first, second := &k.Receive, &k.Send
	if client {
		first, second = second, first
	}
	salts, n := material[2*keyLen:], s.saltLen()
	copy(first.secret[:], material[:keyLen])
	copy(first.secret[keyLen:], salts[:n])
	copy(second.secret[:], material[keyLen:2*keyLen])
	copy(second.secret[keyLen:], salts[n:2*n])
	return k
}
