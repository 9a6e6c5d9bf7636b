package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"mime/multipart"
	"strings"
	"time"
	"unicode/utf8"

	"parley/inference"
	"parley/inference/remote"
	"parley/media"
	"parley/media/wav"
)

// maxGlossary bounds the terms that are sent, in code points. Whisper reads 224 tokens at most.
const maxGlossary = 600

// maxTranscript bounds an answer; an utterance is a few hundred bytes of text
// and some kilobytes of segments.
const maxTranscript = 1 << 20

// Formats of an answer.
const (
	formatVerbose = "verbose_json" // with segments
	formatPlain   = "json"
)

// transcript is the answer in json or, with segments, verbose_json. Some servers say when
// words were said, of each segment or of all; they are not asked to, for that takes OpenAI's
// time in which the caller waits.
type transcript struct {
	Text     string      `json:"text"`
	Language string      `json:"language"` // as in english or en, with segments
	Segments []segment   `json:"segments"`
	Words    []timedWord `json:"words"`
}

// segment is a part of the audio.
type segment struct {
	Text         string      `json:"text"`
	AvgLogprob   *float64    `json:"avg_logprob"` // nil: the server does not say
	NoSpeechProb float64     `json:"no_speech_prob"`
	Words        []timedWord `json:"words"`
}

// A segment holds no speech when Whisper gives that such a probability and its words no better one than this: either
// alone is not enough (A. Radford et al., "Robust Speech Recognition via Large-Scale Weak Supervision", 2022, section 4.5).
const (
	noSpeechProb = 0.6
	avgLogprob   = -1.0
)

// silent says that nobody said what is in the segment.
func (g *segment) silent() bool {
	return g.NoSpeechProb > noSpeechProb && g.AvgLogprob != nil && *g.AvgLogprob < avgLogprob
}

// timedWord is a word with seconds from the beginning of the audio.
type timedWord struct {
	Word  string  `json:"word"`
	Start float64 `json:"start"`
	End   float64 `json:"end"`
}

// transcribe sends one piece of audio and notes in r what was said in it. The words' times are
// from the first sample of the piece.
func (s *stream) transcribe(ctx context.Context, audio []int16, r *inference.Result) error {
	a, err := s.ask(ctx, audio)
	if err != nil {
		return err
	}
	defer a.Close()
	answer, err := io.ReadAll(io.LimitReader(a, maxTranscript+1))
	if err != nil {
		return err
	}
	var t transcript
	if len(answer) > maxTranscript || json.Unmarshal(answer, &t) != nil {
		return a.Fault(inference.ErrFailed, errors.New("an answer that is not a transcript"))
	}
	t.heard(r)
	return nil
}

// ask asks for a transcript. What a server refuses may be the format alone, and is asked for in the other one, once.
func (s *stream) ask(ctx context.Context, audio []int16) (*remote.Answer, error) {
	if !s.asr.plain.Load() {
		a, err := s.post(ctx, audio, formatVerbose)
		if inference.FaultOf(err) != inference.ErrRefused {
			return a, err
		}
	}
	a, err := s.post(ctx, audio, formatPlain)
	if err == nil {
		s.asr.plain.Store(true)
	}
	return a, err
}

func (s *stream) post(ctx context.Context, audio []int16, format string) (*remote.Answer, error) {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for _, field := range [][2]string{
		{"model", s.asr.model}, {"language", s.language}, {"prompt", s.glossary}, {"response_format", format},
	} {
		if field[1] != "" {
			form.WriteField(field[0], field[1]) // a Buffer does not fail
		}
	}
	file, _ := form.CreateFormFile("file", "audio.wav")
	wav.Encode(file, wav.Clip{Rate: media.Rate16k, Samples: audio})
	form.Close()
	a, err := s.asr.Post(ctx, "/audio/transcriptions", form.FormDataContentType(), body.Bytes())
	if err == nil {
		inference.Spent(ctx, inference.StageASR, s.asr.Engine(), inference.Usage{Audio: media.Rate16k.Duration(len(audio)).Duration(), Requests: 1, Source: inference.UsageCounted})
	}
	return a, err
}

// heard notes what was said, in which language, when its words were, if that is known, and the confidence.
func (t *transcript) heard(r *inference.Result) {
	if len(t.Segments) == 0 {
		r.Text, r.Words = strings.TrimSpace(t.Text), marks(t.Words)
		return
	}
	var texts []string
	words := t.Words
	sum, weight := 0.0, 0.0
	for i := range t.Segments {
		g := &t.Segments[i]
		text := strings.TrimSpace(g.Text)
		if text == "" || g.silent() {
			continue
		}
		texts, words = append(texts, text), append(words, g.Words...)
		if g.AvgLogprob != nil {
			n := float64(utf8.RuneCountInString(text))
			sum, weight = sum+*g.AvgLogprob*n, weight+n
		}
	}
	if r.Text = strings.Join(texts, " "); r.Text != "" {
		r.Words, r.Language = marks(words), inference.LanguageOf(t.Language)
	}
	if weight > 0 {
		r.Confidence = min(1, math.Exp(sum/weight))
	}
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

// glossary is the first of the terms: servers take the spelling of names from it, and repeat in noise what reads like speech.
func glossary(terms []string) string {
	var list []string
	room := maxGlossary
	for _, term := range terms {
		if term = strings.Join(strings.Fields(term), " "); term == "" {
			continue
		}
		if room -= utf8.RuneCountInString(term) + len(", "); room < 0 {
			break
		}
		list = append(list, term)
	}
	return strings.Join(list, ", ")
}
