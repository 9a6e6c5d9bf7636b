package stt

import (
	"context"
	"errors"
	"io"
	"math"
	"strings"

	"parley/api"
	"parley/api/wire"
	"parley/inference"
	"parley/media/transcode"
)

// recording recognises a whole clip. Utterances are recognised one by one as they
// are found, so memory does not grow with the clip, and the recogniser is never
// given more than it can keep.
type recording struct {
	s        *service
	ctx      context.Context
	language string
	rec      inference.Recognition // nil until there is something to recognise
	voice    []int16               // of the utterance in progress
	segments []wire.TranscriptionSegment
	err      error
}

// block is how much is read and written at a time, in samples: what a recogniser
// takes in one Write.
const block = int(rate)

// recognise returns the utterances of a 16 kHz clip. It takes as long as the
// recogniser does; ctx ends it.
func (s *service) recognise(ctx context.Context, clip transcode.Clip, language string) ([]wire.TranscriptionSegment, error) {
	r := &recording{s: s, ctx: ctx, language: language, segments: []wire.TranscriptionSegment{}}
	defer func() {
		if r.rec != nil {
			r.rec.Close()
		}
	}()
	length := clip.Samples()
	cut, err := newCutter(s.vad, func(p []int16) { r.voice = append(r.voice, p...) },
		func(from, to int64) { r.utterance(from, min(to, length)) })
	if err != nil {
		return nil, err
	}
	in, buf := clip.Open(), make([]int16, block)
	for r.err == nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		n, err := in.Read(buf)
		if errors.Is(err, io.EOF) {
			cut.end()
			break
		}
		if err != nil {
			return nil, err
		}
		cut.write(buf[:n])
	}
	return r.segments, r.err
}

// utterance recognises what was gathered.
func (r *recording) utterance(from, to int64) {
	if r.err == nil {
		var text string
		if text, r.err = r.hear(); text != "" {
			start, end := seconds(from), seconds(to)
			r.segments = append(r.segments, wire.TranscriptionSegment{Text: text, Start: start, End: end, Duration: round(end - start)})
		}
	}
	r.voice = r.voice[:0]
}

// hear gives the recogniser an utterance and waits for all of its text.
func (r *recording) hear() (text string, err error) {
	if r.rec == nil {
		if r.rec, err = r.s.open(r.ctx, r.language); err != nil {
			return "", err
		}
	}
	for voice := r.voice; len(voice) > 0; {
		n := min(block, len(voice))
		r.rec.Write(voice[:n])
		voice = voice[n:]
	}
	utterance := r.rec.Finish()
	for {
		select {
		case <-r.ctx.Done():
			return "", context.Cause(r.ctx)
		case x, ok := <-r.rec.Results():
			switch {
			case r.ctx.Err() != nil:
				return "", context.Cause(r.ctx)
			case !ok || x.Err != nil:
				return "", api.ErrRecognition
			case x.Final && x.Utterance == utterance:
				text = join(text, x.Text)
				if x.Last {
					return text, nil
				}
			}
		}
	}
}

// join puts two pieces of a text together.
func join(a, b string) string { return strings.TrimSpace(a + " " + strings.TrimSpace(b)) }

// seconds is the time of a sample, in milliseconds at best.
func seconds(samples int64) float64 { return round(float64(samples) / float64(rate)) }

func round(s float64) float64 { return math.Round(s*1000) / 1000 }
