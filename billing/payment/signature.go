package payment

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Tolerance is how far a signature's time may be from ours, either way. It
// bounds how long a recorded webhook can be replayed.
const Tolerance = 5 * time.Minute

// maxSignatures bounds the work one header can cause; during a change of secret
// a provider sends two.
const maxSignatures = 8

// Sign gives the header value "t=<unix seconds>,v1=<hex>" of a webhook body: v1
// is HMAC-SHA-256 of the time as written, a full stop and the body (Stripe's
// scheme, docs.stripe.com/webhooks#verify-manually).
func Sign(secret string, body []byte, at time.Time) string {
	t := strconv.FormatInt(at.Unix(), 10)
	return "t=" + t + ",v1=" + hex.EncodeToString(mac(secret, t, body))
}

func mac(secret, t string, body []byte) []byte {
	h := hmac.New(sha256.New, []byte(secret))
	h.Write([]byte(t))
	h.Write([]byte{'.'})
	h.Write(body)
	return h.Sum(nil)
}

// Verify checks a header made by Sign. Any one of several v1 signatures
// suffices, and parts of other names are passed over. It fails with ErrSignature.
func Verify(secret, header string, body []byte, now time.Time) error {
	if header == "" {
		return fmt.Errorf("%w: unsigned", ErrSignature)
	}
	var stamp string
	var sums [][]byte
	for part := range strings.SplitSeq(header, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch name {
		case "t":
			stamp = value // of several the last: the one that is signed must be the one that is fresh
		case "v1":
			if sum, err := hex.DecodeString(value); err == nil && len(sums) < maxSignatures {
				sums = append(sums, sum)
			}
		}
	}
	unix, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return fmt.Errorf("%w: no timestamp", ErrSignature)
	}
	want, valid := mac(secret, stamp, body), false
	for _, sum := range sums {
		valid = hmac.Equal(want, sum) || valid
	}
	switch age := now.Sub(time.Unix(unix, 0)); {
	case !valid:
		return fmt.Errorf("%w: no valid signature", ErrSignature)
	case age > Tolerance || age < -Tolerance:
		return fmt.Errorf("%w: %s from now", ErrSignature, age.Round(time.Second))
	}
	return nil
}
