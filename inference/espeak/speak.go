package espeak

import (
	"context"
	"encoding/json"
	"errors"

	"parley/inference"
	"parley/inference/worker"
)

// maxAttempts is how many workers are asked for a segment that nobody has heard
// anything of: both may have died just now, unnoticed, so there is a third.
const maxAttempts = defaultProcesses + 1

// errStopped: the receiver wants no more.
var errStopped = errors.New("stopped")

// speaker says one Speech, segment by segment.
type speaker struct {
	pool    *worker.Pool
	voice   voice
	lang    language
	rate    int
	text    []rune
	samples int // passed on so far
	char    int // of the latest phoneme: they never go back
	spoken  int // the words before this index have been marked
}

// speak says one segment. It returns errStopped when the receiver had enough.
func (sp *speaker) speak(ctx context.Context, seg [2]int, pass func(inference.Chunk) bool) error {
	spelled := sp.lang.spell(sp.text[seg[0]:seg[1]])
	request, err := json.Marshal(worker.Synthesis{
		Voice: sp.lang.native + "+" + sp.voice.variant,
		Rate:  sp.rate, Pitch: sp.voice.pitch, Range: sp.voice.spread, Text: string(spelled.text),
	})
	if err != nil {
		return worker.Fault(Name, err)
	}
	before := sp.samples
	for attempt := 1; ; attempt++ {
		err := sp.attempt(ctx, request, &marker{speaker: sp, spelled: spelled, from: seg[0], word: seg[0]}, pass)
		switch {
		case err == nil, err == errStopped:
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, worker.ErrLost) && sp.samples == before && attempt < maxAttempts:
			continue // nobody has heard anything of it: another worker says it
		}
		return worker.Fault(Name, err)
	}
}

// attempt asks one worker and returns when that worker is free again.
func (sp *speaker) attempt(ctx context.Context, request []byte, m *marker, pass func(inference.Chunk) bool) error {
	in := newIncoming()
	stream, err := sp.pool.Open(ctx, in)
	if err != nil {
		return err
	}
	defer stream.Close()
	defer in.release(stream)
	inference.Sent(ctx)
	if err := stream.Send(worker.Speak, request); err != nil {
		return err
	}
	base := sp.samples
	for {
		p, err := in.next(ctx)
		if err != nil || p == nil {
			return err
		}
		inference.Got(ctx, p.at)
		amplify(p.samples, sp.voice.gain)
		chunk := inference.Chunk{Samples: p.samples, Rate: Rate}
		m.mark(&chunk, p.events, base)
		sp.samples += len(p.samples)
		if !pass(chunk) {
			return errStopped
		}
	}
}

// amplify scales samples in place and clips them at full scale.
func amplify(samples []int16, gain float32) {
	for i, s := range samples {
		samples[i] = int16(max(-32768, min(32767, float32(s)*gain)))
	}
}
