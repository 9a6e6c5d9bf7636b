package record_test

import (
	"testing"
	"testing/synctest"

	"parley/media/isolate/isolatetest"
)

// TestPanicFailsTheRecording, not the call: whose conductor goes on to feed it, and learns
// at the end that there is no recording.
func TestPanicFailsTheRecording(t *testing.T) {
	isolatetest.Each(t, func(t *testing.T, site isolatetest.Site) {
		synctest.Test(t, func(t *testing.T) {
			other := newTape()
			other.Begin(telephone)
			synctest.Wait()
			isolatetest.Inject(t, site.Name)
			got := newTape()
			got.Begin(telephone)
			got.feed(telephone, 2000, never, func(int) bool { return true })
			if got.result.Err == nil {
				t.Error("the recording did not fail")
			}
			other.Close()
			synctest.Wait()
			if other.result.Err != nil {
				t.Errorf("the recording beside it failed: %v", other.result.Err)
			}
		})
	})
}
