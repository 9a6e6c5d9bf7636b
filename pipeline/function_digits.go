package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"parley/inference"
	"parley/media"
	"parley/pipeline/bridge"
	"parley/pipeline/reply"
	"parley/pipeline/tool"
	"parley/pipeline/turn"
)

// SendDTMF and CollectDigits are the functions of a telephone's keys.
const (
	SendDTMF      = "send_dtmf"
	CollectDigits = "collect_digits"
)

const (
	keyTime  = 200 * time.Millisecond // of a key and the pause after it
	keyPause = 500 * time.Millisecond // of a w
	maxKeys  = 64                     // of one call of send_dtmf
	// keysMost is how long the keys of one call may take.
	keysMost = maxKeys*keyPause + functionPatience
)

// sendDTMF presses keys, for the menu of the system that was called.
func sendDTMF(leg bridge.Keypad) builtin {
	return builtin{after: true, most: keysMost, Function: tool.Function{
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
			return "", press(ctx, leg, strings.ToUpper(strings.ReplaceAll(in.Digits, "w", "W")))
		},
	}}
}

func press(ctx context.Context, leg bridge.Keypad, keys string) error {
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
		if err := leg.SendDigits(group); err != nil {
			return errors.New("the keys could not be sent: the far end takes none, or too many wait")
		}
		if err := pauseFor(ctx, pause); err != nil {
			return err
		}
	}
	return nil
}

func pauseFor(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
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

// collectDigits has the caller type a number.
func collectDigits() builtin {
	return builtin{after: true, begin: (*Call).beginCollecting, Function: tool.Function{Cancel: true, Spec: inference.Tool{Name: CollectDigits,
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

// beginCollecting has the caller's keys collected from now on, once the agent rests.
func (c *Call) beginCollecting(w *waiting) bool {
	if c.state.Phase != turn.ToolWait || c.state.Held() || c.output() != turn.Resting || c.state.Collects() {
		return false
	}
	var in collectArguments
	if err := in.parse(w.call.Arguments); err != nil {
		c.toolEnded(w.call.ID, problem(err.Error()), "error")
		return true
	}
	c.emit(Event{Kind: ToolBegun, Turn: w.turn, Generation: w.number, Call: w.call})
	c.tools.collect = collecting{w.call.ID, in.Min}
	c.step(turn.Event{Kind: turn.Collect, Number: in.number()})
	if in.Prompt != "" {
		c.compose(&reply.Reply{Number: w.number, Turn: w.turn, Prompts: w.call.ID}, nil, in.Prompt)
	}
	return true
}

// collected gives collect_digits the keys that were pressed; by says how they ended.
func (c *Call) collected(keys, by string) {
	k := c.tools.collect
	out := struct {
		Digits string `json:"digits"`
		Ended  string `json:"ended_by"`
		Error  string `json:"error,omitempty"`
	}{Digits: keys, Ended: by}
	outcome := "ok"
	if len(keys) < k.min {
		outcome, out.Error = "error", "fewer digits than min_digits were pressed"
	}
	text, err := json.Marshal(out)
	if err != nil {
		text = []byte(problem(err.Error()))
	}
	c.toolEnded(k.id, string(text), outcome)
}
