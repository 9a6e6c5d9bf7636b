package realtime

import (
	"strings"
	"time"
	"unicode"

	"parley/inference"
)

// maxReply bounds the audio of a reply: the voice takes it no faster than it is played.
const maxReply = 10 * time.Minute

// reply is one of the engine's, as it comes. Its call's lock guards it.
type reply struct {
	item    string // the engine's name for it; empty: it has not begun
	use     use    // who has taken it
	spoken  bool   // an utterance delivers its audio
	text    string // so far
	letters []rune // of that, in lower case
	deltas  []inference.Delta
	audio   []inference.Chunk
	length  time.Duration  // of the audio that has come
	over    bool           // nothing more comes
	calls   bool           // it has called functions
	err     error          // why, where that is a fault
	heard   *time.Duration // how much of it the caller has heard, where it was cut
}

// use is what a reply is for.
type use uint8

// What replies are for.
const (
	untaken use = iota // a turn that nobody has asked about yet
	answer             // a request
	line               // something that somebody else has written
)

// add takes an event of the reply and says whether it is complete.
func (p *reply) add(e inference.RealtimeEvent) (complete bool) {
	if p.over {
		return false
	}
	switch e.Kind {
	case inference.RealtimeText:
		p.text += e.Text
		p.letters = append(p.letters, lettersOf(e.Text)...)
		p.deltas = append(p.deltas, inference.Delta{Text: e.Text})
	case inference.RealtimeTool:
		p.calls = true
		p.deltas = append(p.deltas, inference.Delta{ToolCall: e.ToolCall})
	case inference.RealtimeAudio:
		if p.length >= maxReply {
			p.fail(inference.ErrUtteranceFull)
			break
		}
		p.audio = append(p.audio, e.Chunk)
		p.length += e.Chunk.Length()
	case inference.RealtimeDone:
		p.over = true
		p.deltas = append(p.deltas, inference.Delta{Finish: e.Finish, Usage: e.Usage})
	}
	return p.over
}

// fail ends a reply that is not complete.
func (p *reply) fail(err error) {
	if !p.over {
		p.over, p.err = true, err
	}
}

// message is the reply in a history, as far as the caller has heard it.
func (p *reply) message() inference.Message {
	m := inference.Message{Role: inference.RoleAgent, Text: p.text, Interrupted: p.heard != nil}
	if p.heard != nil {
		heard := string([]rune(p.text)[:int(float64(len([]rune(p.text)))*p.heard.Seconds()/max(p.length, time.Millisecond).Seconds())])
		m.Text = heard[:max(0, strings.LastIndexByte(heard, ' '))] // whole words
	}
	return m
}

// says reports whether text stands in the reply after so many of its letters. Texts are compared by their letters: the
// conductor cuts them, and may have cleaned them.
func (p *reply) says(text []rune, from int) bool {
	return from+len(text) <= len(p.letters) && string(p.letters[from:from+len(text)]) == string(text)
}

// lettersOf are the letters and digits of a text, in lower case.
func lettersOf(text string) (letters []rune) {
	for _, r := range text {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			letters = append(letters, unicode.ToLower(r))
		}
	}
	return letters
}

// pace is how fast an engine speaks, in letters per second. Engines do not say when they say which word, so the place
// of a sentence in the audio of a reply is estimated from the replies before it.
type pace float64

// startPace is that of an English speaker with 150 words a minute.
const startPace pace = 12

// learn takes a complete reply.
func (v *pace) learn(p *reply) {
	if s := p.length.Seconds(); p.err == nil && s >= 0.5 && len(p.letters) > 0 {
		*v = pace(float64(len(p.letters)) / s)
	}
}

// letter is which letter is said so far into a reply.
func (v pace) letter(at time.Duration) int { return int(float64(v) * at.Seconds()) }
