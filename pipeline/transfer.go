package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"parley/inference"
	"parley/media"
	"parley/pipeline/agent"
	"parley/pipeline/listen"
	"parley/pipeline/tool"
)

// TransferCall is the function that transfers the caller to another number.
const TransferCall = "transfer_call"

// Transferrer is a leg whose far end can be asked to call another number in the agent's
// place.
type Transferrer interface {
	// Transfer asks for it and waits for its result: nil when the number has
	// answered, or the far end left after it had agreed to try. It may be called from
	// any goroutine while the leg runs, and returns when that ends.
	Transfer(ctx context.Context, number string) error
}

// Transfer is whom the agent may hand callers over to.
type Transfer struct {
	To  []agent.Destination
	Any bool // any number too that Check lets through
	// Record goes on recording when the caller is connected to the person who was called.
	Record bool
	// Check says how a number is dialled, or why it is not: the text of the error is
	// told to the model. It is asked before each transfer, of either kind.
	Check func(ctx context.Context, number string) (dialled string, err error)
	// Consult calls a number beside the call, for transfers that are announced or that
	// the far end does not do itself. The caller of Consult runs the leg, and calls
	// over when it has ended. The model gets the text of an error. nil: there
	// are none.
	Consult func(ctx context.Context, number string) (leg media.Leg, over func(media.Ended), err error)
	// Listen hears who answers a consultation, at rate: an answering machine
	// hears nothing and counts as no answer. nil: there is no detection.
	Listen func(rate media.Rate) (listen.FrontEnd, error)
}

const (
	// transferMost is how long a transfer may take: a telephone rings for a minute.
	transferMost = 90 * time.Second
	// transferGap is the silence between the last word and the transfer.
	transferGap = 200 * time.Millisecond
	maxSummary  = 500 // bytes of the summary for the person who answers
)

// transferred is the end of a call that a transfer took over.
var transferred = media.Ended{Reason: media.Completed, Detail: media.Transferred}

// errTransferred is the result of a transfer that came about.
var errTransferred = errors.New("transferred")

type transferArguments struct {
	To      string `json:"to"`
	Summary string `json:"summary"`
}

// transferCall is the function of a call whose leg, or whose server, can transfer.
func (c *Call) transferCall() builtin {
	t := c.cfg.Transfer
	parameters, err := json.Marshal(t.parameters())
	if err != nil {
		parameters = nil
	}
	return builtin{after: true, gap: transferGap, alone: true, most: transferMost, Function: tool.Function{
		Spec: inference.Tool{Name: TransferCall, Parameters: parameters,
			Description: "Transfer the caller to another telephone. Tell them first; it begins when your words have been heard, and with it your part of the call is over. If it fails you get the reason and go on talking with the caller." + t.list()},
		Timeout: transferMost,
		Run: func(ctx context.Context, arguments json.RawMessage) (string, error) {
			return c.transfer(ctx, arguments)
		},
	}}
}

func (t *Transfer) parameters() map[string]any {
	to := map[string]any{"type": "string", "description": "Whom to transfer to: a name or number of the list."}
	if t.Any {
		to["description"] = "Whom to transfer to: a name or number of the list, or another number in international format, such as +34911234567."
	} else {
		var names []string
		for _, d := range t.To {
			names = append(names, d.Label())
		}
		to["enum"] = names
	}
	p := map[string]any{"to": to}
	if t.Consult != nil {
		p["summary"] = map[string]any{"type": "string", "maxLength": maxSummary,
			"description": "The announcement to the person who answers, before the caller is put through: who calls, and what about. Leave it out to put the caller through at once."}
	}
	return map[string]any{"type": "object", "properties": p, "required": []string{"to"}, "additionalProperties": false}
}

// mayWait says that the call has functions that may take their time.
func (c *Config) mayWait() bool {
	return len(c.Functions) > 0 || c.ClientTools && len(c.Agent.Tools) > 0 || c.Transfer.offers()
}

// offers says that there is a number to transfer to.
func (t *Transfer) offers() bool { return t != nil && (t.Any || len(t.To) > 0) }

// list tells the model whom there is.
func (t *Transfer) list() string {
	var b strings.Builder
	for i, d := range t.To {
		if i == 0 {
			b.WriteString(" There are:")
		}
		fmt.Fprintf(&b, " %s", d.Label())
		if d.Description != "" {
			fmt.Fprintf(&b, " (%s)", d.Description)
		}
		b.WriteByte(';')
	}
	return strings.TrimSuffix(b.String(), ";")
}

// find is the destination that the model means.
func (t *Transfer) find(to string) (agent.Destination, error) {
	to = strings.TrimSpace(to)
	same := func(d agent.Destination) bool {
		return d.Name != "" && strings.EqualFold(d.Name, to) || digitsOf(d.Number) == digitsOf(to) && digitsOf(to) != ""
	}
	if i := slices.IndexFunc(t.To, same); i >= 0 {
		return t.To[i], nil
	}
	if !t.Any {
		return agent.Destination{}, fmt.Errorf("callers cannot be transferred to %q: it is not on the list", clipped(to, 60))
	}
	return agent.Destination{Number: to}, nil
}

func digitsOf(number string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, number)
}
