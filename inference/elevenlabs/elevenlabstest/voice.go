package elevenlabstest

import (
	"encoding/base64"
	"math"
	"time"

	"parley/inference/enginetest/loopbacktest"
	"parley/inference/enginetest/speakingtest"
)

// chunkCharacters is how much is spoken in one chunk; the last of a piece may be shorter. A
// whole number of characters makes a chunk end with its alignment, as the vendor's do.
const chunkCharacters = 2

// loudness is the peak of the tone in dBFS.
const loudness = -12

// voice makes the audio of one context. Positions are characters as they are spoken, from the
// beginning of the context.
type voice struct {
	query
	spoken    func(text string) string
	character float64 // seconds
	said      int     // characters
}

func newVoice(k *socket, r *request) voice {
	v := voice{query: k.query, spoken: k.server.script.Spoken, character: r.character()}
	if v.spoken == nil || v.verbatim {
		v.spoken = func(text string) string { return text }
	}
	return v
}

// chunk is some audio with its characters.
type chunk struct {
	speakingtest.Chunk
	from               int        // in ms, from the beginning of the context
	written, readAloud *alignment // nil: it has none
}

// alignment is when characters are spoken, in ms from the beginning of the context.
type alignment struct {
	chars             []string
	starts, durations []int
}

// samples is where a position is in the audio, ms when.
func (v *voice) samples(position int) int {
	return int(math.Round(float64(position) * v.character * float64(v.format.rate)))
}

func (v *voice) ms(position float64) int { return int(math.Round(position * v.character * 1000)) }

// chunks is the audio of a text.
func (v *voice) chunks(text string) (list []chunk) {
	written, readAloud := []rune(text), []rune(v.spoken(text))
	for i := 0; i < len(readAloud); i += chunkCharacters {
		until := min(i+chunkCharacters, len(readAloud))
		from := v.samples(v.said + i)
		k, n := chunk{from: v.ms(float64(v.said + i))}, v.samples(v.said+until)-from
		k.Audio = v.format.coding.Encode(loopbacktest.Tone(n, from, v.format.rate, loudness))
		k.Length = time.Duration(n) * time.Second / time.Duration(v.format.rate)
		last := until
		if !v.sync {
			last = len(readAloud) // the first chunk has the alignment of all
		}
		if v.sync || i == 0 {
			k.written, k.readAloud = v.align(written, len(readAloud), i, last), v.align(readAloud, len(readAloud), i, last)
		}
		list = append(list, k)
	}
	v.said += len(readAloud)
	return list
}

// align is when those of a text's characters are spoken that begin between two positions. A
// text that is read aloud as another is spread over it.
func (v *voice) align(text []rune, length, from, until int) *alignment {
	a := &alignment{chars: []string{}, starts: []int{}, durations: []int{}}
	for i, r := range text {
		start := float64(i) * float64(length) / float64(len(text))
		if start < float64(from) || start >= float64(until) {
			continue
		}
		end := float64(i+1) * float64(length) / float64(len(text))
		begins := v.ms(float64(v.said) + start)
		a.chars, a.starts = append(a.chars, string(r)), append(a.starts, begins)
		a.durations = append(a.durations, v.ms(float64(v.said)+end)-begins)
	}
	return a
}

// message is that of a chunk.
func (c *utterance) message(k chunk) map[string]any {
	s, from := c.socket.server.script, k.from
	if s.Absolute {
		from = 0
	}
	m := s.Spelling.message(c.id, false)
	m["audio"] = base64.StdEncoding.EncodeToString(k.Audio)
	m["alignment"], m["normalizedAlignment"] = s.Spelling.alignment(k.written, from), s.Spelling.alignment(k.readAloud, from)
	return m
}

// pick is a field in one of its spellings.
func pick(second bool, spellings [2]string) string {
	if second {
		return spellings[1]
	}
	return spellings[0]
}

// message is the frame of a message; id may be a nil *string.
func (s Spelling) message(id *string, final any) map[string]any {
	return map[string]any{pick(s.Context, [2]string{"contextId", "context_id"}): id, pick(s.Final, [2]string{"isFinal", "is_final"}): final}
}

// alignment spells one, its times counted from another moment in ms.
func (s Spelling) alignment(a *alignment, from int) any {
	if a == nil {
		return nil
	}
	starts := []int{}
	for _, at := range a.starts {
		starts = append(starts, at-from)
	}
	return map[string]any{"chars": a.chars, pick(s.Starts, [2]string{"charStartTimesMs", "charsStartTimesMs"}): starts,
		pick(s.Durations, [2]string{"charDurationsMs", "charsDurationsMs"}): a.durations}
}
