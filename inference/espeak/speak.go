package espeak

import (
	"context"
	"time"

	"parley/inference"
	"parley/inference/worker"
)

// bounds: speech of ten minutes, 26 MB, is far above what the characters of a segment can
// become, and usually a worker makes 60 ms of sound in 0.05 ms.
var bounds = worker.Bounds{Silence: 5 * time.Second, Samples: int(Rate) * 600}

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

// speak says one segment. Its errors are those of worker.Pool.Speak.
func (sp *speaker) speak(ctx context.Context, seg [2]int, pass func(inference.Chunk) bool) error {
	spelled := sp.lang.spell(sp.text[seg[0]:seg[1]])
	m := &marker{speaker: sp, spelled: spelled, from: seg[0], word: seg[0]}
	base := sp.samples
	return sp.pool.Speak(ctx, worker.Synthesis{
		Voice: sp.lang.native + "+" + sp.voice.variant,
		Rate:  sp.rate, Pitch: sp.voice.pitch, Range: sp.voice.spread, Text: string(spelled.text),
	}, bounds, func(p worker.Piece) bool {
		amplify(p.Samples, sp.voice.gain)
		chunk := inference.Chunk{Samples: p.Samples, Rate: Rate}
		m.mark(&chunk, p.Events, base)
		sp.samples += len(p.Samples)
		return pass(chunk)
	})
}

// amplify scales samples in place and clips them at full scale.
func amplify(samples []int16, gain float32) {
	for i, s := range samples {
		samples[i] = int16(max(-32768, min(32767, float32(s)*gain)))
	}
}
