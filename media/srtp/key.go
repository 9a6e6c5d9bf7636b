package srtp

import (
	"crypto/rand"
	"encoding/base64"
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

func (s Suite) String() string {
	if int(s) < len(names) {
		return names[s]
	}
	return fmt.Sprintf("Suite(%d)", uint8(s))
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

// Inline is the key as a=crypto has it after "inline:", for the description that
// goes to the far end and nothing else.
func (k Key) Inline(s Suite) string {
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
