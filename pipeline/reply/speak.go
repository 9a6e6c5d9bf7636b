package reply

import (
	"context"
	"errors"
	"time"

	"parley/inference"
	"parley/inference/spoken"
)

// errRate is the fault of a voice whose audio cannot be played.
var errRate = errors.New("a sample rate that no call has")

// speakAll gives each piece a voice, at most SentencesAhead before it is played. What a
// voice has left unsaid is spoken again where the conductor says so.
func (m *Maker) speakAll(ctx context.Context, o *Order, ahead chan<- struct{}, in <-chan piece) {
	seg := 0
	var failed error
	for p := range in {
		wait := &inference.Wait{} // a voice that broke was waited for, too
		for p.text != "" && failed == nil {
			select {
			case ahead <- struct{}{}:
			case <-ctx.Done():
				return
			}
			p.text, failed = m.speakPiece(wait.With(ctx), o, seg, p, wait)
			seg++
		}
		if failed != nil || ctx.Err() != nil {
			break
		}
	}
	m.crew.Post(ctx, Part{Kind: Finished, Gen: o.Gen, Err: failed})
}

// speakPiece speaks a piece as sentence seg. When its voice breaks, or is stopped for its
// silence, the conductor knows what is left of it to be spoken again.
func (m *Maker) speakPiece(ctx context.Context, o *Order, seg int, p piece, wait *inference.Wait) (left string, failed error) {
	attempt, stop := context.WithCancelCause(ctx)
	defer stop(ErrConcluded)
	form := o.Agent.Form(p.text)
	if !m.crew.Post(ctx, Part{Kind: Sentence, Gen: o.Gen, Seg: seg, Text: p.text, Form: form, Sent: p.sent, At: p.at, Whole: p.whole, Stop: stop}) {
		return "", nil
	}
	err := m.speakOne(attempt, o, seg, form, wait)
	if ctx.Err() != nil || err == nil && attempt.Err() == nil {
		return "", nil
	}
	if attempt.Err() != nil {
		err = &inference.Error{Engine: m.tts.Info().Name, Fault: inference.ErrFailed, Err: context.Cause(attempt)}
	}
	again := make(chan string, 1)
	if !m.crew.Post(ctx, Part{Kind: Broken, Gen: o.Gen, Seg: seg, Err: err, Again: again}) {
		return "", nil
	}
	select {
	case left, retry := <-again:
		if !retry {
			return "", err
		}
		return left, nil
	case <-ctx.Done():
		return "", nil
	}
}

func (m *Maker) speakOne(ctx context.Context, o *Order, seg int, form *spoken.Form, wait *inference.Wait) error {
	asked := time.Now()
	for chunk, err := range m.voice(ctx, &o.Agent, form) {
		if err != nil {
			return err
		}
		if len(chunk.Samples) > 0 && !chunk.Rate.Valid() {
			return &inference.Error{Engine: m.tts.Info().Name, Fault: inference.ErrFailed, Err: errRate}
		}
		sent, got := wait.Times(asked, time.Now())
		if !m.crew.Post(ctx, Part{Kind: Audio, Gen: o.Gen, Seg: seg, Chunk: chunk, Sent: sent, At: got}) {
			return nil
		}
	}
	m.crew.Post(ctx, Part{Kind: Spoken, Gen: o.Gen, Seg: seg})
	return nil
}
