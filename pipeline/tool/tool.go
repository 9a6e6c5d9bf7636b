// Package tool makes the functions that a model may call and that this server
// runs: requests to an account's own services, tools of MCP servers, searches,
// a customer database. It knows nothing of conversations: package pipeline
// decides when a function runs and how its result is used.
package tool

import (
	"context"
	"encoding/json"
	"time"

	"parley/inference"
)

// Function is something a model may call. It is a value of one call's
// configuration and not changed after that.
type Function struct {
	// Spec is its description for the model.
	Spec inference.Tool
	// Timeout is how long Run may take; 0: 8 s, at most 30 s.
	Timeout time.Duration
	// Cancel says that Run is given up when the caller interrupts the reply that
	// asked for it. Otherwise it goes on, as whatever writes must.
	Cancel bool
	// Run does it. It is called on a goroutine of its own, several at once; ctx
	// ends when its time is up, when it is cancelled, and with the call. arguments
	// is the JSON object the model wrote, not checked. The result is what the
	// model reads, a JSON value or plain text, of which it reads MaxResult bytes. The text
	// of an error reaches the model, too: it names no secret.
	Run func(ctx context.Context, arguments json.RawMessage) (result string, err error)
	// Meter is what a call of it costs whose Run returned no error, in a turn that
	// was committed. The zero Meter, which most functions have, is nothing.
	Meter Meter
}

// Meter names what is charged for a function besides the conversation.
type Meter int

// The meters. Free stays the zero value.
const (
	Free     Meter = iota
	Searched       // each web search that returns an answer
	CRM            // a call that reaches the customer's CRM: once per call, however often it does
)

// MaxResult is the most of a result, in bytes, that a model is given to read;
// what is beyond is cut off, which the model learns.
const MaxResult = 16 << 10
