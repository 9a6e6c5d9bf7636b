package outbound

import (
	"context"

	"parley/media"
	"parley/media/hold"
	"parley/pipeline/agent"
)

// holds makes what callers of an account hear while somebody is called for them, as a setting of their agent says; nil: the ringing tone.
func (x *Transfers) holds(account string, setting *string) func(context.Context, media.Rate) *hold.Player {
	switch {
	case setting == nil || *setting == agent.HoldRinging:
		return nil
	case *setting == agent.HoldMusic:
		return func(_ context.Context, rate media.Rate) *hold.Player { return hold.Music(rate) }
	}
	return func(ctx context.Context, rate media.Rate) *hold.Player {
		codes, err := x.Sounds.Codes(ctx, account, *setting)
		if err != nil { // it was deleted, or the database is away
			x.Log.Info("a caller who waits hears the ringing tone", "account", account, "sound", *setting, "err", err)
			return nil
		}
		return hold.Recording(codes, rate)
	}
}
