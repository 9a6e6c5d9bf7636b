package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"mime/multipart"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"parley/inference"
	"parley/media"
	"parley/media/wav"
)

// maxPrompt bounds the words sent to bias recognition, in code points. Whisper
// reads 224 tokens of it at most.
const maxPrompt = 600

// maxTranscript bounds an answer; an utterance is a few hundred bytes of text
// and some kilobytes of segments.
const maxTranscript = 1 << 20

// transcript is the answer in json or, with segments, verbose_json. Some servers say when
// words were said, of each segment or of all; they are not asked to, for that takes OpenAI's
// time in which the caller waits.
type transcript struct {
	Text     string `json:"text"`
	Segments []struct {
		Text         string      `json:"text"`
		AvgLogprob   float64     `json:"avg_logprob"`
		NoSpeechProb float64     `json:"no_speech_prob"`
		Words        []timedWord `json:"words"`
	} `json:"segments"`
	Words []timedWord `json:"words"`
}

// timedWord is a word with seconds from the beginning of the audio.
type timedWord struct {
	Word  string  `json:"word"`
	Start float64 `json:"start"`
	End   float64 `json:"end"`
}

// transcribe sends one piece of audio and returns what was said in it. The words' times are
// from the first sample of the piece.
func (s *stream) transcribe(ctx context.Context, audio []int16) (text string, words []inference.Mark, confidence float64, err error) {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	format := "json"
	if s.asr.verbose {
		format = "verbose_json"
	}
	for _, field := range [][2]string{
		{"model", s.asr.model}, {"language", s.language}, {"prompt", s.prompt}, {"response_format", format},
	} {
		if field[1] != "" {
			form.WriteField(field[0], field[1]) // a Buffer does not fail
		}
	}
	file, _ := form.CreateFormFile("file", "audio.wav")
	wav.Encode(file, wav.Clip{Rate: media.Rate16k, Samples: audio})
	form.Close()

	a, err := s.asr.Post(ctx, "/audio/transcriptions", form.FormDataContentType(), body.Bytes())
	if err != nil {
		return "", nil, -1, err
	}
	defer a.Close()
	answer, err := io.ReadAll(io.LimitReader(a, maxTranscript+1))
	if err != nil {
		return "", nil, -1, err
	}
	var t transcript
	if len(answer) > maxTranscript || json.Unmarshal(answer, &t) != nil {
		return "", nil, -1, a.Fault(inference.ErrFailed, errors.New("an answer that is not a transcript"))
	}
	text, words, confidence = t.words()
	return text, words, confidence, nil
}

// words is the text, when its words were said, if that is known, and its confidence.
// Segments that Whisper itself holds for silence are left out: what it writes there nobody
// said.
func (t transcript) words() (string, []inference.Mark, float64) {
	if len(t.Segments) == 0 {
		return strings.TrimSpace(t.Text), marks(t.Words), -1
	}
	var text strings.Builder
	sum, weight := 0.0, 0.0
	words := t.Words
	for _, g := range t.Segments {
		if g.NoSpeechProb > 0.6 && g.AvgLogprob < -1 {
			continue
		}
		n := float64(utf8.RuneCountInString(g.Text))
		sum, weight = sum+g.AvgLogprob*n, weight+n
		text.WriteString(g.Text)
		words = append(words, g.Words...)
	}
	if weight == 0 {
		return "", nil, -1
	}
	return strings.TrimSpace(text.String()), marks(words), min(1, math.Exp(sum/weight))
}

func marks(words []timedWord) []inference.Mark {
	var out []inference.Mark
	at := func(seconds float64) time.Duration {
		return time.Duration(min(math.MaxInt32, max(0, seconds)) * float64(time.Second)) // whatever the server says
	}
	for _, w := range words {
		if text := strings.TrimSpace(w.Word); text != "" {
			out = append(out, inference.Mark{Text: text, Start: at(w.Start), End: max(at(w.Start), at(w.End)), Char: -1})
		}
	}
	return out
}

// prompt is the beginning of the hints, in whole words: the terms, then the context.
func prompt(h inference.Hints) string {
	var b strings.Builder
	room := maxPrompt
	for _, phrase := range append(slices.Clone(h.Terms), h.Context) {
		for _, word := range strings.Fields(phrase) {
			if room -= utf8.RuneCountInString(word) + 1; room < 0 {
				return b.String()
			}
			if b.Len() > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(word)
		}
	}
	return b.String()
}
