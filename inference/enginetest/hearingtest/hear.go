// Package hearingtest is the ear of fakes of remote recognisers.
//
// It does not understand speech. It hears frames of 20 ms as loud or quiet, and gives the
// n-th utterance that it hears the n-th text of its dialogue, word by word, spread over the
// utterance's length. All times are time of audio, counted from the first byte of a
// connection, so a test may send audio as fast as its protocol lets it.
package hearingtest

import (
	"encoding/json"
	"strings"
	"sync"
	"time"

	"parley/inference/enginetest/loopbacktest"
)

// loudness is the level in dBFS above which a frame is speech.
const loudness = -40

// Frame is the length of the pieces that are heard as loud or quiet.
const Frame = 20 * time.Millisecond

// Delays are drawn for each message, by the clock, in addition to the time of audio. Nil: none.
type Delays struct {
	Word  func() time.Duration // a word in what is not final, after its end
	Final func() time.Duration // what is final because speech is over, after the last sound
}

// Dialogue is what all connections of one server hear. Safe for concurrent use.
type Dialogue struct {
	utterances []Utterance
	goesOn     bool

	mu    sync.Mutex
	place place // of the last word of which a final was sent
}

// place is a position in the dialogue.
type place struct{ utterance, words int }

// NewDialogue makes a dialogue that begins anew with each connection, or goes on in a new one
// with the first word of which no final was sent, for one client that reconnects.
func NewDialogue(utterances []Utterance, goesOn bool) *Dialogue {
	return &Dialogue{utterances: utterances, goesOn: goesOn}
}

// resume is where a new connection begins.
func (d *Dialogue) resume() place {
	if !d.goesOn {
		return place{}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.place
	if p.utterance < len(d.utterances) && p.words > 0 && p.words >= len(strings.Fields(d.utterances[p.utterance].Text)) {
		return place{utterance: p.utterance + 1}
	}
	return p
}

// Final notes that a final with these words was sent.
func (d *Dialogue) Final(words []Word) {
	if len(words) == 0 {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	last := words[len(words)-1]
	d.place = place{last.utterance, last.index + 1}
}

// Hearer turns the audio of one connection into words. It belongs to one goroutine.
type Hearer struct {
	Now      time.Duration // heard so far
	LastLoud time.Duration // the end of the last loud frame
	Quiet    time.Duration // since the utterance ended, or since the pause that it is in began

	server   *loopbacktest.Server
	dialogue *Dialogue
	coding   loopbacktest.Coding
	rate     int

	rest    []byte
	samples int64     // the same as Now
	loudAt  time.Time // by the clock, when the last loud frame came
	cur     *speech   // nil between utterances
	next    place     // in the dialogue
}

// Listen begins to hear a connection, whose audio s counts in its books.
func (d *Dialogue) Listen(s loopbacktest.Fake, c loopbacktest.Coding, rate int) *Hearer {
	return &Hearer{server: s.Loopback(), dialogue: d, coding: c, rate: rate, next: d.resume()}
}

// Heard is what one frame brought.
type Heard struct {
	Onset bool // an utterance began
	Loud  bool
	Words []Word // that ended
}

// Whole says whether a binary message is whole samples. A text message in one is a mistake: it is heard as audio.
func (h *Hearer) Whole(data []byte) bool {
	if len(data) > 0 && data[0] == '{' && json.Valid(data) {
		h.server.Violate("a text message came in a binary one: it is heard as audio")
	}
	return len(data)%h.coding.Width() == 0
}

// Old is how many of some words become final while speech goes on: they ended so long ago, and another was heard since.
func (h *Hearer) Old(words []Word, after time.Duration) (n int) {
	for n < len(words)-1 && h.Now-words[n].End >= after {
		n++
	}
	return n
}

// Hear takes a message of audio and calls each with every whole frame.
func (h *Hearer) Hear(audio []byte, each func(Heard)) {
	samples := len(audio) / h.coding.Width()
	h.server.Note(func(b *loopbacktest.Books) {
		b.AudioBytes += int64(len(audio))
		b.Audio += time.Duration(samples) * time.Second / time.Duration(h.rate)
	})
	h.rest = append(h.rest, audio...)
	size := h.rate / 50 * h.coding.Width()
	for len(h.rest) >= size {
		each(h.frame(h.rest[:size]))
		h.rest = h.rest[size:]
	}
}

func (h *Hearer) frame(audio []byte) (got Heard) {
	pcm := h.coding.Decode(audio)
	before := h.Now
	h.samples += int64(len(pcm))
	h.Now = time.Duration(h.samples) * time.Second / time.Duration(h.rate)
	got.Loud = loopbacktest.Level(pcm) > loudness
	if got.Loud {
		h.LastLoud, h.loudAt = h.Now, time.Now()
	}
	if h.cur == nil && !got.Loud {
		h.Quiet += h.Now - before
		return got
	}
	if h.cur == nil {
		got.Onset = true
		h.cur = h.begin()
	}
	got.Words = h.cur.advance(h.Now-before, got.Loud, h.Now)
	h.Quiet = h.cur.quiet
	if h.cur.ended() && h.Quiet >= OverAfter {
		h.cur = nil
	}
	return got
}

// begin starts the next utterance of the dialogue; after the last, ones without words.
func (h *Hearer) begin() *speech {
	u := &Utterance{}
	if h.next.utterance < len(h.dialogue.utterances) {
		u = &h.dialogue.utterances[h.next.utterance]
	}
	s := begin(h.next.utterance, h.next.words, u)
	h.next = place{utterance: h.next.utterance + 1}
	return s
}

// Cut is what more is heard when the client asks for the last words.
func (h *Hearer) Cut() (words []Word) {
	if h.cur == nil {
		return nil
	}
	words = h.cur.cut(h.Now, h.Now-h.LastLoud)
	if h.cur.ended() && h.Now-h.LastLoud >= OverAfter {
		h.cur = nil
	}
	return words
}

// Over says that no utterance is in progress, or that all of it was said.
func (h *Hearer) Over() bool { return h.cur == nil || h.cur.ended() }

// Settled is until when what was heard does not change: the beginning of a word that is
// being said, or else now.
func (h *Hearer) Settled() time.Duration {
	if s := h.cur; s != nil && s.next < len(s.words) && s.words[s.next].Start < s.at {
		return h.Now - (s.at - s.words[s.next].Start)
	}
	return h.Now
}

// AfterSound is when a message is sent, by the clock, that waits so long after the last sound.
// Nil waits for nothing.
func (h *Hearer) AfterSound(delay func() time.Duration) time.Time {
	return h.loudAt.Add(loopbacktest.Draw(delay))
}

// AfterWord is when a message is sent, by the clock, that waits so long after a word that was
// just heard. Nil waits for nothing.
func (h *Hearer) AfterWord(delay func() time.Duration) time.Time {
	return time.Now().Add(loopbacktest.Draw(delay))
}
