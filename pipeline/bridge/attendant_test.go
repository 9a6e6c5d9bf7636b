package bridge_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"parley/media"
	"parley/media/isolate"
	"parley/media/isolate/isolatetest"
	"parley/pipeline/bridge"
	"parley/pipeline/pipelinetest"
)

// TestPanicEndsTheAttended: a leg that fails ends as such, and who attends to it notices.
func TestPanicEndsTheAttended(t *testing.T) {
	isolatetest.Each(t, func(t *testing.T, site isolatetest.Site) {
		synctest.Test(t, func(t *testing.T) {
			isolatetest.Inject(t, site.Name)
			a := bridge.Attend(t.Context(), pipelinetest.NewLeg().Telephone())
			if key, err := a.Ask(t.Context(), nil, time.Minute); key != 0 || err == nil {
				t.Errorf("key %q, %v", key, err)
			}
			if ended := a.End(media.Ended{Reason: media.AgentHangup}); ended != *isolate.Internal {
				t.Errorf("it ended by %s", &ended)
			}
		})
	})
}

// TestAsk: a key is heard; without one it takes as long as patience says, and the far end's hang-up and the end of a context end it.
func TestAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leg := pipelinetest.NewLeg().Telephone()
		leg.HangUp, leg.Digits = 10*time.Second, map[time.Duration]byte{6 * time.Second: '7'}
		a := bridge.Attend(t.Context(), leg)
		if key, err := a.Ask(t.Context(), nil, 3*time.Second); key != 0 || err != nil || time.Since(leg.Start()) < 3*time.Second || time.Since(leg.Start()) > 4*time.Second {
			t.Errorf("key %q, %v after %v", key, err, time.Since(leg.Start()))
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		if err := a.Ring(ctx, "+34911234567", nil); err == nil || len(leg.Sent()) == 0 {
			t.Errorf("%v, sent %d", err, len(leg.Sent()))
		}
		if key, err := a.Ask(t.Context(), nil, time.Minute); key != '7' || err != nil {
			t.Errorf("key %q, %v", key, err)
		}
		if _, err := a.Ask(t.Context(), nil, time.Minute); err == nil {
			t.Error("nobody noticed the hang-up")
		}
		if ended := a.End(media.Ended{Reason: media.AgentHangup}); ended.Reason != media.UserHangup {
			t.Errorf("it ended by %s", &ended)
		}
	})
}
