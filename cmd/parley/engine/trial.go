package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"parley/cmd/parley/config"
	"parley/inference"
	"parley/inference/remote"
	"parley/media"
)

// Trial asks an engine of a vendor once. The vendor charges for it.
type Trial struct {
	// Said is what an engine hears, at 16 kHz and the pace of speech; where nobody speaks in it, half a second of silence, after
	// which a recogniser is asked for the words, and an engine that speaks, too, for a reply.
	Said []int16
	Text string     // what a model is asked, and what a voice speaks
	Tap  remote.Tap // nil: nobody watches
}

// Try asks an engine, of stage asr, llm, tts or realtime, for as little as shows that it works.
func Try(ctx context.Context, stage string, e config.Engine) error {
	_, err := Trial{Text: "Say yes."}.Run(ctx, stage, e)
	return err
}

// Took is how long an engine took.
type Took struct {
	Connect time.Duration // to open its connection; 0: it opened none
	// First is the time from the question to the first of the answer, once it was connected: from the end of the audio to the
	// last words of a recogniser or to the first audio of an engine that answers it, from a request to the first text, from a
	// text to its first audio. 0: nothing came.
	First time.Duration
}

// errEnded is the fault of a stream that ends without a reason.
var errEnded = errors.New("it ended before it had answered")

// embedded is a maker of an engine that no vendor has.
func embedded[E any](config.Engine) (none E, err error) {
	return none, errors.New("it runs on this machine, where parley doctor tries it")
}

// Run makes an engine, asks it, and closes it.
func (t Trial) Run(ctx context.Context, stage string, e config.Engine) (Took, error) {
	for n := len(t.Said); n > 0 && max(t.Said[n-1], -t.Said[n-1]) < quiet; n-- { // it ends with the speech in it
		t.Said = t.Said[:n-1]
	}
	r := &trial{Trial: t, ctx: ctx}
	var err error
	switch stage {
	case "asr":
		err = try(r, e, recognisers(embedded[inference.ASR]), r.hear)
	case "llm":
		err = try(r, e, models, r.think)
	case "realtime":
		err = try(r, e, realtimes, r.talk)
	default:
		err = try(r, e, voices(embedded[inference.TTS], embedded[inference.TTS]), r.speak)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.took, err
}

func try[E any](r *trial, e config.Engine, all makers[E], use func(E) error) error {
	begin := all[e.Vendor]
	if begin == nil {
		return fmt.Errorf("there is no engine %q", e.Name)
	}
	made, err := begin(e)
	if err != nil {
		return err
	}
	defer closeEngine(made)
	if at, ok := any(made).(reaching); ok {
		at.Remote().Watch(r.watch)
	}
	return use(made)
}

// trial is one Run.
type trial struct {
	Trial
	ctx context.Context

	mu     sync.Mutex
	took   Took
	opened time.Time // the connection
}

// watch notes when the connection was opened.
func (r *trial) watch(p remote.Passage) {
	if p.What == remote.Opened {
		r.mu.Lock()
		r.took.Connect, r.opened = p.Took, time.Now()
		r.mu.Unlock()
	}
	if r.Tap != nil {
		r.Tap(p)
	}
}

// came notes that something of the answer came, to what was asked at a time. The first counts.
func (r *trial) came(asked, at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.opened.After(asked) {
		asked = r.opened
	}
	r.took.First = cmp.Or(r.took.First, max(at.Sub(asked), time.Nanosecond))
}

const (
	frame = 20 * time.Millisecond
	quiet = 300 // of samples: less is no speech
)

// frames gives write the audio at the pace of speech, and then silence, until next, which gets what comes meanwhile, says that
// nothing more is needed. over is called when the last of the audio has been given.
func frames[X any](r *trial, in <-chan X, write func([]int16), over func(), next func(X) (bool, error)) error {
	size := media.Rate16k.FrameSamples()
	said := r.Said
	if len(said) == 0 {
		said = make([]int16, 25*size)
	}
	tick := time.NewTicker(frame)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			samples := make([]int16, size)
			before := len(said)
			said = said[copy(samples, said):]
			write(samples)
			if before > 0 && len(said) == 0 {
				over()
			}
		case x, more := <-in:
			if !more {
				return errEnded
			}
			if done, err := next(x); done || err != nil {
				return err
			}
		case <-r.ctx.Done():
			return context.Cause(r.ctx)
		}
	}
}

// hear has a recogniser hear the audio. One that finds the ends of turns finds that of the audio, too.
func (r *trial) hear(asr inference.ASR) error {
	info := asr.Info()
	s, err := asr.Open(r.ctx, inference.ASRConfig{Language: info.Languages[0]})
	if err != nil {
		return err
	}
	defer s.Close()
	var over time.Time
	return frames(r, s.Results(), s.Write, func() {
		if over = time.Now(); len(r.Said) == 0 || !info.Caps.Turns {
			s.Finish()
		}
	}, func(x inference.Result) (bool, error) {
		done := (x.Last || x.Event == inference.EventTurnEnd) && !over.IsZero() && x.Err == nil
		if at := time.Now(); done {
			r.came(over, at)
		}
		return done, x.Err
	})
}

// think has a model answer.
func (r *trial) think(llm inference.LLM) error {
	var wait inference.Wait
	asked := time.Now()
	for d, err := range llm.Complete(wait.With(r.ctx), inference.Request{Messages: []inference.Message{{Role: inference.RoleUser, Text: r.Text}}, MaxTokens: 16}) {
		if err != nil {
			return err
		}
		if at := time.Now(); d.Text != "" {
			r.came(wait.Times(asked, at))
		}
	}
	return nil
}

// speak has a voice speak.
func (r *trial) speak(tts inference.TTS) error {
	var wait inference.Wait
	asked := time.Now()
	v := inference.VoiceConfig{Voice: tts.Voices()[0].ID, Language: tts.Info().Languages[0]}
	for c, err := range tts.Speak(wait.With(r.ctx), inference.Speech{Text: r.Text, VoiceConfig: v}) {
		if err != nil {
			return err
		}
		if at := time.Now(); len(c.Samples) > 0 {
			r.came(wait.Times(asked, at))
		}
	}
	return nil
}

// talk has an engine answer what it hears, or speak without that.
func (r *trial) talk(engine inference.Realtime) error {
	info := engine.Info()
	s, err := engine.Open(r.ctx, inference.RealtimeConfig{Prompt: "Answer in a word or two.", Voice: engine.Voices()[0].ID, Language: info.Languages[0]})
	if err != nil {
		return err
	}
	defer s.Close()
	var over time.Time
	return frames(r, s.Events(), s.Write, func() {
		switch over = time.Now(); {
		case len(r.Said) == 0:
			s.Reply("")
		case !info.Caps.Turns:
			s.Commit()
		}
	}, func(x inference.RealtimeEvent) (bool, error) {
		if at := time.Now(); x.Kind == inference.RealtimeAudio && x.Err == nil && !over.IsZero() {
			r.came(over, at)
		}
		return x.Kind == inference.RealtimeDone, x.Err
	})
}
