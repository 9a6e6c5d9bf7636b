package store

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/binary"
	"time"
)

// Prefixes of identifiers.
const (
	accountID = "acc_"
	keyID     = "key_"
	agentID   = "ag_"
	numberID  = "num_"
	sessionID = "ses_"
	lotID     = "lot_"
)

// idText keeps the order of the bytes it writes.
var idText = base32.NewEncoding("0123456789abcdefghijklmnopqrstuv").WithPadding(base32.NoPadding)

// newID makes an identifier of letters, digits and "_" that needs no escaping
// in a URL: 48 bits of milliseconds, so that younger ones sort later and indexes
// grow at one end, then 80 random bits.
func newID(prefix string, now time.Time) string {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], uint64(now.UnixMilli())<<16)
	rand.Read(b[6:])
	return prefix + idText.EncodeToString(b[:])
}
