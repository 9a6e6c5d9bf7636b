package store

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/binary"
	"time"
)

// Prefixes of identifiers.
const (
	AccountID  = "acc_"
	KeyID      = "key_"
	AgentID    = "ag_"
	NumberID   = "num_"
	TrunkID    = "trk_"
	SessionID  = "ses_"
	LotID      = "lot_"
	TaskID     = "task_"
	TopUpID    = "top_"
	RechargeID = "rch_"
	RefundID   = "ref_"
	EventID    = "evt_" // of a warning too
	ListedID   = "dnc_"
	CampaignID = "bulk_"
	RowID      = "row_"
	WebhookID  = "wh_"
	UserID     = "usr_"
	OperatorID = "okey_" // of an operator's key
	BrowserID  = "web_"
	InvitedID  = "inv_"
	ViewID     = "view_"
	ListenerID = "lis_" // of somebody who listens in on a call
	RequestID  = "req_" // of HTTP

	KnowledgeID = "kb_"
	DocumentID  = "doc_"
	SoundID     = "snd_"

	MessageID = "msg_" // of a text message

	CaseID = "case_" // that an agent is tested by
	TestID = "sim_"  // of a simulation
)

// idText keeps the order of the bytes it writes.
var idText = base32.NewEncoding("0123456789abcdefghijklmnopqrstuv").WithPadding(base32.NoPadding)

// NewID makes an identifier of letters, digits and "_" that needs no escaping
// in a URL: 48 bits of milliseconds, so that younger ones sort later and indexes
// grow at one end, then 80 random bits.
func NewID(prefix string, at time.Time) string {
	b := idTime(at)
	rand.Read(b[6:])
	return prefix + idText.EncodeToString(b[:])
}

// FloorID sorts before every identifier of that millisecond and after all older ones.
func FloorID(prefix string, at time.Time) string {
	b := idTime(at)
	return prefix + idText.EncodeToString(b[:])
}

func idTime(at time.Time) (b [16]byte) {
	binary.BigEndian.PutUint64(b[:8], uint64(max(0, at.UnixMilli()))<<16)
	return b
}
