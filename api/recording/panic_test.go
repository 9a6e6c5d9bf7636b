package recording

import (
	"parley/store/history"

	"testing"
	"time"

	"parley/media/isolate/isolatetest"
)

// TestPanicLosesNoRecording: where noting that a recording begins or ends has a fault, it is
// kept all the same, at the latest by a later round, and where sending its audio has one, too; the one beside it goes on, and Close
// does not wait for what will not come.
func TestPanicLosesNoRecording(t *testing.T) {
	for _, ends := range []bool{false, true} {
		name := "begins"
		if ends {
			name = "ends"
		}
		t.Run(name, func(t *testing.T) {
			isolatetest.Each(t, func(t *testing.T, site isolatetest.Site) {
				h := setup(t)
				l := h.live("node")
				beside, call := h.call(), h.call()
				hangUpBeside := l.talk(beside)
				l.until(beside, history.RecordingRuns)
				var hangUp func()
				if ends {
					hangUp = l.talk(call)
					l.until(call, history.RecordingRuns)
				}
				fired := isolatetest.Inject(t, site.Name)
				if !ends {
					hangUp = l.talk(call)
					if site.Name != "api/recording/send" { // nothing is sent before the call ends
						<-fired
					}
				}
				hangUp()
				<-fired
				for l.lives(call) {
					<-l.settled
				}
				if ends {
					l.OK(l.round(t.Context(), 0))
				}
				l.until(call, history.RecordingReady)
				hangUpBeside()
				if r := l.until(beside, history.RecordingReady); r.Length < time.Second {
					t.Errorf("the recording beside it: %+v", r)
				}
				l.stop()
			})
		})
	}
}
