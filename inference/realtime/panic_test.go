package realtime_test

import (
	"testing"
	"testing/synctest"

	"parley/inference"
	"parley/inference/enginetest"
	"parley/inference/realtime"
	"parley/media/isolate/isolatetest"
)

// TestPanicEndsItsStream: results and chunks end, the session is released, and the call beside it goes on.
func TestPanicEndsItsStream(t *testing.T) {
	isolatetest.Each(t, func(t *testing.T, site isolatetest.Site) {
		synctest.Test(t, func(t *testing.T) {
			engine := enginetest.NewFakeRealtime()
			other := begin(t, engine)
			synctest.Wait()
			if site.Name == "inference/realtime/voice" {
				isolatetest.Inject(t, site.Name)
				u, err := other.call.TTS().Open(t.Context(), inference.VoiceConfig{})
				if err != nil {
					t.Fatal(err)
				}
				for c := range u.Chunks() {
					t.Errorf("a chunk: %+v", c)
				}
			} else {
				isolatetest.Inject(t, site.Name)
				broken, err := realtime.New(engine, inference.RealtimeConfig{Voice: "F1"}, nil).ASR().Open(t.Context(), inference.ASRConfig{})
				if err != nil {
					t.Fatal(err)
				}
				if site.Name == "inference/realtime/renew" {
					all := engine.Sessions()
					all[len(all)-1].Expire()
				}
				for r := range broken.Results() {
					if r.Err == nil {
						t.Errorf("a result: %+v", r)
					}
				}
				broken.Close()
				if n := engine.Busy(); n != 1 {
					t.Errorf("%d sessions are open, want 1", n)
				}
			}
			if text, _, _ := other.thinks(t, t.Context(), said("hello")); text == "" {
				t.Error("the other call has no answer")
			}
		})
	})
}
