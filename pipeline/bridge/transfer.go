package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"parley/inference"
	"parley/media"
	"parley/media/hold"
	"parley/pipeline/agent"
	"parley/pipeline/listen"
	"parley/pipeline/playout"
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

// Joiner is a leg whose far end can be asked to call that of another leg in the agent's place, which then leaves both.
type Joiner interface {
	// Join asks for it and waits for its result, as Transfer does. Both legs run.
	Join(ctx context.Context, other media.Leg) error
}

// ErrNoReferral is the error of a Transferrer whose far end does not do transfers at
// all, and has not tried.
var ErrNoReferral = errors.New("the far end does not transfer calls")

// Transfer is whom the agent may hand callers over to. Numbers may be SIP addresses, too (agent.Destination).
type Transfer struct {
	To  []agent.Destination
	Any bool // any number too that Check lets through
	// Record goes on recording when the caller is connected to the person who was called; far ends are not asked to do that then.
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
	// Hold makes what the caller hears while somebody is consulted, for legs that take frames of a rate; nil, as a function and as its
	// result: the ringing tone, which sounds also until Hold has returned. It runs beside the call.
	Hold func(ctx context.Context, rate media.Rate) *hold.Player

	held atomic.Pointer[hold.Player] // of the consultation that is under way; the conductor plays it
}

// Transferee is the caller whom a transfer moves, and what it needs of their call. Its functions may be called from any goroutine.
type Transferee struct {
	Leg      media.Leg
	Life     context.Context // of the call
	Language string          // two letters
	// Utter makes the audio of a text.
	Utter func(ctx context.Context, text string) ([]*playout.Sentence, error)
	// Start has run done beside the call, and then each of after, also when run panics.
	Start func(run func(), after ...func())
	// Connect has the conductor connect the caller to s; false: ctx ended first.
	Connect func(ctx context.Context, s *Second) bool
	// Invite returns the person who was called, as somebody who may speak to the caller while the agent stays. Said writes down what
	// the agent has said to both.
	Invite func(name string, rate media.Rate) *Supervisor
	Said   func(text string)
}

// How transfers come about, as the errors beside their result.
var (
	ErrTransferred = errors.New("transferred") // the far end did it
	ErrConnected   = errors.New("connected")   // the conductor carries it on
	errArguments   = errors.New("the arguments do not fit the function's parameters")
)

// moved is the result of a transfer that came about.
const moved = `{"transferred":true}`

const maxSummary = 500 // bytes of the summary for the person who answers

type arguments struct {
	To      string `json:"to"`
	Summary string `json:"summary"`
}

// Move hands the caller over, as the model wrote. It runs beside the call. Whether the far end is asked
// to do it or somebody is called first, the caller stays with the agent until somebody
// has answered. The text of the error is for the model.
func (t *Transfer) Move(ctx context.Context, c *Transferee, written json.RawMessage) (string, error) {
	t.held.Store(nil)
	var in arguments
	if err := json.Unmarshal(written, &in); err != nil {
		return "", errArguments
	}
	to, err := t.find(in.To)
	if err != nil {
		return "", err
	}
	number, err := t.Check(ctx, to.Number)
	if err != nil {
		return "", err
	}
	if t.Consult == nil || in.Summary == "" && !to.Warm && !to.Stay {
		leg, able := c.Leg.(Transferrer)
		err := ErrNoReferral
		if able {
			err = leg.Transfer(ctx, number)
		}
		if err == nil {
			return moved, ErrTransferred
		}
		if t.Consult == nil || !errors.Is(err, ErrNoReferral) {
			return "", err
		}
	}
	return t.consult(ctx, c, &to, number, tool.Clip(in.Summary, maxSummary))
}

// Offers says that there is a number to transfer to.
func (t *Transfer) Offers() bool { return t != nil && (t.Any || len(t.To) > 0) }

// Able says that callers on a leg can be transferred.
func (t *Transfer) Able(leg media.Leg) bool {
	_, refers := leg.(Transferrer)
	return t.Offers() && (refers || t.Consult != nil)
}

// Tool is the function as the model sees it.
func (t *Transfer) Tool() inference.Tool {
	parameters, _ := json.Marshal(t.parameters()) // texts can be written
	return inference.Tool{Name: TransferCall, Parameters: parameters,
		Description: "Transfer the caller to another telephone. Tell them first; it begins when your words have been heard, and with it your part of the call is over. If it fails you get the reason and go on talking with the caller." + t.list()}
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
		if d.Stay && t.Consult != nil {
			b.WriteString(" [the caller hears the summary, too: introduce the two to each other in it]")
		}
		b.WriteByte(';')
	}
	return strings.TrimSuffix(b.String(), ";")
}

// find is the destination that the model means.
func (t *Transfer) find(to string) (agent.Destination, error) {
	to = strings.TrimSpace(to)
	same := func(d agent.Destination) bool {
		if d.Name != "" && strings.EqualFold(d.Name, to) || d.Number == to {
			return true
		}
		return strings.HasPrefix(d.Number, "+") && digitsOf(d.Number) == digitsOf(to) // else an address, whose digits are no number
	}
	if i := slices.IndexFunc(t.To, same); i >= 0 {
		return t.To[i], nil
	}
	if !t.Any {
		return agent.Destination{}, fmt.Errorf("callers cannot be transferred to %q: it is not on the list", tool.Clip(to, 60))
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
