package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"parley/inference"
	"parley/pipeline/tool"
)

// SendDTMF and CollectDigits are the functions of a telephone's keys.
const (
	SendDTMF      = "send_dtmf"
	CollectDigits = "collect_digits"
)

// Keypad is a leg that can press keys.
type Keypad interface {
	// SendDigits presses keys, '0' to '9', '*', '#', 'A' to 'D', each for 100 ms with
	// 100 ms between; all of them or, with an error, none. It does not wait for that,
	// and may be called from any goroutine.
	SendDigits(digits string) error
}

const (
	keyTime  = 200 * time.Millisecond // of a key and the pause after it
	keyPause = 500 * time.Millisecond // of a w
	maxKeys  = 64                     // of one call of send_dtmf
	// keysMost is how long the keys of one call may take.
	keysMost = maxKeys*keyPause + functionPatience
)

// sendDTMF presses keys: the agent has called somebody with a menu.
func sendDTMF(leg Keypad) builtin {
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

func press(ctx context.Context, leg Keypad, keys string) error {
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
	// lateKeys is how long after the last key that counts others are taken to belong to
	// the same number: many people end it with # all the same.
	lateKeys = 2 * time.Second
)

// collecting is a collect_digits that waits for keys. The zero value is none.
type collecting struct {
	id         string
	min, max   int
	terminator byte // 0: none
	first      time.Duration
	next       time.Duration
	keys       []byte
	by         time.Time // when it has waited long enough; zero while its prompt is played
}

func (k *collecting) open() bool { return k.id != "" }

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
func (k *collecting) parse(arguments string) (prompt string, err error) {
	in := collectArguments{Min: 1, Max: mostDigits, Terminator: "#", FirstSeconds: firstKey.Seconds(), NextSeconds: nextKey.Seconds()}
	object, ok := object(arguments)
	if !ok {
		return "", errors.New("the arguments are not a JSON object")
	}
	if err := json.Unmarshal(object, &in); err != nil {
		return "", errors.New("the arguments do not fit the function's parameters")
	}
	switch in.Terminator {
	case "":
	case "#", "*":
		k.terminator = in.Terminator[0]
	default:
		return "", errors.New("terminator must be #, * or empty")
	}
	if k.min, k.max = in.Min, in.Max; k.min < 1 || k.max < k.min || k.max > mostDigits {
		return "", fmt.Errorf("min_digits and max_digits must be from 1 to %d, the least first", mostDigits)
	}
	bound := func(seconds float64) time.Duration {
		return min(max(time.Duration(seconds*float64(time.Second)), time.Second), mostKeyWait)
	}
	k.first, k.next = bound(in.FirstSeconds), bound(in.NextSeconds)
	return in.Prompt, nil
}

// beginCollecting takes the caller's keys from now on, once the agent rests.
func (c *Call) beginCollecting(w *waiting) bool {
	if !c.resting() || c.tools.keys.open() {
		return false
	}
	k := collecting{id: w.call.ID}
	prompt, err := k.parse(w.call.Arguments)
	if err != nil {
		c.toolEnded(w.call.ID, problem(err.Error()), "error")
		return true
	}
	c.emit(Event{Kind: ToolBegun, Turn: w.turn, Generation: w.number, Call: w.call})
	c.tools.keys = k
	if prompt != "" {
		c.compose(&reply{number: w.number, turn: w.turn, prompts: w.call.ID}, nil, prompt)
	}
	return true
}

// key takes a key that the caller pressed; false: it belongs to no number.
func (c *Call) key(digit byte, now time.Time) bool {
	k := &c.tools.keys
	if !k.open() {
		return now.Before(c.tools.late)
	}
	if digit == k.terminator {
		c.collected("terminator")
		return true
	}
	k.keys = append(k.keys, digit)
	if !k.by.IsZero() {
		k.by = now.Add(k.next)
	}
	if len(k.keys) == k.max {
		c.tools.late = now.Add(lateKeys)
		c.collected("max_digits")
	}
	return true
}

// collect ends a wait for keys that was long enough. It counts from when the agent has
// said what it wants.
func (c *Call) collect(now time.Time) {
	k := &c.tools.keys
	switch {
	case !k.by.IsZero():
		if now.After(k.by) {
			c.collected("timeout")
		}
	case c.resting():
		wait := k.first
		if len(k.keys) > 0 {
			wait = k.next
		}
		k.by = now.Add(wait)
	}
}

// spokenInstead ends a wait for keys: the caller has said something.
func (c *Call) spokenInstead() {
	if c.tools.keys.open() {
		c.collected("speech")
	}
}

// collected is the end of a wait for keys.
func (c *Call) collected(by string) {
	k := c.tools.keys
	out := struct {
		Digits string `json:"digits"`
		Ended  string `json:"ended_by"`
		Error  string `json:"error,omitempty"`
	}{Digits: string(k.keys), Ended: by}
	outcome := "ok"
	if len(k.keys) < k.min {
		outcome, out.Error = "error", "fewer digits than min_digits were pressed"
	}
	text, err := json.Marshal(out)
	if err != nil {
		text = []byte(problem(err.Error()))
	}
	c.toolEnded(k.id, string(text), outcome)
}
