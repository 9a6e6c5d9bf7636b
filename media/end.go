package media

import (
	"context"
	"errors"
)

// EndReason is the word that says why a call ended. The twelve words are the same
// everywhere: in the API, in events, in the store and in metrics.
type EndReason string

// Why calls end.
const (
	UserHangup       EndReason = "user_hangup"       // the far end ended an answered call, or gave up while it rang
	AgentHangup      EndReason = "agent_hangup"      // the agent said goodbye
	APIHangup        EndReason = "api_hangup"        // someone asked for it: a route, the dashboard, a drain
	Completed        EndReason = "completed"         // a transfer took the caller over
	Busy             EndReason = "busy"              // the callee is busy
	NoAnswer         EndReason = "no_answer"         // the callee did not answer in time
	Rejected         EndReason = "rejected"          // the callee or an analytics service refused
	Voicemail        EndReason = "voicemail"         // a machine answered and policy was not to talk
	BalanceExhausted EndReason = "balance_exhausted" // the overdraft floor, a limit of spending, or a refused line minute
	MaxDuration      EndReason = "max_duration"      // the longest a call may be
	Failed           EndReason = "failed"            // all else; the detail says what
	Unknown          EndReason = "unknown"           // a call the account does not have
)

// EndDetail is the finer cause of an end, a word that is the same everywhere, too. Empty: the
// reason says it all.
type EndDetail string

// Details that several packages know; others stand where they arise.
const (
	// Of BalanceExhausted.
	Disputed    EndDetail = "disputed"       // a payment is, so what the account has may not be used
	Spending    EndDetail = "spending_limit" // what the account, a key or an agent may spend in a day is spent
	TicketSpent EndDetail = "ticket_cost"    // the conversation costs as much as its ticket allows

	// Of APIHangup.
	Suspended EndDetail = "suspended" // an operator has suspended the account
	Drained   EndDetail = "drain"     // the server stops

	Transferred EndDetail = "transferred" // of Completed

	// Of Failed.
	EngineFailed EndDetail = "engine"
	MediaTimeout EndDetail = "media_timeout" // the far end has fallen silent
	SlowClient   EndDetail = "slow_client"   // it lets too many messages wait
)

// Ended is why a call ended. A Leg's Run returns it when the far end's goodbye was
// not an ordinary hang-up, and finds it as the cause of its context when we end
// the call.
type Ended struct {
	Reason EndReason
	Detail EndDetail
}

// EndedBy turns the cause of an end, of a context or a leg, into the words for it; nil: the far end hung up.
func EndedBy(cause error) *Ended {
	if cause == nil {
		return &Ended{Reason: UserHangup}
	}
	if e, ok := errors.AsType[*Ended](cause); ok && e != nil {
		return e
	}
	if errors.Is(cause, context.Canceled) || errors.Is(cause, context.DeadlineExceeded) {
		return &Ended{Reason: APIHangup}
	}
	return &Ended{Reason: Failed, Detail: "leg"}
}

func (e *Ended) Error() string {
	if e.Detail == "" {
		return string(e.Reason)
	}
	return string(e.Reason) + ": " + string(e.Detail)
}
