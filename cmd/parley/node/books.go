package node

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"

	"parley/pipeline/session"
	"parley/store/history"
	"parley/store/ledger"
)

// books are the ledger and the history of calls, and the nodes that have these calls.
type books struct {
	*ledger.Ledger
	*history.Store
	session.Lease
}

// derived makes a secret for one purpose from the master key.
func derived(secret, purpose string) string {
	h := hmac.New(sha256.New, []byte(secret))
	h.Write([]byte(purpose))
	return hex.EncodeToString(h.Sum(nil))
}
