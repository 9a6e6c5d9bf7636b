package stt

import (
	"context"
	"time"

	"parley/api"
	"parley/billing"
	"parley/inference"
)

// hear takes audio that counts. The first of it opens the books and a recogniser.
func (v *voice) hear(samples []int16) error {
	if len(samples) == 0 {
		return nil
	}
	if v.rec == nil {
		if err := v.start(); err != nil {
			return err
		}
	}
	v.samples += int64(len(samples))
	ms := v.samples * 1000 / int64(rate)
	v.work.Used(ms - v.charged)
	v.charged = ms
	v.cut.write(samples)
	return nil
}

// start opens what a session needs.
func (v *voice) start() error {
	cut, err := newCutter(v.vad, func(p []int16) {
		v.speaking = true
		v.rec.Write(p) // less than a second
	}, func(int64, int64) {
		v.speaking = false
		v.owed++
		v.rec.Finish()
	})
	if err != nil {
		return err
	}
	if v.work, err = v.books.Begin(v.ctx, api.PrincipalOf(v.ctx), api.Job{Kind: billing.STT}); err != nil {
		v.work = nil
		return err
	}
	rec, err := v.open(inference.MeterOf(v.work.Context()).With(v.ctx), v.language) // the last words come when the work must stop
	if err != nil {
		return err
	}
	v.cut, v.rec = cut, rec
	return nil
}

// end ends the utterance in progress.
func (v *voice) end() {
	if v.cut != nil {
		v.cut.end()
	}
}

// recognised takes a result of the recogniser; ok is false when it has none any
// more.
func (v *voice) recognised(r inference.Result, ok bool) error {
	if v.ctx.Err() != nil {
		return context.Cause(v.ctx) // its stream has ended for that reason
	}
	if !ok || r.Err != nil {
		return api.ErrRecognition
	}
	if text, send := v.words.take(r); send {
		v.sock.SendJSON(spokenWords{"transcript", text, r.Last}) // a client that has gone is noticed soon
	}
	if r.Last {
		v.owed--
	}
	return nil
}

// finish ends the session for the reason why, after the last words.
func (v *voice) finish(why error) error {
	v.end()
	late := time.NewTimer(lastWords)
	defer late.Stop()
	for v.owed > 0 {
		select {
		case r, ok := <-v.rec.Results():
			if err := v.recognised(r, ok); err != nil {
				return why
			}
		case <-late.C:
			return why
		case <-v.ctx.Done():
			return why
		}
	}
	return why
}

// spokenWords is what the client receives of an utterance.
type spokenWords struct {
	Type  string `json:"type"`
	Data  string `json:"data"`
	Final bool   `json:"isFinal"`
}

// words puts an utterance's results together.
type words struct {
	utterance int
	said      string // what is certain
	shown     string // what was sent to the client last
}

// take returns what to send to the client of a result, if anything: each partial
// replaces the one before, and there is one final for each utterance in which
// something was said. A final takes back a partial that was a mistake.
func (w *words) take(r inference.Result) (text string, send bool) {
	if r.Utterance != w.utterance {
		*w = words{utterance: r.Utterance}
	}
	text = r.Text
	if r.Final {
		w.said = join(w.said, r.Text)
		text = w.said
	}
	if r.Last {
		send = text != "" || w.shown != ""
		w.said, w.shown = "", ""
		return text, send
	}
	send = text != "" && text != w.shown
	w.shown = text
	return text, send
}
