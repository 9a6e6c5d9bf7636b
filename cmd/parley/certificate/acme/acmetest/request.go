package acmetest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net/http"
)

// request is one that was verified.
type request struct {
	of      *account         // nil: it has a key of its own
	key     *ecdsa.PublicKey // that has signed it
	payload []byte           // empty: it only reads
}

// jwk is a public key (RFC 7517).
type jwk struct {
	Crv string `json:"crv"`
	Kty string `json:"kty"`
	X   string `json:"x"`
	Y   string `json:"y"`
}

// thumbprint is that of a P-256 key (RFC 7638).
func thumbprint(key *ecdsa.PublicKey) string {
	point, _ := key.Bytes() // of a known curve: 4, x, y
	text := fmt.Sprintf(`{"crv":"P-256","kty":"EC","x":"%s","y":"%s"}`, base64.RawURLEncoding.EncodeToString(point[1:33]), base64.RawURLEncoding.EncodeToString(point[33:]))
	sum := sha256.Sum256([]byte(text))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

func (j *jwk) public() (*ecdsa.PublicKey, error) {
	x, err1 := base64.RawURLEncoding.DecodeString(j.X)
	y, err2 := base64.RawURLEncoding.DecodeString(j.Y)
	if err1 != nil || err2 != nil || j.Kty != "EC" || j.Crv != "P-256" || len(x) != 32 || len(y) != 32 {
		return nil, refuse(http.StatusBadRequest, "badPublicKey", "a P-256 key is wanted")
	}
	return ecdsa.ParseUncompressedPublicKey(elliptic.P256(), append(append([]byte{4}, x...), y...))
}

// verify reads a signed request (RFC 8555 section 6.2).
func (a *Authority) verify(r *http.Request) (*request, error) {
	if r.Header.Get("Content-Type") != "application/jose+json" {
		return nil, refuse(http.StatusUnsupportedMediaType, "malformed", "content type %s", r.Header.Get("Content-Type"))
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err != nil {
		return nil, err
	}
	var jws struct{ Protected, Payload, Signature string }
	var head struct {
		Alg, Kid, Nonce, URL string
		Jwk                  *jwk
	}
	if err := json.Unmarshal(body, &jws); err != nil {
		return nil, refuse(http.StatusBadRequest, "malformed", "%v", err)
	}
	protected, err := base64.RawURLEncoding.DecodeString(jws.Protected)
	if err != nil || json.Unmarshal(protected, &head) != nil {
		return nil, refuse(http.StatusBadRequest, "malformed", "the protected header")
	}
	in := &request{}
	if in.payload, err = base64.RawURLEncoding.DecodeString(jws.Payload); err != nil {
		return nil, refuse(http.StatusBadRequest, "malformed", "the payload")
	}
	a.mu.Lock()
	fresh := a.nonces[head.Nonce]
	delete(a.nonces, head.Nonce)
	in.of = a.accounts[head.Kid]
	a.mu.Unlock()
	switch {
	case !fresh:
		return nil, refuse(http.StatusBadRequest, "badNonce", "unknown or used")
	case head.URL != a.server.URL+r.URL.Path:
		return nil, refuse(http.StatusUnauthorized, "unauthorized", "signed for %s", head.URL)
	case head.Alg != "ES256":
		return nil, refuse(http.StatusBadRequest, "badSignatureAlgorithm", "%s", head.Alg)
	case (head.Jwk == nil) == (head.Kid == ""):
		return nil, refuse(http.StatusBadRequest, "malformed", "one of jwk and kid")
	case head.Jwk != nil:
		if in.key, err = head.Jwk.public(); err != nil {
			return nil, err
		}
	case in.of == nil:
		return nil, refuse(http.StatusBadRequest, "accountDoesNotExist", "%s", head.Kid)
	default:
		in.key = in.of.key
	}
	sum := sha256.Sum256([]byte(jws.Protected + "." + jws.Payload))
	sig, err := base64.RawURLEncoding.DecodeString(jws.Signature)
	if err != nil || len(sig) != 64 || !ecdsa.Verify(in.key, sum[:], new(big.Int).SetBytes(sig[:32]), new(big.Int).SetBytes(sig[32:])) {
		return nil, refuse(http.StatusBadRequest, "malformed", "the signature is wrong")
	}
	return in, nil
}
