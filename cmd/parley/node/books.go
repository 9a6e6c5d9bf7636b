package node

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"parley/pipeline/session"
	"parley/store"
	"parley/store/history"
	"parley/store/ledger"
)

// accounts are the ledger and the agents of its accounts.
type accounts struct {
	*ledger.Ledger
	agents
}

type agents interface {
	Now() time.Time // the database's
	Agent(ctx context.Context, account, id string) (*store.Agent, error)
}

func accountsOf(db *store.DB) accounts { return accounts{ledger.New(db), db} }

// nodes are the ledger and the history of calls, and the nodes that have these calls.
type nodes struct {
	*ledger.Ledger
	*history.Store
	nodeNames
}

type nodeNames interface {
	session.Lease
	NameHeld(ctx context.Context, name string, wait time.Duration) (addr string, err error)
	LeaveNode(ctx context.Context, life store.Node) error
	LiveNodes(ctx context.Context) (int, error)
}

func nodesOf(db *store.DB) nodes { return nodes{ledger.New(db), history.New(db), db} }

// derived makes a secret for one purpose from the master key.
func derived(secret, purpose string) string {
	h := hmac.New(sha256.New, []byte(secret))
	h.Write([]byte(purpose))
	return hex.EncodeToString(h.Sum(nil))
}
