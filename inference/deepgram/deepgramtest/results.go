package deepgramtest

import (
	"cmp"
	"strings"
	"time"
	"unicode"
)

// confidence is what Nova believes of everything it hears.
const confidence = .98

// results makes a message of words from the last final until to.
func (n *nova) results(words []word, to time.Duration, final bool, mark string) any {
	list := []map[string]any{}
	for _, w := range words {
		one := map[string]any{"word": plain(w.text), "start": seconds(w.start), "end": seconds(w.end), "confidence": confidence}
		if n.nova.formatted {
			one["punctuated_word"] = w.text
		}
		list = append(list, one)
	}
	best := map[string]any{"transcript": n.transcript(words), "confidence": confidence, "words": list}
	if len(words) == 0 {
		best["confidence"] = 0
	}
	return map[string]any{
		"type": "Results", "channel_index": []int{0, 1}, "start": seconds(n.from), "duration": seconds(to - n.from),
		"is_final": final, "speech_final": mark == "speech_final", "from_finalize": mark == "from_finalize",
		"channel":  map[string]any{"alternatives": []any{best}},
		"metadata": map[string]any{"request_id": n.id},
	}
}

// transcript is the text of words, with punctuation if the client wants it.
func (n *nova) transcript(words []word) string {
	var texts []string
	for _, w := range words {
		if n.nova.formatted {
			texts = append(texts, w.text)
		} else {
			texts = append(texts, plain(w.text))
		}
	}
	return strings.Join(texts, " ")
}

// plain is a word without capitals and punctuation.
func plain(text string) string {
	return cmp.Or(strings.ToLower(strings.TrimFunc(text, unicode.IsPunct)), text)
}
