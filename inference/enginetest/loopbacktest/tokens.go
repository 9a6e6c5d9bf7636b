package loopbacktest

import (
	"cmp"
	"time"
)

// Delays of a reply are drawn each time, by the clock. Nil: none.
type Delays struct {
	FirstToken func() time.Duration // after the reply has begun
	Token      func() time.Duration // each later one
}

// Tokens is what a model says on a stream. A word is a token.
type Tokens struct {
	*Stream
	Delays Delays
	Max    int // tokens that may be said; 0: any number

	Out     int  // tokens said so far
	Thought int  // how many of them were thought
	Full    bool // the next piece would have been more than Max

	begun, paced bool
}

// Begin waits for the first token, once, and says whether it did.
func (k *Tokens) Begin() (first bool, err error) {
	if k.begun {
		return false, nil
	}
	k.begun = true
	if !k.Wait(k.Delays.FirstToken) {
		err = errOver
	}
	return true, err
}

// Say has pieces sent one by one, each when its tokens are due, and counts them in the books. It stops
// before the one that would be more than Max.
func (k *Tokens) Say(pieces []string, send func(piece string) error) error {
	if _, err := k.Begin(); err != nil {
		return err
	}
	for _, piece := range pieces {
		tokens := max(1, len(Words(piece)))
		for range tokens {
			if k.paced && !k.Wait(k.Delays.Token) {
				return errOver
			}
			k.paced = true
		}
		if k.Full = k.Max > 0 && k.Out+tokens > k.Max; k.Full {
			return nil
		}
		k.Out += tokens
		if err := send(piece); err != nil {
			return err
		}
		k.server.Note(func(b *Books) { b.TokensOut += tokens })
	}
	return nil
}

// Think is Say for what the model thinks.
func (k *Tokens) Think(pieces []string, send func(piece string) error) error {
	before := k.Out
	err := k.Say(pieces, send)
	k.Thought += k.Out - before
	k.server.Note(func(b *Books) { b.Reasoning += k.Out - before })
	return err
}

// Finish counts a reply that came to its end as out tokens, unless out is 0: then what was said counts.
func (k *Tokens) Finish(out int) {
	k.server.Note(func(b *Books) { b.TokensOut += cmp.Or(out, k.Out) - k.Out })
}
