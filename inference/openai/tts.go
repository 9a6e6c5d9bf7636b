package openai

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"parley/inference"
	"parley/inference/remote"
	"parley/media"
)

// TTS is a speech server. Of OpenAI's own models it is asked for events, which alone say what is charged; those that do not
// know them answer with audio. Other models are asked for audio.
type TTS struct{ *client }

// ownVoices are OpenAI's, as near to ours in character as they come.
var ownVoices = map[string]string{
	"F1": "alloy", "F2": "coral", "F3": "nova", "F4": "sage", "F5": "shimmer",
	"M1": "onyx", "M2": "echo", "M3": "ash", "M4": "fable", "M5": "verse",
}

// NewTTS checks c and contacts nobody. The default model is gpt-4o-mini-tts; the
// older ones have no verse, so M5 needs another name there. The dialect cannot
// name a language: the server takes it from the text.
func NewTTS(c remote.Engine) (*TTS, error) {
	cl, err := newClient("gpt-4o-mini-tts", c)
	if err != nil {
		return nil, err
	}
	return &TTS{cl}, nil
}

// Info implements inference.TTS.
func (t *TTS) Info() inference.Info {
	return inference.Info{Name: t.Engine(), Description: "speech, model " + t.model, Languages: inference.Spoken(), NormalisesText: true}
}

// Voices implements inference.TTS.
func (t *TTS) Voices() (list []inference.Voice) {
	for _, id := range slices.Sorted(maps.Keys(ownVoices)) {
		v := inference.Voice{ID: id, Gender: "female", Description: ownVoices[id]}
		if strings.HasPrefix(id, "M") {
			v.Gender = "male"
		}
		list = append(list, v)
	}
	return list
}

// speechRequest is the body of POST /audio/speech.
type speechRequest struct {
	Model  string  `json:"model"`
	Voice  string  `json:"voice"`
	Input  string  `json:"input"`
	Format string  `json:"response_format"`
	Speed  float64 `json:"speed,omitempty"`
	// Of OpenAI's models but for the oldest.
	Instructions string `json:"instructions,omitempty"`
	Stream       string `json:"stream_format,omitempty"`
}

// request is the body for a text that voice, a name of OpenAI's, speaks.
func (t *TTS) request(s inference.Speech, voice string) speechRequest {
	r := speechRequest{Model: t.model, Voice: voice, Input: s.Text, Format: "pcm", Speed: s.Speed}
	if strings.HasPrefix(t.model, "gpt-") {
		r.Instructions, r.Stream = s.Instructions, "sse"
	}
	return r
}

// Speak implements inference.TTS. Words and phonemes are not marked.
func (t *TTS) Speak(ctx context.Context, s inference.Speech) iter.Seq2[inference.Chunk, error] {
	return func(yield func(inference.Chunk, error) bool) {
		voice := ownVoices[s.Voice]
		switch {
		case voice == "":
			yield(inference.Chunk{}, t.Fault(inference.ErrVoice, nil))
			return
		case !slices.Contains(inference.Spoken(), s.Language):
			yield(inference.Chunk{}, t.Fault(inference.ErrLanguage, nil))
			return
		case ctx.Err() != nil:
			yield(inference.Chunk{}, context.Cause(ctx))
			return
		case strings.TrimSpace(s.Text) == "":
			return
		}
		body, err := json.Marshal(t.request(s, voice))
		if err != nil { // a speed that is no number
			yield(inference.Chunk{}, t.Fault(inference.ErrRefused, errors.New("the request cannot be made")))
			return
		}
		a, err := t.Post(ctx, "/audio/speech", "application/json", body)
		if err != nil {
			yield(inference.Chunk{}, err)
			return
		}
		defer a.Close()
		usage := inference.Usage{Characters: utf8.RuneCountInString(s.Text), Requests: 1, Source: inference.UsageCounted}
		defer func() { inference.Spent(ctx, inference.StageTTS, t.Engine(), usage) }()
		if err := (speech{a, &usage}).audio(yield); err != nil && err != remote.ErrLeft {
			yield(inference.Chunk{}, err)
		}
	}
}

// Bounds of the audio of one text. 5,000 characters at half speed take some 15
// minutes; a read of 8 kB is about 170 ms.
const (
	maxSpeech = 20 * 60 // seconds
	readSize  = 8 << 10 // bytes
)

// audio yields the body's samples as they come, an odd byte carried over. The first come with the usage as it is counted,
// and the server's own count follows the last.
func (a speech) audio(yield func(inference.Chunk, error) bool) error {
	rate, body, err := a.samples()
	if err != nil {
		return err
	}
	buffer := make([]byte, readSize)
	kept, total := 0, 0
	usage := *a.usage
	for {
		n, err := body.Read(buffer[kept:])
		n += kept
		whole := n &^ 1
		if a.Context().Err() != nil {
			return context.Cause(a.Context())
		}
		if whole > 0 {
			c := inference.Chunk{Samples: media.AppendSamples(make([]int16, 0, whole/2), buffer[:whole]), Rate: rate}
			if total == 0 {
				c.Usage = &usage
			}
			if !yield(c, nil) {
				return remote.ErrLeft
			}
		}
		kept = copy(buffer, buffer[whole:n])
		total += whole / 2
		switch {
		case err == io.EOF && total == 0:
			return a.Fault(inference.ErrFailed, errors.New("no audio"))
		case err == io.EOF && a.usage.Source == inference.UsageProvider && !yield(inference.Chunk{Rate: rate, Usage: a.usage}, nil):
			return remote.ErrLeft
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case total > maxSpeech*int(rate):
			return a.Fault(inference.ErrFailed, errors.New("more than 20 minutes of audio"))
		}
	}
}
