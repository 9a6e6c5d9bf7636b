package lines

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"

	"parley/api/mediastream"
	"parley/api/wire"
	"parley/sip/trunk"
	"parley/store"
)

// leastSecret is the shortest secret that a carrier signs with, in bytes.
const leastSecret = 16

// checkStream refuses settings of a trunk whose calls a carrier brings over a WebSocket. Its error, an ErrInvalid, names the setting.
func checkStream(s *wire.TrunkSettings, secret string) error {
	if len(s.Targets) > 0 || len(s.Allow) > 0 || len(s.Extensions) > 0 || s.OutboundProxy != nil || s.Username != "" || s.InboundUsername != "" || s.Register != nil && *s.Register || s.WebSocket != nil && *s.WebSocket {
		return store.Invalid("stream: such a trunk has no targets, outbound_proxy, allow, extensions, users, registration and websocket")
	}
	if len(secret) < leastSecret || !trunk.ValidLine(secret) {
		return store.Invalid("inbound_password: what the carrier signs with, of %d bytes at least", leastSecret)
	}
	if key, err := base64.StdEncoding.DecodeString(secret); s.Stream == "telnyx" && (err != nil || len(key) != ed25519.PublicKeySize) {
		return store.Invalid("inbound_password: the public key of the account at Telnyx, as its portal shows it")
	}
	return nil
}

// Stream is a trunk whose calls a carrier brings over a WebSocket; store.ErrNotFound: there is none with the identifier.
func (k *Keeper) Stream(ctx context.Context, id string) (*mediastream.Trunk, error) {
	t, err := k.store.Find(ctx, id)
	if err != nil {
		return nil, err
	}
	var s wire.TrunkSettings
	if err := json.Unmarshal(t.Settings, &s); err != nil {
		return nil, err
	}
	if s.Stream == "" {
		return nil, store.ErrNotFound
	}
	secrets, err := k.store.Secrets(t)
	if err != nil {
		return nil, err
	}
	return &mediastream.Trunk{ID: t.ID, Account: t.Account, Carrier: s.Stream, Secret: secrets.Inbound}, nil
}
