package cartesiatest

import (
	"encoding/base64"
	"math"
	"time"
	"unicode"

	"parley/inference/enginetest/loopbacktest"
)

// chunkTime is the audio of one chunk; the last of a piece is shorter.
const chunkTime = 80 * time.Millisecond

// loudness is the peak of the tone in dBFS.
const loudness = -12

// voice makes the audio of one context. Positions count from the beginning of the context.
type voice struct {
	coding    loopbacktest.Coding
	rate      int
	character float64 // seconds
	said      int     // characters
	made      int     // samples
	sent      int     // chunks
	flushes   int
}

func newVoice(r *request) voice {
	speed := 1.0
	if r.Generation.Speed != nil {
		speed = *r.Generation.Speed
	}
	return voice{coding: encodings[r.Format.Encoding], rate: r.Format.Rate, character: CharacterTime.Seconds() / speed}
}

// chunk is some audio, and the words that begin in it.
type chunk struct {
	samples int
	audio   []byte
	words   []timed
}

// timed is a word and when it is said, in seconds.
type timed struct {
	text       string
	start, end float64
}

// chunks is the audio of a text.
func (v *voice) chunks(text string) (list []chunk) {
	words := v.words(text)
	v.said += len([]rune(text))
	end := int(math.Round(float64(v.said) * v.character * float64(v.rate)))
	size := int(chunkTime.Seconds() * float64(v.rate))
	for v.made < end {
		n := min(size, end-v.made)
		c := chunk{samples: n, audio: v.coding.Encode(loopbacktest.Tone(n, v.made, v.rate, loudness))}
		v.made += n
		for len(words) > 0 && (words[0].start < float64(v.made)/float64(v.rate) || v.made >= end) {
			c.words, words = append(c.words, words[0]), words[1:]
		}
		list = append(list, c)
	}
	return list
}

// words are those of a text with their times.
func (v *voice) words(text string) (list []timed) {
	all := []rune(text + " ")
	begun := -1
	for i, r := range all {
		switch {
		case !unicode.IsSpace(r) && begun < 0:
			begun = i
		case unicode.IsSpace(r) && begun >= 0:
			list = append(list, timed{string(all[begun:i]), v.seconds(v.said + begun), v.seconds(v.said + i)})
			begun = -1
		}
	}
	return list
}

func (v *voice) seconds(characters int) float64 {
	return math.Round(float64(characters)*v.character*1000) / 1000
}

// send sends a chunk and the times that belong to it.
func (c *utterance) send(k chunk) error {
	id := c.first.Context
	c.voice.sent++
	err := c.socket.wire.Write(map[string]any{"type": "chunk", "data": base64.StdEncoding.EncodeToString(k.audio), "done": false,
		"status_code": 206, "step_time": 1.5, "context_id": id, "flush_id": c.voice.flushes})
	if err != nil {
		return err
	}
	s, length := c.socket.server, time.Duration(k.samples)*time.Second/time.Duration(c.voice.rate)
	s.Note(func(b *Books) {
		b.AudioBytes += int64(len(k.audio))
		b.Audio += length
	})
	s.note(func() { c.record.Audio += length })
	if len(k.words) == 0 {
		return nil
	}
	if c.first.Timestamps.Words {
		err = c.times("timestamps", "word_timestamps", "words", k.words)
	}
	if err == nil && c.first.Timestamps.Phonemes {
		err = c.times("phoneme_timestamps", "phoneme_timestamps", "phonemes", letters(k.words))
	}
	return err
}

func (c *utterance) times(typ, field, list string, words []timed) error {
	var texts []string
	var starts, ends []float64
	for _, w := range words {
		texts, starts, ends = append(texts, w.text), append(starts, w.start), append(ends, w.end)
	}
	return c.socket.wire.Write(map[string]any{"type": typ, "done": false, "status_code": 206, "context_id": c.first.Context,
		field: map[string]any{list: texts, "start": starts, "end": ends}})
}

// letters take the place of phonemes.
func letters(words []timed) (list []timed) {
	for _, w := range words {
		all := []rune(w.text)
		each := (w.end - w.start) / float64(len(all))
		for i, r := range all {
			list = append(list, timed{string(unicode.ToLower(r)), w.start + float64(i)*each, w.start + float64(i+1)*each})
		}
	}
	return list
}
