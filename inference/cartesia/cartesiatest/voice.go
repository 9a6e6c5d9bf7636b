package cartesiatest

import (
	"encoding/base64"
	"unicode"

	"parley/inference/enginetest/speakingtest"
)

func newVoice(r *request) speakingtest.Voice {
	v := speakingtest.Voice{Coding: encodings[r.Format.Encoding], Rate: r.Format.Rate}
	if r.Generation.Speed != nil {
		v.Speed = *r.Generation.Speed
	}
	return v
}

// chunk is the message of a chunk.
func (c *utterance) chunk(k speakingtest.Chunk) map[string]any {
	return map[string]any{"type": "chunk", "data": base64.StdEncoding.EncodeToString(k.Audio), "done": false,
		"status_code": 206, "step_time": 1.5, "context_id": c.ID, "flush_id": c.flushes}
}

// times are the messages with the times that belong to a chunk.
func (c *utterance) times(k speakingtest.Chunk) (list []any) {
	add := func(kind, field, name string, words []speakingtest.Word) {
		texts, starts, ends := speakingtest.Times(words)
		list = append(list, map[string]any{"type": kind, "done": false, "status_code": 206, "context_id": c.ID,
			field: map[string]any{name: texts, "start": starts, "end": ends}})
	}
	if c.first.Timestamps.Words && len(k.Words) > 0 {
		add("timestamps", "word_timestamps", "words", k.Words)
	}
	if c.first.Timestamps.Phonemes && len(k.Words) > 0 {
		add("phoneme_timestamps", "phoneme_timestamps", "phonemes", letters(k.Words))
	}
	return list
}

// letters take the place of phonemes.
func letters(words []speakingtest.Word) (list []speakingtest.Word) {
	for _, w := range words {
		all := []rune(w.Text)
		each := (w.End - w.Start) / float64(len(all))
		for i, r := range all {
			list = append(list, speakingtest.Word{Text: string(unicode.ToLower(r)), Start: w.Start + float64(i)*each, End: w.Start + float64(i+1)*each})
		}
	}
	return list
}
