package pipeline

import (
	"context"

	"parley/inference"
	"parley/media"
	"parley/media/resample"
	"parley/pipeline/turn"
)

// askScore has the scorer judge the caller's pause, until the turn ends without its answer. An earlier question, which was of
// other words or of another pause, is withdrawn.
func (c *Call) askScore(a turn.Action) {
	if c.scoring != nil {
		c.scoring()
	}
	ctx, cancel := context.WithTimeout(c.crew.Life, a.Wait.Duration())
	c.scoring = cancel
	p := inference.Pause{Text: a.Text, Language: c.agent.Language}
	p.Audio, p.Said = c.caller.Turn()
	scorer, rate := c.cfg.Scorer, c.cfg.Feed.SampleRate()
	c.crew.Spawn("pipeline/scorer", func() {
		if rate != media.Rate16k {
			p.Audio = resample.All(p.Audio, rate, media.Rate16k)
		}
		if prob, err := scorer.Score(ctx, p); err == nil && ctx.Err() == nil && prob >= 0 && prob <= 1 {
			c.crew.Send(ctx, message{kind: msgScore, pause: a.Pause, prob: prob})
		}
	}, cancel)
}
