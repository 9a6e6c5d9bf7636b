package sip_test

import (
	"context"
	"testing"

	"parley/media"
	"parley/media/codec"
	"parley/sip"
	"parley/sip/trunk"
)

// TestKeysInTheAudioOfATrunk: over a trunk without telephone events keys are tones, in either band, and those who hear them know them.
func TestKeysInTheAudioOfATrunk(t *testing.T) {
	for _, c := range []codec.Codec{codec.PCMU, codec.G722} {
		legs, keys, results := make(chan *sip.Leg, 1), make(chan byte, 8), make(chan outcome, 1)
		at := serve(t, sip.Config{OnCall: echo(legs, keys, results)}).Addr()
		caller := serve(t, sip.Config{Trunks: []trunk.Config{{Name: "a", Flags: trunk.NoProbe | trunk.AudioKeys, Codecs: []codec.Codec{c},
			Targets: []trunk.Target{{Host: at.Addr().String(), Port: at.Port()}}}}})
		leg, err := caller.Dial(t.Context(), sip.Target{Trunk: "a", Number: "+15550100002"})
		if err != nil {
			t.Fatal(err)
		}
		ctx, end := context.WithCancelCause(t.Context())
		heard, frames := "", 0
		err = conduct(ctx, leg, func(_ *sip.Leg, f media.Frame) []int16 {
			for len(keys) > 0 {
				heard += string(<-keys)
			}
			switch frames++; {
			case frames == 50: // the far end has begun to listen
				if err := leg.SendDigits("42#"); err != nil {
					t.Error(err)
				}
			case len(heard) == 3 || frames == 1000:
				end(&media.Ended{Reason: media.AgentHangup})
			}
			return nil
		})
		if err != nil || heard != "42#" {
			t.Errorf("%v: keys %q, %v", c, heard, err)
		}
		wait(t, results, "the callee's end")
	}
}
