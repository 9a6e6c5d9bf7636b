// Package scribe writes down what a supervisor says in a call: their voice is cut at its pauses and recognised, beside the call.
package scribe

import (
	"context"
	"fmt"
	"strings"
	"time"

	"parley/inference"
	"parley/media"
	"parley/pipeline/listen"
)

// Scribe writes down what supervisors say.
type Scribe struct {
	ASR inference.ASR
	// FrontEnd makes the denoiser and detector for a voice that comes at a rate.
	FrontEnd func(media.Rate) (listen.FrontEnd, error)
}

// Speaker is who is written down.
type Speaker interface {
	Heard() <-chan []int16 // frames of 20 ms
	Gone() <-chan struct{} // closed when nothing more comes
}

// Write writes down what is said at a rate, in a language, until nothing more comes and the last words are recognised, the recogniser's
// stream ends, or ctx does. It hands on each utterance. An error: nothing is written down.
func (s *Scribe) Write(ctx context.Context, from Speaker, rate media.Rate, language string, hints inference.Hints, line func(text string)) error {
	front, err := s.FrontEnd(rate)
	if err != nil {
		return fmt.Errorf("scribe: %w", err)
	}
	info := s.ASR.Info()
	feed := info.Takes(rate)
	stream, err := s.ASR.Open(ctx, inference.ASRConfig{Language: language, Hints: hints, Format: feed})
	if err != nil {
		return fmt.Errorf("scribe: %w", err)
	}
	defer stream.Close()
	w := writing{rate: rate}
	w.person.Begin(front, media.Format{In: rate}, feed.SampleRate())
	w.person.Attach(stream, info, 0)
	w.run(ctx, from, stream.Results(), line)
	return nil
}

const (
	// An utterance begins with so much speech and ends with so much silence.
	start = 60 * media.Millisecond
	stop  = 700 * media.Millisecond
	// patience is how long the last words may take after the speaker has gone.
	patience = 5 * time.Second
)

// writing is what is being written down.
type writing struct {
	rate      media.Rate
	person    listen.Caller
	utterance int // the latest
	open      bool
	speech    media.Time // without a pause
	silence   media.Time // since the latest speech
	owed      int        // utterances whose last result is to come
	text      string     // of the utterance in progress
}

// run writes until the last words are recognised.
func (w *writing) run(ctx context.Context, from Speaker, results <-chan inference.Result, line func(string)) {
	var late <-chan time.Time
	gone := from.Gone()
	for gone != nil || w.owed > 0 {
		select {
		case f := <-from.Heard():
			w.hear(f)
		case r, going := <-results:
			if !going {
				return
			}
			w.recognised(r, line)
		case <-gone:
			gone, late = nil, time.After(patience)
			for len(from.Heard()) > 0 {
				w.hear(<-from.Heard())
			}
			w.close()
		case <-late:
			return
		case <-ctx.Done():
			return
		}
	}
}

// hear takes a frame.
func (w *writing) hear(samples []int16) {
	if h := w.person.Hear(media.Frame{Samples: samples, Rate: w.rate}); h.Speech {
		w.speech, w.silence = w.speech+media.FrameTime, 0
	} else if w.silence += media.FrameTime; !w.open {
		w.speech = 0
	}
	switch {
	case !w.open && w.speech >= start:
		w.open = true
		w.utterance++
		w.owed++
		w.person.OpenUtterance(w.utterance, start)
	case w.open && w.silence >= stop:
		w.close()
	}
}

// close ends the utterance in progress, if there is one.
func (w *writing) close() {
	if w.open {
		w.person.CloseUtterance(w.utterance, w.silence, time.Now())
		w.open, w.speech = false, 0
	}
}

// recognised takes a result.
func (w *writing) recognised(r inference.Result, line func(string)) {
	if r.Event != inference.EventText || !r.Final {
		return
	}
	w.text = strings.TrimSpace(w.text + " " + r.Text)
	if r.Last {
		w.owed = max(0, w.owed-1)
		if w.text != "" {
			line(w.text)
		}
		w.text = ""
	}
}
