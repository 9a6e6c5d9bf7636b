package dtls

import (
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"strings"
)

// Fingerprint is the hash of a certificate, which signalling carries and the handshake is held to (RFC 8122). Fingerprints may be
// compared; the zero Fingerprint is none.
type Fingerprint struct {
	hash string // as a=fingerprint names it, in lower case
	sum  string // the bytes of it
}

// hashes are those that we take: RFC 8122 section 5 forbids weaker ones.
var hashes = map[string]func(certificate []byte) []byte{
	"sha-256": func(b []byte) []byte { sum := sha256.Sum256(b); return sum[:] },
	"sha-384": func(b []byte) []byte { sum := sha512.Sum384(b); return sum[:] },
	"sha-512": func(b []byte) []byte { sum := sha512.Sum512(b); return sum[:] },
}

// fingerprintOf is the fingerprint of our certificate.
func fingerprintOf(certificate []byte) Fingerprint {
	return Fingerprint{hash: "sha-256", sum: string(hashes["sha-256"](certificate))}
}

// ParseFingerprint reads the value of a=fingerprint; false for one that cannot be read, or whose hash is not taken.
func ParseFingerprint(value string) (f Fingerprint, ok bool) {
	name, text, _ := strings.Cut(strings.TrimSpace(value), " ")
	f.hash = strings.ToLower(name)
	hash := hashes[f.hash]
	if hash == nil {
		return Fingerprint{}, false
	}
	sum, err := hex.DecodeString(strings.ReplaceAll(strings.TrimSpace(text), ":", ""))
	if err != nil || len(sum) != len(hash(nil)) {
		return Fingerprint{}, false
	}
	f.sum = string(sum)
	return f, true
}

// String is the value of a=fingerprint.
func (f Fingerprint) String() string {
	parts := make([]string, len(f.sum))
	for i := range len(f.sum) {
		parts[i] = fmt.Sprintf("%02X", f.sum[i])
	}
	return f.hash + " " + strings.Join(parts, ":")
}

// isOf says whether the fingerprint is that of a certificate.
func (f Fingerprint) isOf(certificate []byte) bool {
	hash := hashes[f.hash]
	return hash != nil && subtle.ConstantTimeCompare(hash(certificate), []byte(f.sum)) == 1
}
