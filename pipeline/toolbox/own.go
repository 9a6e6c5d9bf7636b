package toolbox

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
	"parley/pipeline/tool"
	"parley/pipeline/turn"
)

// SendDTMF and CollectDigits are the functions of a telephone's keys.
const (
	SendDTMF      = "send_dtmf"
	CollectDigits = "collect_digits"
)

// OfKeys are the functions of names that press or read keys on a leg.
func OfKeys(leg media.Leg, names []string) (all []Function) {
	keys, able := leg.(media.Keypad)
	if able && slices.Contains(names, SendDTMF) {
		all = append(all, ToSendDTMF(keys))
	}
	if able && slices.Contains(names, CollectDigits) {
		all = append(all, ToCollectDigits())
	}
	return all
}

const (
	keyTime  = 200 * time.Millisecond // of a key and the pause after it
	keyPause = 500 * time.Millisecond // of a w
	maxKeys  = 64                     // of one call of send_dtmf
	// keysMost is how long the keys of one call may take.
	keysMost = maxKeys*keyPause + functionPatience
)

// ToSendDTMF is SendDTMF: it presses keys, for the menu of the system that was called.
func ToSendDTMF(keys media.Keypad) Function {
	return Function{After: true, Most: keysMost, Function: tool.Function{
		Spec: inference.Tool{Name: SendDTMF,
			Description: "Press keys of the telephone, for instance to go through the menu of the system that you are talking to. It begins when your words have been heard.",
			Parameters: []byte(`{"type":"object","properties":{"digits":{"type":"string","pattern":"^[0-9*#A-Dw]{1,64}$",` +
				`"description":"The keys, one after another: 0 to 9, *, #, A to D; w waits half a second."}},"required":["digits"],"additionalProperties":false}`)},
		Timeout: keysMost,
		Run: func(ctx context.Context, arguments json.RawMessage) (string, error) {
			var in struct {
				Digits string `json:"digits"`
			}
			if err := json.Unmarshal(arguments, &in); err != nil {
				return "", errors.New("digits must be a string")
			}
			return "", press(ctx, keys, strings.ToUpper(strings.ReplaceAll(in.Digits, "w", "W")))
		},
	}}
}

func press(ctx context.Context, keypad media.Keypad, keys string) error {
	if keys == "" || len(keys) > maxKeys || strings.Trim(keys, "0123456789*#ABCDW") != "" {
		return fmt.Errorf("digits must be 1 to %d of 0-9, *, #, A-D and w", maxKeys)
	}
	for i, group := range strings.Split(keys, "W") {
		pause := time.Duration(len(group)) * keyTime
		if i > 0 {
			if err := pauseFor(ctx, keyPause); err != nil {
				return err
			}
		}
		if group == "" {
			continue
		}
		if err := keypad.SendDigits(group); err != nil {
			return errors.New("the keys could not be sent: the far end takes none, or too many wait")
		}
		if err := pauseFor(ctx, pause); err != nil {
			return err
		}
	}
	return nil
}

