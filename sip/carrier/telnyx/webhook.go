package telnyx

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"parley/sip/carrier"
)

// Headers of a webhook: Unix seconds, and base64 of the Ed25519 signature of the
// timestamp as written, a vertical bar and the body.
const (
	timestampHeader = "Telnyx-Timestamp"
	signatureHeader = "Telnyx-Signature-Ed25519"
)

// tolerance is how far a webhook's time may be from ours, either way.
const tolerance = 5 * time.Minute

// Signed checks the signature of a webhook by the account's public key, the base64 of an Ed25519 key, and returns it.
// carrier.ErrSignature: it is not the account's, or its time is too far from now.
func Signed(key string, header http.Header, body []byte, now time.Time) (signature [ed25519.SignatureSize]byte, err error) {
	public, err := base64.StdEncoding.DecodeString(key)
	if err != nil || len(public) != ed25519.PublicKeySize {
		return signature, fmt.Errorf("%w: no valid key", carrier.ErrSignature)
	}
	stamp := header.Get(timestampHeader)
	unix, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return signature, fmt.Errorf("%w: no timestamp", carrier.ErrSignature)
	}
	made, err := base64.StdEncoding.DecodeString(header.Get(signatureHeader))
	if err != nil || len(made) != ed25519.SignatureSize || !ed25519.Verify(public, append([]byte(stamp+"|"), body...), made) {
		return signature, fmt.Errorf("%w: no valid signature", carrier.ErrSignature)
	}
	if age := now.Sub(time.Unix(unix, 0)); age > tolerance || age < -tolerance {
		return signature, fmt.Errorf("%w: %s from now", carrier.ErrSignature, age.Round(time.Second))
	}
	return [ed25519.SignatureSize]byte(made), nil
}

// Notice implements carrier.Notifier.
func (c *Carrier) Notice(header http.Header, body []byte, now time.Time) (n carrier.Notice, err error) {
	signature, err := Signed(c.public, header, body, now)
	if err != nil {
		return n, err
	}
	if !c.seen.first(signature, now) {
		return n, fmt.Errorf("%w: replayed", carrier.ErrSignature)
	}
	var event struct {
		Data struct {
			Type    string          `json:"event_type"`
			Payload json.RawMessage `json:"payload"`
		} `json:"data"`
	}
	if err := json.Unmarshal(body, &event); err != nil || event.Data.Type == "" {
		return n, carrier.ErrNotice
	}
	switch event.Data.Type {
	case "number_order.complete":
		var o numberOrder
		if err = json.Unmarshal(event.Data.Payload, &o); carrier.ValidReference(o.Reference) {
			n.Order = o.Reference
		}
	case "message.sent", "message.finalized":
		var m message
		if err = json.Unmarshal(event.Data.Payload, &m); m.Direction == outbound && messageID.MatchString(m.ID) {
			d := m.delivery()
			n.Delivery = &d
		}
	case "message.received":
		var m message
		if err = json.Unmarshal(event.Data.Payload, &m); messageID.MatchString(m.ID) {
			n.Received = m.received()
		}
	}
	if err != nil {
		return carrier.Notice{}, carrier.ErrNotice
	}
	return n, nil
}

// maxReplays bounds the signatures that are remembered. One more forgets the oldest, which
// might be replayed then: it leads to a look at an order, no more.
const maxReplays = 1024

// replays remembers signatures for as long as they would be accepted.
type replays struct {
	mu    sync.Mutex
	known []replay // oldest first
}

type replay struct {
	signature [ed25519.SignatureSize]byte
	at        time.Time
}

// first says whether a signature is new, and remembers it.
func (r *replays) first(signature [ed25519.SignatureSize]byte, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	// A timestamp may lie ahead by the tolerance, so it is good for twice that.
	for len(r.known) > 0 && (len(r.known) >= maxReplays || now.Sub(r.known[0].at) > 2*tolerance) {
		r.known = r.known[1:]
	}
	if slices.ContainsFunc(r.known, func(old replay) bool { return old.signature == signature }) {
		return false
	}
	r.known = append(r.known, replay{signature, now})
	return true
}
