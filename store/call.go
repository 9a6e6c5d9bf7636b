package store

import (
	"github.com/jackc/pgx/v5"

	"parley/billing"
)

// The words for a session whose process died, in media.EndReason's.
const (
	ReasonFailed   = "failed"
	DetailNodeLost = "node_lost"
)

// AnalysisDeleted is why a call has no analysis: what was said in it was deleted.
const AnalysisDeleted = "deleted"

// EndedAt is when the session s with the usage u ended. That of one whose process died is
// its last checkpoint, or else its start: ended_at is when others closed its books, at or
// after every posting, and queries for what was posted go by that.
const EndedAt = `case when s.end_detail = '` + DetailNodeLost + `' then greatest(s.opened_at, u.started_at, u.ckpt_at) else s.ended_at end`

// AfterCall is the least number among a call's generations of what came after it, such as a summary. What ran in the call has
// lower ones, and may be stored later: by a node that was taken for dead.
const AfterCall = 1_000_000

// Generation is what one run of the language model consumed.
type Generation struct {
	Gen       int
	Turn      int
	Kind      string // reply, speculative or summary
	Outcome   string // committed, interrupted, discarded or failed
	InTokens  int64
	OutTokens int64
	Source    string // who counted: provider or counted
	Engine    string // that answered; empty: not known, or none
	Own       bool   // on a key of the account's
}

// EngineUse is what an engine has used in a session, or afterwards for its call, of one unit.
type EngineUse struct {
	Stage    string // asr, llm, tts or realtime
	Engine   string
	Model    string // empty: the vendor's usual one
	Own      bool   // on a key of the account's; else on the operator's, or on none
	Unit     billing.Unit
	Quantity int64          // of seconds thousandths
	Source   string         // who counted: provider or counted
	Cost     *billing.Money // what the vendor charges the operator; nil: not known, or it is the account's
	Price    *billing.Money // what the account is charged; nil: it is part of the price of the session
}

// Settle sets the cost, by what the vendor charges, and the price, by the components of tariff that the account pays by the unit. What
// is used on a key of the account's costs the operator nothing, and the account nothing where no component says otherwise.
func (u *EngineUse) Settle(costs billing.Costs, tariff *billing.Tariff, paid map[billing.Unit]billing.Component) {
	if u.Own {
		u.Price = new(billing.Money)
	} else if cost, known := costs.Of(u.Unit, u.Quantity); known {
		u.Cost = &cost
	}
	c, charged := paid[u.Unit]
	if !charged {
		return
	}
	var usage billing.Usage
	usage[c] = u.Quantity
	if bill, err := tariff.Price(usage); err == nil {
		u.Price = &bill[c].Amount
	}
}

// Asked is how the webhook of a number was asked about a call to it.
type Asked struct {
	Webhook string       `json:"webhook"`
	Outcome AskedOutcome `json:"outcome"`
	Status  int          `json:"status,omitempty"` // of its answer; 0: there was none
	TookMS  int64        `json:"took_ms"`          // until its answer, or the failure
	Failure string       `json:"failure,omitempty"`
}

// AskedOutcome is how that went.
type AskedOutcome string

// Outcomes of asking.
const (
	AskedAnswered AskedOutcome = "answered" // what it said counts
	AskedRefused  AskedOutcome = "refused"  // the call is not taken
	AskedFailed   AskedOutcome = "failed"   // the number's own agent answers
)

// CallOrigin is where a call that came in was before, as its INVITE says. It is kept as it is.
type CallOrigin struct {
	DivertedBy  string          `json:"diverted_by,omitempty"`  // who sent it on last
	FirstCalled string          `json:"first_called,omitempty"` // the number that the caller has dialled
	Diversions  []CallDiversion `json:"diversions,omitempty"`   // the last first
	History     []CallStation   `json:"history,omitempty"`      // in order
	OrigID      string          `json:"orig_id,omitempty"`      // of the carrier that attests the caller
}

// CallDiversion is a telephone that has sent a call on.
type CallDiversion struct {
	Number string `json:"number,omitempty"`
	Name   string `json:"name,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// CallStation is a place that a call was sent to.
type CallStation struct {
	Index  string `json:"index"`
	Number string `json:"number,omitempty"`
	Name   string `json:"name,omitempty"`
	Cause  int    `json:"cause,omitempty"`
}

// ServedBy is which engines served a call, by stage, in the order in which they began to.
type ServedBy struct {
	ASR []string `json:"asr"`
	LLM []string `json:"llm"`
	TTS []string `json:"tts"`
}

// SaveUses queues in b the statements that add what engines have used to what is stored of a session.
func SaveUses(b *pgx.Batch, session string, uses []EngineUse) {
	for _, u := range uses {
		b.Queue(`insert into call_engine_usage (session_id, ordinal, stage, engine, model, own, unit, quantity, source, cost_nano, price_nano)
			values ($1, (select coalesce(max(ordinal) + 1, 0) from call_engine_usage where session_id = $1), $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
			session, u.Stage, u.Engine, u.Model, u.Own, u.Unit, u.Quantity, u.Source, u.Cost, u.Price)
	}
}
