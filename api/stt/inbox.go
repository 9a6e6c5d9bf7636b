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
	told     bool  // the client is being told that audio was dropped
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
