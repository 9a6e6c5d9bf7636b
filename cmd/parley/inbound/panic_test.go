package inbound

import (
	"testing"
	"testing/synctest"

	"parley/media"
	"parley/media/isolate"
	"parley/media/isolate/isolatetest"
	"parley/pipeline/bridge"
	"parley/pipeline/pipelinetest"
)

// TestPanicEndsAForwardedCall: what fails while the other telephone is called ends the call, and its caller is let go.
func TestPanicEndsAForwardedCall(t *testing.T) {
	isolatetest.Each(t, func(t *testing.T, site isolatetest.Site) {
		synctest.Test(t, func(t *testing.T) {
			isolatetest.Inject(t, site.Name)
			c := &reception{n: &Answerer{}, by: bridge.Attend(t.Context(), pipelinetest.NewLeg().Telephone())}
			if ended := c.forward(t.Context(), &route{}, "+34911234567"); ended != *isolate.Internal {
				t.Errorf("it ended by %s", &ended)
			}
			if ended := c.by.End(media.Ended{Reason: media.Failed}); ended.Reason != media.Failed {
				t.Errorf("the leg ended by %s", &ended)
			}
		})
	})
}