func pauseFor(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Bounds of collect_digits.
const (
	firstKey    = 10 * time.Second // the wait for the first key when the model does not say
	nextKey     = 4 * time.Second  // and for each further one
	mostKeyWait = 30 * time.Second
	mostDigits  = 32
)

// collecting is a collect_digits that waits for keys, which package turn collects. The zero
// value is none.
type collecting struct {
	id  string
	min int // keys
}

type collectArguments struct {
	Prompt       string  `json:"prompt"`
	Min          int     `json:"min_digits"`
	Max          int     `json:"max_digits"`
	Terminator   string  `json:"terminator"`
	FirstSeconds float64 `json:"first_timeout_seconds"`
	NextSeconds  float64 `json:"next_timeout_seconds"`
}

// ToCollectDigits is CollectDigits: it has the caller type a number.
func ToCollectDigits() Function {
	return Function{After: true, collects: true, Function: tool.Function{Cancel: true, Spec: inference.Tool{Name: CollectDigits,
		Description: "Have the caller type a number on the keys of the telephone and get it. Ask for it first, or by prompt. If the caller speaks instead, you get what was typed until then, and their words.",
		Parameters: []byte(`{"type":"object","properties":{` +
			`"prompt":{"type":"string","description":"What to say before; leave it out when you have asked already."},` +
			`"min_digits":{"type":"integer","minimum":1,"maximum":32,"description":"The fewest that make sense; 1."},` +
			`"max_digits":{"type":"integer","minimum":1,"maximum":32,"description":"How many end it; 32."},` +
			`"terminator":{"type":"string","enum":["#","*",""],"description":"The key that ends it; #. Empty: none."},` +
			`"first_timeout_seconds":{"type":"number","minimum":1,"maximum":30,"description":"How long to wait for the first key; 10."},` +
			`"next_timeout_seconds":{"type":"number","minimum":1,"maximum":30,"description":"How long to wait for each further key; 4."}},"additionalProperties":false}`)}}}
}

// parse reads the arguments; what is missing has its default.
func (in *collectArguments) parse(arguments string) error {
	*in = collectArguments{Min: 1, Max: mostDigits, Terminator: "#", FirstSeconds: firstKey.Seconds(), NextSeconds: nextKey.Seconds()}
	switch object, ok := object(arguments); {
	case !ok:
		return errors.New("the arguments are not a JSON object")
	case json.Unmarshal(object, in) != nil:
		return errors.New("the arguments do not fit the function's parameters")
	case len(in.Terminator) > 1 || !strings.Contains("#*", in.Terminator):
		return errors.New("terminator must be #, * or empty")
	case in.Min < 1 || in.Max < in.Min || in.Max > mostDigits:
		return fmt.Errorf("min_digits and max_digits must be from 1 to %d, the least first", mostDigits)
	}
	return nil
}

// number is what the caller is to type.
func (in *collectArguments) number() turn.Number {
	bound := func(seconds float64) media.Time {
		return media.FromDuration(min(max(time.Duration(seconds*float64(time.Second)), time.Second), mostKeyWait))
	}
	return turn.Number{Max: in.Max, Terminator: in.Terminator, First: bound(in.FirstSeconds), Next: bound(in.NextSeconds)}
}

// beginCollecting has the caller's keys collected from now on.
func (t *Toolbox) beginCollecting(w *Call) []Event {
	var in collectArguments
	if err := in.parse(w.Arguments); err != nil {
		return t.end(w.ID, problem(err.Error()), "error")
	}
	t.collect = collecting{w.ID, in.Min}
	e := w.event(Collecting)
	e.Number, e.Prompt = in.number(), in.Prompt
	return []Event{w.event(Begun), e}
}

// Typed gives collect_digits the keys that were pressed; by says how they ended.
func (t *Toolbox) Typed(keys, by string) []Event {
	k := t.collect
	out := struct {
		Digits string `json:"digits"`
		Ended  string `json:"ended_by"`
		Error  string `json:"error,omitempty"`
	}{Digits: keys, Ended: by}
	outcome := "ok"
	if len(keys) < k.min {
		outcome, out.Error = "error", "fewer digits than min_digits were pressed"
	}
	text, _ := json.Marshal(out) // texts can be written
	return t.end(k.id, string(text), outcome)
}

// OptOut is the function that keeps the caller from being called again.
const OptOut = "opt_out"

// errNotListed is the result where the number could not be put on the list.
var errNotListed = errors.New("the number could not be put on the list; it may be withheld")

// ToOptOut is OptOut: list puts the other party on the account's do-not-call list.
func ToOptOut(list func(context.Context) error) Function {
	return Function{Function: tool.Function{
		Spec: inference.Tool{Name: OptOut,
			Description: "The person you talk to does not want to be called again: put their number on the do-not-call list. Only when they ask for it; then tell them that it is done.",
			Parameters:  []byte(`{"type":"object","properties":{},"additionalProperties":false}`)},
		Run: func(ctx context.Context, _ json.RawMessage) (string, error) {
			if list(ctx) != nil {
				return "", errNotListed
			}
			return `{"listed":true}`, nil
		},
	}}
}
