package callcenter

import (
	"context"
	"crypto/sha256"
	"encoding/json"

	"parley/api"
	"parley/store"
)

// once answers a request that may have an idempotency key: what it was answered with
// the first time, or what do makes of it now. Errors are not kept: where nothing was begun
// the request may be sent again, and where something was begun the answer says so. The Once that do is given is nil without a key; what is begun is to be
// entered in it, and its Subject is what a process that died has begun.
func once[T any](ctx context.Context, db *store.DB, o store.IdempotencyKey, body []byte, do func(*store.IdempotencyKey) (int, T, error)) (status int, out T, err error) {
	if o.Key == "" {
		return do(nil)
	}
	for i := range len(o.Key) {
		if o.Key[i] < ' ' || o.Key[i] > '~' || len(o.Key) > maxKey {
			return 0, out, api.Bad("Idempotency-Key: up to 255 printable characters of ASCII")
		}
	}
	o.Hash = sha256.Sum256(body)
	was, err := db.BeginRequest(ctx, &o, db.Now())
	if err != nil {
		return 0, out, err
	}
	if was != nil {
		err = json.Unmarshal(was.Body, &out)
		return was.Status, out, err
	}
	// The answer is kept although the client may have gone: it will ask again.
	kept := context.WithoutCancel(ctx)
	if status, out, err = do(&o); err != nil {
		if drop := db.DropRequest(kept, &o); drop != nil {
			return 0, out, drop
		}
		return 0, out, err
	}
	text, err := json.Marshal(out)
	if err != nil {
		return 0, out, err
	}
	return status, out, db.FinishRequest(kept, &o, store.Answer{Status: status, Body: text})
}

const maxKey = 255
