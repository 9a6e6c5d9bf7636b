package ledger

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/store"
)

// Consent is who confirmed that the callee of a call has agreed to it. It is
// recorded, not verified.
type Consent struct {
	ToHash [32]byte // of the number called, keyed by the server's secret
	Key    string   // the API key that asked, or stands behind the ticket that did
	IP     string   // where the request came from
}

// ConsentRecord is one row of the evidence.
type ConsentRecord struct {
	No     int64 // 1, 2... of the account
	Call   string
	Agent  string
	ToHash []byte
	Key    string
	IP     string
	At     time.Time
	Seal   []byte
}

// Sealed is what the row's seal must be after the seal of the one before it, which
// is nil for the first.
func (r *ConsentRecord) Sealed(account string, before []byte) []byte {
	h := sha256.New()
	part := func(b []byte) { // with its length, so that parts cannot run into each other
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(b)))
		h.Write(n[:])
		h.Write(b)
	}
	part(before)
	for _, s := range []string{account, r.Call, r.Agent, r.Key, r.IP, r.At.UTC().Format(time.RFC3339Nano)} {
		part([]byte(s))
	}
	part(r.ToHash)
	return h.Sum(nil)
}

// recordConsent appends to the account's evidence. The wallet's lock orders the rows.
func recordConsent(ctx context.Context, w *Tx, call, agent string, c Consent) error {
	r := ConsentRecord{Call: call, Agent: agent, ToHash: c.ToHash[:], Key: c.Key, IP: c.IP, At: w.now.Truncate(time.Microsecond)}
	var before []byte
	err := w.QueryRow(ctx, "select no, seal from consent_audit where account_id = $1 order by no desc limit 1", w.account).Scan(&r.No, &before)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return err
	}
	r.No++
	return store.Do(ctx, w, `insert into consent_audit (account_id, no, call_id, agent_id, to_hash, key_id, ip, at, seal)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		w.account, r.No, call, agent, r.ToHash, r.Key, r.IP, r.At, r.Sealed(w.account, before))
}

// ConsentColumns are the fields of a ConsentRecord, in their order.
const ConsentColumns = "no, call_id, agent_id, to_hash, key_id, ip, at, seal"

// Consents lists the account's evidence, oldest first, from after the row numbered
// after: at most limit rows.
func (l *Ledger) Consents(ctx context.Context, account string, after int64, limit int) ([]ConsentRecord, error) {
	return store.List[ConsentRecord](ctx, l.db, "list consents", selectConsents, account, after, limit)
}

// ConsentsAt does the same as of the statement's moment.
func ConsentsAt(ctx context.Context, s *store.Statement, after int64, limit int) ([]ConsentRecord, error) {
	return store.Rows[ConsentRecord](ctx, s.Tx, selectConsents, s.Account(), after, limit)
}

const selectConsents = "select " + ConsentColumns + " from consent_audit where account_id = $1 and no > $2 order by no limit $3"
