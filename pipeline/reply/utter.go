package reply

import (
	"context"
	"iter"
	"strings"
	"unicode/utf8"

	"parley/inference"
	"parley/inference/spoken"
	"parley/pipeline/agent"
	"parley/pipeline/playout"
)

// A sentence has two texts: what is shown, in transcripts, captions and the history, and
// what the voice is given. Only this file knows the second; marks of the voice's are
// turned into places of the first as they come.

// Utter speaks a text by itself. The marks are those of the text as it is shown.
func (m *Maker) Utter(ctx context.Context, a *agent.Agent, f *spoken.Form) iter.Seq2[inference.Chunk, error] {
	return func(yield func(inference.Chunk, error) bool) {
		if !audible(f) {
			return
		}
		way := newWayBack(f)
		for chunk, err := range m.tts.Speak(ctx, inference.Speech{Text: f.Spoken, VoiceConfig: voiceOf(a)}) {
			way.show(&chunk)
			if !yield(chunk, err) {
				return
			}
		}
	}
}

// Sentences speaks a text that an agent says, to its end.
func (m *Maker) Sentences(ctx context.Context, a *agent.Agent, text string) (list []*playout.Sentence, err error) {
	for i, p := range Pieces(text, a.Language) {
		s := &playout.Sentence{Seg: i, Text: p, Complete: true}
		for chunk, err := range m.Utter(ctx, a, a.Form(p)) {
			if err != nil {
				return nil, err
			}
			if chunk.Rate.Valid() {
				s.Append(chunk)
			}
		}
		list = append(list, s)
	}
	return list, nil
}

// voiceOf is how an agent speaks.
func voiceOf(a *agent.Agent) inference.VoiceConfig {
	return inference.VoiceConfig{Voice: a.Voice, Language: a.Language, Speed: a.Speed}
}

// audible says that there is something to speak; of a picture of a digit there is not.
func audible(f *spoken.Form) bool { return strings.ContainsFunc(f.Spoken, speakable) }

// wayBack leads from marks in what is spoken to what is shown.
type wayBack struct {
	form  *spoken.Form
	shown []rune
	at    int // bytes of the spoken form before the next word
	chars int // the same in code points
}

func newWayBack(f *spoken.Form) wayBack { return wayBack{form: f, shown: []rune(f.Shown)} }

// show makes the marks of a chunk those of the shown text.
func (w *wayBack) show(c *inference.Chunk) {
	if w.form.Spoken == w.form.Shown {
		return
	}
	for i := range c.Words {
		w.word(&c.Words[i])
	}
	for i := range c.Phones {
		if phone := &c.Phones[i]; phone.Char >= 0 {
			phone.Char = min(w.form.ShownAt(phone.Char), max(0, len(w.shown)-1))
		}
	}
}

// word makes a mark one of the shown text. What several spoken words stand for has been
// said with the last of them; the text of the others is empty.
func (w *wayBack) word(m *inference.Mark) {
	from := m.Char
	if from < 0 {
		before, _, found := strings.Cut(w.form.Spoken[w.at:], m.Text)
		if !found || m.Text == "" {
			return
		}
		from = w.chars + utf8.RuneCountInString(before)
		w.at += len(before) + len(m.Text)
		w.chars = from + utf8.RuneCountInString(m.Text)
	}
	a, b := w.form.ShownAt(from), w.form.ShownAt(from+utf8.RuneCountInString(m.Text))
	m.Char, m.Text = a, string(w.shown[a:max(a, b)])
}
