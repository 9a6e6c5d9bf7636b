package pipeline

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"parley/inference"
	"parley/inference/spoken"
	"parley/pipeline/agent"
	"parley/pipeline/turn"
)

// lineCache holds the audio of the agent's own lines, made at the start of the
// call so that they begin at once and work when engines fail. It is bounded by
// the number of lines.
type lineCache struct {
	greets chan struct{}
	made   func() // closes greets, once

	mu     sync.Mutex
	chunks map[string][]inference.Chunk // by sentence
	first  []string                     // keys of the first message
	said   bool                         // which was said
}

func newLineCache() *lineCache {
	greets := make(chan struct{})
	return &lineCache{chunks: map[string][]inference.Chunk{}, greets: greets, made: sync.OnceFunc(func() { close(greets) })}
}

func (l *lineCache) get(text string) []inference.Chunk {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.chunks[text]
}

func (l *lineCache) put(line turn.Line, text string, chunks []inference.Chunk) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if line == turn.Greeting {
		if l.said {
			return
		}
		l.first = append(l.first, text)
	}
	l.chunks[text] = chunks
}

// greeted drops the first message, which is often long and never said again.
func (l *lineCache) greeted() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.said = true
	for _, text := range l.first {
		delete(l.chunks, text)
	}
	l.first = nil
}

// Rehearsed is closed when the first message has its audio, or cannot have it: a
// telephone call is answered then.
func (c *Call) Rehearsed() <-chan struct{} { return c.lines.greets }

// rehearse makes the audio of the agent's own lines, the first message first.
func (c *Call) rehearse() {
	a := c.cfg.Agent
	for _, l := range []turn.Line{turn.Greeting, turn.Goodbye, turn.Sorry, turn.Reprompt, turn.Trouble} {
		for _, p := range pieces(a.Line(l), a.Language) {
			if !c.rehearseOne(&a, l, p) {
				break
			}
		}
		if l == turn.Greeting {
			c.lines.made()
		}
	}
	c.rehearseFillers(&a)
}

func (c *Call) rehearseOne(a *agent.Agent, line turn.Line, text string) bool {
	if c.life.Err() != nil {
		return false
	}
	var chunks []inference.Chunk
	form := a.Form(text)
	for chunk, err := range c.utter(c.life, a, form) {
		if err != nil || c.life.Err() != nil || !chunk.Rate.Valid() {
			return false // it will be tried, and reported, when it is needed
		}
		chunks = append(chunks, chunk)
	}
	c.lines.put(line, lineKey(a, form), chunks)
	return true
}

// lineKey is all that the audio of a line depends on.
func lineKey(a *agent.Agent, f *spoken.Form) string {
	return fmt.Sprintf("%s\x00%s\x00%g\x00%s\x00%s", a.Voice, a.Language, a.Speed, f.Shown, f.Spoken)
}

// voice speaks a text, from the lines made ahead when it is one of them.
func (c *Call) voice(ctx context.Context, a *agent.Agent, form *spoken.Form) iter.Seq2[inference.Chunk, error] {
	if chunks := c.lines.get(lineKey(a, form)); chunks != nil {
		return func(yield func(inference.Chunk, error) bool) {
			for _, chunk := range chunks {
				if !yield(chunk, nil) {
					return
				}
			}
		}
	}
	return c.utter(ctx, a, form)
}
