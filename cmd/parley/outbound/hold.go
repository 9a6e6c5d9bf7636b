package outbound

import (
	"context"

	"parley/media"
	"parley/media/hold"
	"parley/pipeline/agent"
)

// holds makes what callers hear while somebody is called for them, as a setting of their agent says; nil: the ringing tone.
func holds(setting *string) func(context.Context, media.Rate) *hold.Player {
	if setting == nil || *setting != agent.HoldMusic {
		return nil
	}
	return func(_ context.Context, rate media.Rate) *hold.Player { return hold.Music(rate) }
}
