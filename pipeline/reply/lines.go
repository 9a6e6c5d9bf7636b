package reply

import (
	"context"
	"fmt"
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

// Rehearsed is closed when the line with which the call begins has its audio, or cannot have it.
func (m *Maker) Rehearsed() <-chan struct{} { return m.lines.greets }

// Rehearse begins to make the audio of an agent's own lines, that with which the call begins first, and of
// so many fillers, until ctx ends. Of an agent that has come to speak another language it leaves out the first.
func (m *Maker) Rehearse(ctx context.Context, a agent.Agent, first turn.Line, fillers int) {
	m.spawn("pipeline/reply/rehearsal", func() { m.rehearse(ctx, &a, first, fillers) }, m.lines.made)
}

func (m *Maker) rehearse(ctx context.Context, a *agent.Agent, first turn.Line, fillers int) {
	lines := []turn.Line{first, turn.Goodbye, turn.Sorry, turn.Reprompt, turn.Trouble}
	select {
	case <-m.lines.greets:
		lines = lines[1:]
	default:
	}
	for _, l := range lines {
		m.rehearseLine(ctx, a, l, a.Line(l))
		if l == first {
			m.lines.made()
		}
	}
	for n := 0; n < fillers && m.rehearseLine(ctx, a, turn.NoLine, a.Filler(n)); n++ {
	}
}

// rehearseLine makes the audio of a line. Where that fails it is tried, and reported, when
// the line is needed.
func (m *Maker) rehearseLine(ctx context.Context, a *agent.Agent, line turn.Line, text string) bool {
	for _, p := range Pieces(text, a.Language) {
		form := a.Form(p)
		key := lineKey(a, form)
		if ctx.Err() != nil {
			return false
		}
		if m.lines.get(key) != nil {
			continue
		}
		chunks := m.shared.get(m.tts, key)
		if chunks == nil {
			for chunk, err := range m.Utter(ctx, a, form) {
				if err != nil || ctx.Err() != nil || !chunk.Rate.Valid() {
					return false
				}
				chunks = append(chunks, chunk)
			}
			m.shared.put(m.tts, key, chunks)
		}
		m.lines.put(line, key, chunks)
	}
	return true
}

// Line is the audio of one of an agent's own lines, without its marks; none when it was not
// made ahead.
func (m *Maker) Line(a *agent.Agent, text string) (made []inference.Chunk) {
	for _, p := range Pieces(text, a.Language) {
		for _, chunk := range m.lines.get(lineKey(a, a.Form(p))) {
			made = append(made, inference.Chunk{Samples: chunk.Samples, Rate: chunk.Rate})
		}
	}
	return made
}

// Keep makes chunks the audio of a piece of one of an agent's own lines.
func (m *Maker) Keep(a *agent.Agent, piece string, chunks []inference.Chunk) {
	m.lines.put(turn.NoLine, lineKey(a, a.Form(piece)), chunks)
}

// lineKey is all that the audio of a line depends on.
func lineKey(a *agent.Agent, f *spoken.Form) string {
	return fmt.Sprintf("%s\x00%s\x00%g\x00%s\x00%s", a.Voice, a.Language, a.Speed, f.Shown, f.Spoken)
}
