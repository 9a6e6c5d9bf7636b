package pipeline

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"parley/inference"
	"parley/inference/spoken"
	"parley/pipeline/turn"
)

// The agent's own lines, in the nine languages: what it says without the model.
var ownLines = map[string]map[turn.Line]string{
	"en": {turn.Sorry: "Sorry, could you say that again?", turn.Reprompt: "Are you still there?", turn.Goodbye: "I have to end the call now. Goodbye.", turn.Trouble: "Sorry, something went wrong. Could you say that again?"},
	"es": {turn.Sorry: "Perdone, ¿puede repetirlo?", turn.Reprompt: "¿Sigue ahí?", turn.Goodbye: "Tengo que terminar la llamada. Adiós.", turn.Trouble: "Perdone, algo ha fallado. ¿Puede repetirlo?"},
	"ca": {turn.Sorry: "Perdoni, ho pot repetir?", turn.Reprompt: "Encara hi és?", turn.Goodbye: "He d'acabar la trucada. Adéu.", turn.Trouble: "Perdoni, alguna cosa ha fallat. Ho pot repetir?"},
	"gl": {turn.Sorry: "Perdoe, pode repetilo?", turn.Reprompt: "Segue aí?", turn.Goodbye: "Teño que rematar a chamada. Adeus.", turn.Trouble: "Perdoe, algo fallou. Pode repetilo?"},
	"eu": {turn.Sorry: "Barkatu, errepikatuko duzu?", turn.Reprompt: "Hor zaude oraindik?", turn.Goodbye: "Deia amaitu behar dut. Agur.", turn.Trouble: "Barkatu, zerbaitek huts egin du. Errepikatuko duzu?"},
	"pt": {turn.Sorry: "Desculpe, pode repetir?", turn.Reprompt: "Ainda está aí?", turn.Goodbye: "Tenho de terminar a chamada. Adeus.", turn.Trouble: "Desculpe, algo correu mal. Pode repetir?"},
	"fr": {turn.Sorry: "Pardon, pouvez-vous répéter ?", turn.Reprompt: "Vous êtes toujours là ?", turn.Goodbye: "Je dois terminer l'appel. Au revoir.", turn.Trouble: "Pardon, un problème est survenu. Pouvez-vous répéter ?"},
	"it": {turn.Sorry: "Scusi, può ripetere?", turn.Reprompt: "È ancora lì?", turn.Goodbye: "Devo chiudere la chiamata. Arrivederci.", turn.Trouble: "Scusi, qualcosa non ha funzionato. Può ripetere?"},
	"de": {turn.Sorry: "Entschuldigung, könnten Sie das wiederholen?", turn.Reprompt: "Sind Sie noch da?", turn.Goodbye: "Ich muss das Gespräch jetzt beenden. Auf Wiederhören.", turn.Trouble: "Entschuldigung, etwas ist schiefgegangen. Könnten Sie das wiederholen?"},
}

// lineText is what the agent says for a line; empty when it has nothing to say.
func (a *Agent) lineText(l turn.Line) string {
	switch {
	case l == turn.Greeting:
		return a.FirstMessage
	case l == turn.Goodbye && a.Goodbye != "":
		return a.Goodbye
	}
	if lines, ok := ownLines[a.Language]; ok {
		return lines[l]
	}
	return ownLines["en"][l]
}

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
	agent := c.cfg.Agent
	for _, l := range []turn.Line{turn.Greeting, turn.Goodbye, turn.Sorry, turn.Reprompt, turn.Trouble} {
		for _, p := range pieces(agent.lineText(l), agent.Language) {
			if !c.rehearseOne(&agent, l, p) {
				break
			}
		}
		if l == turn.Greeting {
			c.lines.made()
		}
	}
	c.rehearseFillers(&agent)
}

func (c *Call) rehearseOne(agent *Agent, line turn.Line, text string) bool {
	if c.life.Err() != nil {
		return false
	}
	var chunks []inference.Chunk
	form := agent.form(text)
	for chunk, err := range c.utter(c.life, agent, form) {
		if err != nil || c.life.Err() != nil || !chunk.Rate.Valid() {
			return false // it will be tried, and reported, when it is needed
		}
		chunks = append(chunks, chunk)
	}
	c.lines.put(line, lineKey(agent, form), chunks)
	return true
}

// lineKey is all that the audio of a line depends on.
func lineKey(a *Agent, f *spoken.Form) string {
	return fmt.Sprintf("%s\x00%s\x00%g\x00%s\x00%s", a.Voice, a.Language, a.Speed, f.Shown, f.Spoken)
}

// voice speaks a text, from the lines made ahead when it is one of them.
func (c *Call) voice(ctx context.Context, a *Agent, form *spoken.Form) iter.Seq2[inference.Chunk, error] {
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
