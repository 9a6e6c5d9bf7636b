package deepgramtest

import (
	"time"

	"parley/inference/enginetest/loopbacktest"
)

// loudness is the level in dBFS above which a frame is speech.
const loudness = -40

// hearer turns the audio of one connection into words.
type hearer struct {
	server *Server
	query

	rest     []byte
	samples  int64         // heard
	now      time.Duration // the same as time
	lastLoud time.Duration
	loudAt   time.Time // by the clock, when the last loud frame came
	cur      *speech   // nil between utterances
	quiet    time.Duration
	next     place // in the script
}

// heard is what one frame brought.
type heard struct {
	onset bool // an utterance began
	loud  bool
	words []word // that ended
}

// hear takes a message of audio and calls each with every frame of 20 ms.
func (h *hearer) hear(audio []byte, each func(heard)) {
	samples := len(audio) / h.coding.Width()
	h.server.Note(func(b *Books) {
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

func (h *hearer) frame(audio []byte) (got heard) {
	pcm := h.coding.Decode(audio)
	before := h.now
	h.samples += int64(len(pcm))
	h.now = time.Duration(h.samples) * time.Second / time.Duration(h.rate)
	got.loud = loopbacktest.Level(pcm) > loudness
	if got.loud {
		h.lastLoud, h.loudAt = h.now, time.Now()
	}
	if h.cur == nil && !got.loud {
		h.quiet += h.now - before
		return got
	}
	if h.cur == nil {
		got.onset = true
		h.cur = h.begin()
	}
	got.words = h.cur.advance(h.now-before, got.loud, h.now)
	h.quiet = h.cur.quiet
	if h.cur.ended() && h.quiet >= overAfter {
		h.cur = nil
	}
	return got
}

// begin starts the next utterance of the script; after the last, ones without words.
func (h *hearer) begin() *speech {
	u := &Utterance{}
	if h.next.utterance < len(h.server.script.Utterances) {
		u = &h.server.script.Utterances[h.next.utterance]
	}
	s := begin(h.next.utterance, h.next.words, u)
	h.next = place{utterance: h.next.utterance + 1}
	return s
}

// cut is what more is heard when the client asks for the last words.
func (h *hearer) cut() (words []word) {
	if h.cur == nil {
		return nil
	}
	words = h.cur.cut(h.now, h.now-h.lastLoud)
	if h.cur.ended() && h.now-h.lastLoud >= overAfter {
		h.cur = nil
	}
	return words
}

// settled is until when what was heard does not change: the beginning of a word that is
// being said, or else now.
func (h *hearer) settled() time.Duration {
	if s := h.cur; s != nil && s.next < len(s.words) && s.words[s.next].start < s.at {
		return h.now - (s.at - s.words[s.next].start)
	}
	return h.now
}

// due is when a final is sent, by the clock, dueEager when an eager end is, and afterWord when
// a word is.
func (h *hearer) due() time.Time      { return h.afterSound(h.server.script.Delays.Final) }
func (h *hearer) dueEager() time.Time { return h.afterSound(h.server.script.Delays.Eager) }

func (h *hearer) afterSound(delay func() time.Duration) time.Time {
	return h.loudAt.Add(loopbacktest.Draw(delay))
}

func (h *hearer) afterWord() time.Time {
	return time.Now().Add(loopbacktest.Draw(h.server.script.Delays.Word))
}

// seconds is how the protocol writes a time.
func seconds(d time.Duration) float64 { return float64(d.Milliseconds()) / 1000 }
