package inktest

import (
	"time"

	"parley/inference/enginetest/hearingtest"
	"parley/inference/enginetest/loopbacktest"
)

// plain is the protocol whose client finds the turns.
type plain struct {
	*session
	from  time.Duration // until where finals go
	begun bool          // there was a final with words
}

func newPlain(c *session) protocol { return &plain{session: c} }

// control implements protocol.
func (p *plain) control(message string) bool {
	switch message {
	case "finalize":
		p.server.Note(func(b *Books) { b.Finishes++ })
		if p.flush() || !p.server.script.Traps.FlushUnanswered {
			p.send(loopbacktest.Outgoing{}, "flush_done", nil)
		}
	case "done", "close":
		p.flush()
		p.send(loopbacktest.Outgoing{}, "done", nil)
		p.finish()
	default:
		return false
	}
	return true
}

// flush makes all that was heard final, and says whether there was anything.
func (p *plain) flush() bool {
	p.words = append(p.words, p.Cut()...)
	if len(p.words) == 0 {
		return false
	}
	p.final(len(p.words), p.Now, p.AfterSound(p.server.script.Delays.Final))
	return true
}

// step implements protocol.
func (p *plain) step(got hearingtest.Heard) {
	p.words = append(p.words, got.Words...)
	old := p.Old(p.words, p.server.script.FinalAfter)
	due := p.AfterWord(p.server.script.Delays.Word)
	if old > 0 {
		p.final(old, p.words[old-1].End, due)
	}
	if len(got.Words) > 0 {
		p.send(loopbacktest.Outgoing{Due: due}, "transcript", p.transcript(p.words, p.Now, false))
	}
}

// final makes the first words final, and the audio until to.
func (p *plain) final(n int, to time.Duration, due time.Time) {
	words := p.words[:n:n]
	shown := hearingtest.Shown(words)
	p.send(loopbacktest.Outgoing{Due: due, Sent: func() { p.server.dialogue.Final(words) }}, "transcript", p.transcript(shown, to, true))
	p.words, p.from, p.begun = p.words[n:], to, p.begun || len(shown) > 0
}

// transcript is what was heard since the last final. Behind another one the text begins with a space.
func (p *plain) transcript(words []hearingtest.Word, to time.Duration, final bool) map[string]any {
	text := hearingtest.Text(words, false)
	if p.begun && text != "" {
		text = " " + text
	}
	list := []map[string]any{}
	for _, w := range words {
		list = append(list, map[string]any{"word": w.Text, "start": w.Start.Seconds(), "end": w.End.Seconds()})
	}
	return map[string]any{"is_final": final, "text": text, "duration": (to - p.from).Seconds(), "language": p.language, "words": list}
}
