package inbound

import (
	"context"
	"slices"
	"testing"
	"time"

	"parley/api/mediastream"
	"parley/cmd/parley/conversation"
	"parley/media"
	"parley/pipeline"
	"parley/pipeline/agent"
	"parley/pipeline/bridge"
	"parley/pipeline/toolbox"
)

// TestStreamLine: an agent can do there what the line can, and does not let the carrier wait.
func TestStreamLine(t *testing.T) {
	t.Parallel()
	var cfg pipeline.Config
	offered := []agent.Destination{{Number: "sip:200@pbx.example.com"}, {Number: "+34911234567"}}
	streamLine{}.functions(func(cfg *pipeline.Config, _ *conversation.Plan) {
		cfg.Transfer, cfg.Keys = &bridge.Transfer{To: offered, Consult: func(context.Context, string) (media.Leg, func(media.Ended), error) { return nil, nil, nil }}, []string{toolbox.SendDTMF, toolbox.CollectDigits}
		cfg.OptOut = func(context.Context) error { return nil }
	})(&cfg, nil)
	if x := cfg.Transfer; x.Consult != nil || len(x.To) != 1 || x.To[0].Number != "+34911234567" || !slices.Equal(cfg.Keys, []string{toolbox.CollectDigits}) || cfg.OptOut == nil {
		t.Errorf("%+v", cfg)
	}
	if l := (streamLine{}); l.patience(time.Minute) != streamRing || l.patience(0) != 0 {
		t.Errorf("it rings for %v, or %v", l.patience(time.Minute), l.patience(0))
	}
}

// TestCallerOfAStream: the carrier vouches for its caller; who withholds their number has none to show.
func TestCallerOfAStream(t *testing.T) {
	t.Parallel()
	for from, shown := range map[string]string{"+34600123456": "+34600123456", "anonymous": ""} {
		in, asked := &arrival{}, mediastream.Asked{ID: "CA1", From: from, To: "+34911234567", Name: "Ann", Verstat: numberPassed + "-A"}
		in.asked(&asked)
		if caller := callerOf(in); caller.Number != from || caller.Display != "Ann" || !verified(caller, attestationOf(in)) || shownNumber(in) != shown || in.Called != asked.To {
			t.Errorf("%s: %+v, shown %q", from, caller, shownNumber(in))
		}
	}
}
