// Package speakingtest is the voice of fakes of remote voices, as package hearingtest is the ear of
// fakes of recognisers.
//
// It is a tone of 60 ms for each character, at the speed asked for, so the length of its audio and
// the times of its words can be computed.
package speakingtest

import (
	"cmp"
	"math"
	"time"
	"unicode"
	"unicode/utf8"

	"parley/inference/enginetest/loopbacktest"
)

const (
	// CharacterTime is the audio of one character at normal speed.
	CharacterTime = 60 * time.Millisecond

	chunkTime = 80 * time.Millisecond // of one chunk; the last of a text is shorter
	loudness  = -12                   // the peak of the tone in dBFS
)

// Voice makes the audio of texts that follow each other. It belongs to one goroutine.
type Voice struct {
	Coding loopbacktest.Coding
	Rate   int     // Hz
	Speed  float64 // 0: 1

	end  float64 // of the texts so far, in seconds of audio
	made int     // samples
}

// Chunk is some audio, and the words that begin in it.
type Chunk struct {
	Audio  []byte
	Length time.Duration
	Words  []Word
}

// Word is a word and when it is said, in seconds from the beginning of the first text.
type Word struct {
	Text       string
	Start, End float64
}

// Chunks is the audio of the next text.
func (v *Voice) Chunks(text string) (list []Chunk) {
	character := CharacterTime.Seconds() / cmp.Or(v.Speed, 1)
	words := words(text, v.end, character)
	v.end += float64(utf8.RuneCountInString(text)) * character
	until := int(math.Round(v.end * float64(v.Rate)))
	size := int(chunkTime.Seconds() * float64(v.Rate))
	for v.made < until {
		n := min(size, until-v.made)
		c := Chunk{Length: time.Duration(n) * time.Second / time.Duration(v.Rate),
			Audio: v.Coding.Encode(loopbacktest.Tone(n, v.made, v.Rate, loudness))}
		v.made += n
		for len(words) > 0 && (words[0].Start < float64(v.made)/float64(v.Rate) || v.made >= until) {
			c.Words, words = append(c.Words, words[0]), words[1:]
		}
		list = append(list, c)
	}
	return list
}

// words are those of a text that begins at a time.
func words(text string, from, character float64) (list []Word) {
	at := func(i int) float64 { return math.Round((from+float64(i)*character)*1000) / 1000 }
	all := []rune(text + " ")
	begun := -1
	for i, r := range all {
		switch {
		case !unicode.IsSpace(r) && begun < 0:
			begun = i
		case unicode.IsSpace(r) && begun >= 0:
			list = append(list, Word{string(all[begun:i]), at(begun), at(i)})
			begun = -1
		}
	}
	return list
}

// Times are words, when they begin and when they end, in lists of the same length.
func Times(words []Word) (texts []string, starts, ends []float64) {
	for _, w := range words {
		texts, starts, ends = append(texts, w.Text), append(starts, w.Start), append(ends, w.End)
	}
	return texts, starts, ends
}
