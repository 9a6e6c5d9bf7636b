package journal_test

import (
	"testing"
	"testing/synctest"
	"time"

	"parley/media"
	"parley/media/isolate/isolatetest"
	"parley/pipeline/journal"
	"parley/pipeline/pipelinetest"
)

// TestPanicLosesTheRecord, not the call: it goes on, and has none.
func TestPanicLosesTheRecord(t *testing.T) {
	isolatetest.Each(t, func(t *testing.T, site isolatetest.Site) {
		synctest.Test(t, func(t *testing.T) {
			isolatetest.Inject(t, site.Name)
			var record journal.Writer
			s := pipelinetest.NewScene(pipelinetest.Said{From: time.Second, To: 2 * time.Second, Text: "hello"})
			s.Config.Journal = &record
			s.Leg.HangUp = 20 * time.Second // more than its queue holds
			if ended := s.Play(t, time.Minute); ended.Reason != media.UserHangup {
				t.Errorf("it ended by %s", &ended)
			}
			if b := record.Bytes(); len(b) != 0 {
				t.Errorf("%d bytes are kept", len(b))
			}
		})
	})
}
