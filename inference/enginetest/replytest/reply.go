// Package replytest is what fakes of engines that hear and speak by themselves have to say.
//
// They speak as package speakingtest does, at the pace of a script: faster than real time, or all at
// once.
package replytest

import (
	"cmp"
	"context"
	"sync"
	"time"
	"unicode/utf8"

	"parley/inference/enginetest/loopbacktest"
	"parley/inference/enginetest/speakingtest"
)

// Reply is what a model answers.
type Reply struct {
	Text   string        // spoken, its words one space apart; "": nothing
	Length time.Duration // of its audio at normal speed; 0: 60 ms for each character
	Calls  []Call        // of functions, after the text
	// End is how it ends where it does not end well, as the engine spells that.
	End string
}

// Call is the call of a function. Arguments is a JSON object.
type Call struct{ Name, Arguments string }

// Nth is the n-th of replies, counted from 0, or the last of them. Without any it is a short answer.
func Nth(list []Reply, n int) Reply {
	if len(list) == 0 {
		return Reply{Text: "Yes, I can help."}
	}
	return list[min(n, len(list)-1)]
}

// Pace is when a reply is sent, by the clock. Nil: at once.
type Pace struct {
	First func() time.Duration // from what is answered to the first piece, or call
	Piece func() time.Duration // to each later piece, of 80 ms of audio
}

// Piece is some audio of a reply, and the words that begin in it, a space before all but the first.
type Piece struct {
	Text   string
	Audio  []byte
	Length time.Duration
}

// Pieces cuts a reply, spoken at a speed, into pieces. The caller owns them.
func (r Reply) Pieces(c loopbacktest.Coding, rate int, speed float64) (list []Piece) {
	if r.Text == "" {
		return nil
	}
	normal := time.Duration(utf8.RuneCountInString(r.Text)) * speakingtest.CharacterTime
	voice := speakingtest.Voice{Coding: c, Rate: rate, Speed: speed * normal.Seconds() / cmp.Or(r.Length, normal).Seconds()}
	space := ""
	for _, k := range voice.Chunks(r.Text) {
		p := Piece{Audio: k.Audio, Length: k.Length}
		for _, w := range k.Words {
			p.Text += space + w.Text
			space = " "
		}
		list = append(list, p)
	}
	return list
}

// Tokens is how many tokens a text is: a quarter of its characters, rounded up.
func Tokens(text string) int { return (utf8.RuneCountInString(text) + 3) / 4 }

// Step is one thing that a fake does, some time after the one before. Nil waits for nothing.
type Step struct {
	After func() time.Duration
	Do    func()
}

// Run does steps in turn, each under the lock, until ctx or the server ends. What ends ctx under the lock
// is sure that no step follows.
func Run(ctx context.Context, s *loopbacktest.Server, lock sync.Locker, steps []Step) {
	for _, step := range steps {
		if !s.Wait(ctx, loopbacktest.Draw(step.After)) {
			return
		}
		lock.Lock()
		if ctx.Err() == nil {
			step.Do()
		}
		lock.Unlock()
	}
}
