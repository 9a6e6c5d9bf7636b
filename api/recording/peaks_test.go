package recording

import (
	"parley/api/wire"
	"parley/store/history"

	"encoding/json"
	"fmt"
	"slices"
	"testing"
)

// TestWaveform is there with the recording, made later where it was not, and goes with it.
func TestWaveform(t *testing.T) {
	h := setup(t)
	l := h.live("node")
	call := h.call()
	l.refused("before there is one", l.ask("GET", call, "/peaks", "sk_a"), 404, "request.not_found")
	hangUp := l.talk(call)
	l.until(call, history.RecordingRuns)
	l.refused("while the call lasts", l.ask("GET", call, "/peaks", "sk_a"), 409, "recording.not_ready")
	hangUp()
	r := l.until(call, history.RecordingReady)
	kept, err := history.New(h.DB).RecordingPeaks(t.Context(), h.A.Account, call)
	h.OK(err)
	if len(kept) != 2*1200 {
		t.Fatalf("%d points were kept", len(kept))
	}
	first := l.waveform(call)
	if first.Duration != r.Length.Seconds() || len(first.Caller) != 1200 || len(first.Agent) != 1200 || slices.Max(first.Caller) < 20 || slices.Max(first.Agent) > 0 {
		t.Errorf("%v s, the loudest %d and %d", first.Duration, slices.Max(first.Caller), slices.Max(first.Agent))
	}
	l.refused("somebody else's", l.ask("GET", call, "/peaks", "sk_b"), 404, "request.not_found")
	if peaks, err := history.New(h.DB).RecordingPeaks(t.Context(), h.keys["sk_b"], call); err == nil {
		t.Errorf("somebody else reads %d points", len(peaks))
	}

	h.OK(history.New(h.DB).SavePeaks(t.Context(), h.A.Account, call, nil)) // as recordings were before
	late := l.waveform(call)
	if kept, err = history.New(h.DB).RecordingPeaks(t.Context(), h.A.Account, call); err != nil || len(kept) != 2*len(late.Caller) {
		t.Errorf("%d points were kept of %d, %v", len(kept), len(late.Caller), err)
	}
	// What was encoded and decoded is nearly as loud, and the caller's loudness is not the agent's.
	if a, b := slices.Max(first.Caller), slices.Max(late.Caller); b < a*3/4 || b > a*4/3 || slices.Max(late.Agent) > b/4 {
		t.Errorf("%d at most, later %d and of the agent %d", a, b, slices.Max(late.Agent))
	}
	l.OK(history.New(h.DB).SavePeaks(t.Context(), h.A.Account, call, kept))
	l.ask("DELETE", call, "", "sk_a")
	l.refused("after its deletion", l.ask("GET", call, "/peaks", "sk_a"), 410, "recording.gone")
	if kept, err = history.New(h.DB).RecordingPeaks(t.Context(), h.A.Account, call); err != nil || kept != nil {
		t.Errorf("%d points outlive it, %v", len(kept), err)
	}
}

func (l *life) waveform(call string) (w wire.Waveform) {
	l.Helper()
	a := l.ask("GET", call, "/peaks", "sk_a")
	if a.status != 200 {
		l.Fatal(fmt.Sprint(a.status, " ", a.body))
	}
	l.OK(json.Unmarshal([]byte(a.body), &w))
	return w
}
