package callcenter

import (
	"context"
	"net/http"
	"time"

	"parley/api"
	"parley/api/socket"
	"parley/api/wire"
	"parley/store"
)

// Calls places and follows calls; cmd provides it.
type Calls interface {
	// Dial begins a call, or refuses it: api.ErrFrom, api.ErrNoAgent,
	// api.ErrDestination, or as the store refuses a session.
	// o.Once is entered with it.
	Dial(ctx context.Context, p api.Principal, o Order) (*wire.Placed, error)
	// Placed is a call that was begun before.
	Placed(ctx context.Context, account, id string) (*wire.Placed, error)
	// Look is how a call of the account stands; store.ErrNotFound when it has none such.
	Look(ctx context.Context, account, id string) (*wire.CallState, error)
	// Follow hands tell a Snapshot at once and then each change until the call has
	// ended, ctx ends or tell fails. It tells Alive when nothing happens for 15 s.
	Follow(ctx context.Context, account, id string, tell func(Change) error) error
	// Log is what happened in a call of the account that is over; nil: it lasts.
	// store.ErrNotFound when it has none such.
	Log(ctx context.Context, account, id string) (*CallLog, error)
	// Hangup ends a call of the account; one that has ended is no error.
	Hangup(ctx context.Context, account, id string) error
}

// Nearest, as the number that an order is from, is the one of the account that looks nearest to the callee's.
const Nearest = "local"

// Order is a call to place.
type Order struct {
	From, To, Agent string        // From may be Nearest
	RingTimeout     time.Duration // 0: the usual
	MaxDuration     time.Duration // 0: as the agent says
	OnMachine       string        // continue, hangup or message; empty: as the agent says
	Message         string        // of message, 1 to 1000 characters
	// Variables are values of the agent's variables.
	Variables map[string]string
	Metadata  wire.Metadata
	Headers   wire.CallHeaders // of its INVITE, by the names that calls keep them by
	// IP is where the request came from, for the evidence of consent.
	IP   string
	Once *store.IdempotencyKey // the request that asks; nil: it had no key
	// Paced counts the call among those that the account may place in a second.
	Paced bool
}

// unknown is how a call reads that the account does not have.
func unknown() *wire.CallState {
	return &wire.CallState{Status: ended, Transcript: []wire.SpokenLine{}, EndReason: "unknown"}
}

const ended = "ended"

// Change is one event of a call that is followed.
type Change struct {
	Kind  ChangeKind
	State wire.CallState  // how the call stands after it
	Line  wire.SpokenLine // of LineAdded and Speaking
	// Function is of FunctionCalled.
	Function wire.CallFunction
}

// ChangeKind says what has changed.
type ChangeKind uint8

// What happens to a call.
const (
	Snapshot      ChangeKind = iota + 1 // nothing: this is the beginning
	StatusChanged                       // of CallState, to anything but ended, or who answered is known
	LineAdded
	Corrected      // what was said before reads differently now
	Over           // the call has ended; the last
	FunctionCalled // a function was called, or has its result
	Alive          // nothing has happened for a while
	Speaking       // the agent begins a sentence: what it says of a reply so far, of which LineAdded has what was heard
)

// MountCalls adds the routes of calls. Event streams count in open, with the sockets of
// their accounts; nil: they are not counted.
func MountCalls(a *api.API, db *store.DB, c Calls, open *socket.Limits) {
	s := &calls{Calls: c, db: db, open: open}
	api.Register(a, callRoutes.Post("/callcenter/dial", "dial", "Place a call",
		"Calls `to` from a number of the account and lets the agent speak with the person who answers. The call costs nothing unless it is answered. "+
			"Landlines of fourteen countries can be called, and mobiles where the rate card's `phone.outbound_mobile` has a price, in the US and Canada too. "+
			"`consent_confirmed` must be `true`: you confirm that the callee has agreed; the confirmation is recorded with the call and not verified. "+
			"Needs a first top-up; welcome credit does not pay for it. Five calls a second may be begun. "+
			"With an `Idempotency-Key` header the first answer is repeated for 24 hours. "+
			"Where the operator traces calls, a `traceparent` header (W3C Trace Context) makes the call a part of your trace.", http.StatusPaymentRequired, http.StatusForbidden, http.StatusNotFound, http.StatusConflict).OwnChecks(), s.dial)
	api.Register(a, callRoutes.Get("/callcenter/call-monitor", "monitor-call", "Get call status",
		"The state of a call. A call that the account does not have is answered as ended, with an empty transcript."), s.monitor)
	a.Handle(streamRoute(), api.HandlerFunc(s.stream))
	api.Register(a, callRoutes.Post("/callcenter/hangup/{id}", "hang-up", "Hang up a call",
		"Ends the call at once. One that has ended already answers the same.", http.StatusNotFound), s.hangup)
}

// Batches are limited per account as calls are, five a second, but by each node for
// itself: how many there may be at once is limited over all of them.
const (
	queueEvery = time.Second / 5
	queueBurst = 5
)

// pace takes one of them, or refuses.
func pace(rate *api.Buckets, account string) error {
	if rate.Take(account) {
		return nil
	}
	return api.ErrRateLimited
}

// calls are the routes.
type calls struct {
	Calls
	db   *store.DB // for idempotency keys and its clock
	open *socket.Limits
}
