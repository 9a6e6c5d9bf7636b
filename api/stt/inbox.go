package stt

import (
	"encoding/json"
	"sync"
	"time"
)

const (
	// maxWaiting is how much audio waits for the conductor, in samples, while it
	// opens a recogniser or a slow client takes its messages. Beyond it the newest
	// is dropped and not charged.
	maxWaiting = 15 * int(rate)
	// maxCommands bounds the other messages that wait. They are never dropped: a
	// client that sends more is disconnected.
	maxCommands = 64
)

// command is what a client asks for besides sending audio.
type command uint8

const (
	cmdAudio command = iota // there is audio
	cmdStart                // the configuration
	cmdEnd
	cmdBad     // a message that cannot be read
	cmdTooFast // audio was dropped
	cmdTooMany // commands were
)

// message is one entry of an inbox.
type message struct {
	command  command
	audio    []int16
	language string
}

// inbox is what a client has sent, in order, on its way from the reader of the
// socket to the conductor. Neither waits for the other longer than for a copy.
type inbox struct {
	wake chan struct{} // capacity 1: there is something

	mu       sync.Mutex
	in       intake
	messages []message
	waiting  int   // samples in them
	commands int   // messages without audio among them
	dropped  int64 // samples for which there was no room
	told     bool  // the client is being warned that audio was dropped
}

func newInbox() *inbox { return &inbox{wake: make(chan struct{}, 1)} }

// binary takes a binary message.
func (b *inbox) binary(p []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var m *message
	if n := len(b.messages); n > 0 && b.messages[n-1].command == cmdAudio {
		m = &b.messages[n-1]
	} else {
		b.messages = append(b.messages, message{})
		m = &b.messages[n]
	}
	had, lost := len(m.audio), b.in.dropped
	m.audio = b.in.take(m.audio, p, time.Now())
	b.waiting += len(m.audio) - had
	if over := b.waiting - maxWaiting; over > 0 {
		m.audio = m.audio[:len(m.audio)-over]
		b.waiting -= over
		b.dropped += int64(over)
	}
	if b.in.dropped > lost && !b.told {
		b.told = true
		b.putLocked(message{command: cmdTooFast})
	}
	b.signal()
}

// text takes a text message.
func (b *inbox) text(p []byte) {
	var in struct {
		Type     string  `json:"type"`
		Language *string `json:"language"`
	}
	m := message{}
	switch err := json.Unmarshal(p, &in); {
	case err != nil:
		m.command = cmdBad
	case in.Type == "end":
		m.command = cmdEnd
	case in.Type == "" || in.Language != nil:
		m.command = cmdStart
		if in.Language != nil {
			m.language = *in.Language
		}
	default:
		return // a message of newer clients
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if m.command == cmdEnd {
		b.in.restart()
	}
	b.putLocked(m)
	b.signal()
}

// putLocked adds a command, or, instead of one too many, that there were too many.
func (b *inbox) putLocked(m message) {
	switch {
	case b.commands > maxCommands:
		return
	case b.commands == maxCommands:
		m = message{command: cmdTooMany}
	}
	b.commands++
	b.messages = append(b.messages, m)
}

// signal wakes the conductor.
func (b *inbox) signal() {
	select {
	case b.wake <- struct{}{}:
	default: // it has not come to the last signal yet
	}
}

// take empties the inbox; the caller owns what was in it.
func (b *inbox) take() []message {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := b.messages
	b.messages, b.waiting, b.commands = nil, 0, 0
	return m
}

// lost is how many samples were dropped.
func (b *inbox) lost() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.dropped + b.in.dropped
}

// A microphone gives one second of audio a second. Half as much again makes up for
// clocks that differ and for what a network has held up; a client that sends more,
// with two microphones or from a file, would use up the server.
const (
	intakeRate  = int64(rate) * 3 / 2 // samples a second
	intakeBurst = int64(rate) * 10    // samples at once: what a network that stalled may bring
)

// intake makes samples of the bytes of a live stream, in messages of any length,
// and takes no more of them than a microphone gives.
type intake struct {
	odd     byte // the first half of a sample
	half    bool // there is one
	credit  int64
	last    time.Time // when credit was right; zero before the first audio
	dropped int64     // samples that were not taken
}

// take appends the samples of p that are taken at the time now to dst.
func (t *intake) take(dst []int16, p []byte, now time.Time) []int16 {
	t.refill(now)
	if t.half && len(p) > 0 {
		dst = t.sample(dst, t.odd, p[0])
		p, t.half = p[1:], false
	}
	for ; len(p) >= 2; p = p[2:] {
		dst = t.sample(dst, p[0], p[1])
	}
	if len(p) == 1 {
		t.odd, t.half = p[0], true
	}
	return dst
}

func (t *intake) sample(dst []int16, low, high byte) []int16 {
	if t.credit == 0 {
		t.dropped++
		return dst
	}
	t.credit--
	return append(dst, int16(uint16(low)|uint16(high)<<8))
}

// refill adds what time has earned, in whole samples: it does not matter how often
// it is called.
func (t *intake) refill(now time.Time) {
	passed := now.Sub(t.last)
	full := time.Duration(intakeBurst) * time.Second / time.Duration(intakeRate)
	if t.last.IsZero() || passed >= full {
		t.credit, t.last = intakeBurst, now
		return
	}
	earned := int64(passed) * intakeRate / int64(time.Second)
	t.credit = min(intakeBurst, t.credit+earned)
	t.last = t.last.Add(time.Duration(earned * int64(time.Second) / intakeRate))
}

// restart says that the next byte begins a sample.
func (t *intake) restart() { t.half = false }
