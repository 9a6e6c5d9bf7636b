package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Headers of a delivery (Standard Webhooks, "Webhook headers").
const (
	headerID        = "webhook-id"
	headerTimestamp = "webhook-timestamp"
	headerSignature = "webhook-signature"
)

// Tolerance is how far a receiver's clock may be from the timestamp of what it takes.
const Tolerance = 5 * time.Minute

const secretPrefix = "whsec_"

// Sign sets the headers of a delivery: a signature by each secret, of the identifier, the
// time of the attempt and the body (Standard Webhooks, "Signature scheme"). Secrets are
// as their owner was shown them; the error holds none.
func Sign(h http.Header, secrets []string, id string, at time.Time, body []byte) error {
	stamp := strconv.FormatInt(at.Unix(), 10)
	signatures := make([]string, len(secrets))
	for i, s := range secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(s, secretPrefix))
		if err != nil {
			return fmt.Errorf("secret %d of the webhook is none", i)
		}
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(id + "." + stamp + "."))
		mac.Write(body)
		signatures[i] = "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	h.Set(headerID, id)
	h.Set(headerTimestamp, stamp)
	h.Set(headerSignature, strings.Join(signatures, " "))
	return nil
}
