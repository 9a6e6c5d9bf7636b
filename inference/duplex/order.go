package duplex

import (
	"cmp"
	"strings"
	"time"

	"parley/inference"
)

// Inaudible stands for words that are not known.
const Inaudible = "(inaudible)"

// Order reports what happens in a session as a call can follow it: the words of a turn before the reply to it. Vendors write
// them down beside the reply, and often later.
type Order struct {
	Line
	held []held
}

// held is an event that waits for the words of its turn, or for those before it.
type held struct {
	event inference.RealtimeEvent
	turn  string // whose words are still missing; empty: it is complete
	until time.Time
}

// Report reports an event after those before it.
func (o *Order) Report(e inference.RealtimeEvent) {
	o.held = append(o.held, held{event: e})
	o.release()
}

// Turn reports that a turn of the caller's is over, as soon as its words are known, or after wait.
func (o *Order) Turn(name string, wait time.Duration) {
	o.held = append(o.held, held{event: inference.RealtimeEvent{Kind: inference.RealtimeHeard}, turn: name, until: time.Now().Add(wait)})
	o.release()
}

// Words takes the next words of a turn; false: they do not count any more.
func (o *Order) Words(turn, text string) bool {
	h := o.waits(turn)
	if h != nil {
		h.event.Text += text
	}
	return h != nil
}

// Known takes all words of a turn.
func (o *Order) Known(turn, text string) {
	if h := o.waits(turn); h != nil {
		h.turn, h.event.Text = "", strings.TrimSpace(text)
		o.release()
	}
}

// waits is the turn, nil when it waits for no words.
func (o *Order) waits(turn string) *held {
	for i := range o.held {
		if turn != "" && o.held[i].turn == turn {
			return &o.held[i]
		}
	}
	return nil
}

// Due gives up words that are late, and returns how long until others are; what has come of them counts.
func (o *Order) Due(now time.Time) time.Duration {
	for len(o.held) > 0 { // the first is one that waits
		h := o.held[0]
		if left := h.until.Sub(now); left > 0 {
			return left
		}
		o.Known(h.turn, cmp.Or(h.event.Text, Inaudible))
	}
	return time.Hour
}

// release reports what waits for nothing any more.
func (o *Order) release() {
	for len(o.held) > 0 && o.held[0].turn == "" {
		o.Emit(o.held[0].event)
		o.held = o.held[1:]
	}
}
