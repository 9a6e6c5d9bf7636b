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

// send sends a chunk and the times that belong to it.
func (c *utterance) send(k speakingtest.Chunk) error {
	id := c.first.Context
	c.sent++
	err := c.socket.wire.Write(map[string]any{"type": "chunk", "data": base64.StdEncoding.EncodeToString(k.Audio), "done": false,
		"status_code": 206, "step_time": 1.5, "context_id": id, "flush_id": c.flushes})
	if err != nil {
		return err
	}
	s := c.socket.server
	s.log.Sent(s.Server, c.record, k)
	if len(k.Words) == 0 {
		return nil
	}
	if c.first.Timestamps.Words {
		err = c.times("timestamps", "word_timestamps", "words", k.Words)
	}
	if err == nil && c.first.Timestamps.Phonemes {
		err = c.times("phoneme_timestamps", "phoneme_timestamps", "phonemes", letters(k.Words))
	}
	return err
}

func (c *utterance) times(typ, field, list string, words []speakingtest.Word) error {
	texts, starts, ends := speakingtest.Times(words)
	return c.socket.wire.Write(map[string]any{"type": typ, "done": false, "status_code": 206, "context_id": c.first.Context,
		field: map[string]any{list: texts, "start": starts, "end": ends}})
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
