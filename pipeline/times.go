package pipeline

import (
	"time"

	"parley/media"
	"parley/pipeline/turn"
)

// times are the moments that the limits and the media time of a call count from.
type times struct {
	start   time.Time
	frameAt time.Time  // when a frame of the caller's came last
	active  time.Time  // when either side last spoke
	media   media.Time // the latest that was given out
}

// at is the media time now: the end of what was heard, and between two frames as much as
// has passed since, at most one frame.
func (t *times) at(now time.Time, heard media.Time) media.Time {
	since := min(media.FromDuration(now.Sub(t.frameAt)), media.FrameTime)
	return max(t.media, heard+since)
}

// clock is the call's media time, which does not go back.
func (c *Call) clock() media.Time {
	c.times.media = c.moment()
	return c.times.media
}

// moment is the same without effect on later readings.
func (c *Call) moment() media.Time { return c.times.at(c.now(), c.caller.End()) }

// checkDuration ends a call that has reached its longest.
func (c *Call) checkDuration(now time.Time) {
	if c.cfg.MaxDuration > 0 && now.Sub(c.times.start) >= c.cfg.MaxDuration {
		c.step(turn.Event{Kind: turn.Stop, Reason: media.MaxDuration, Line: turn.Goodbye})
	}
}

// limits ends what has taken too long.
func (c *Call) limits(now time.Time) {
	c.tend(now)
	if r := c.replies.Latest; r.Live() && !r.Made() && !c.state.Held() {
		r.CheckVoice(c.playout.Sounds(), now)
		c.stalled(r, now)
	}
	c.checkDuration(now)
	if c.cfg.Quiet > 0 && !c.state.Held() && now.Sub(c.times.active) >= c.cfg.Quiet {
		c.step(turn.Event{Kind: turn.Stop, Reason: media.AgentHangup, Detail: "idle"})
	}
}
