package recogniser

import "time"

// Asks tells which Finish a vendor's answer is to that does not say so: the oldest one whose audio holds the last word of
// the answer. Those before it had no words, and some vendors leave such unanswered.
type Asks struct {
	sent time.Duration   // of audio on the socket
	at   []time.Duration // of it, before each Finish that is not answered, oldest first
}

// Audio notes that so much was sent.
func (a *Asks) Audio(d time.Duration) { a.sent += d }

// Finish notes a Finish.
func (a *Asks) Finish() { a.at = append(a.at, a.sent) }

// Answer makes h, whose End is that of its last word, an Answer to a Finish, and a Final where it is to none.
func (a *Asks) Answer(h Heard) Heard {
	h.Kind = Final
	for len(a.at) > 0 && h.Kind == Final {
		if a.at[0] >= h.End {
			h.Kind, h.End = Answer, a.at[0]
		}
		a.at = a.at[1:]
	}
	return h
}
