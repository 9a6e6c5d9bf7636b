package api

import (
	"net/http"
	"testing"
)

func TestCounts(t *testing.T) {
	counts := new(Counts)
	inside := int64(-1)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /in", func(http.ResponseWriter, *http.Request) { inside = counts.Active() })
	mux.HandleFunc("GET /sorry", func(w http.ResponseWriter, _ *http.Request) { WriteError(w, ErrDraining) })
	mux.HandleFunc("GET /panic", func(http.ResponseWriter, *http.Request) { panic("x") })
	h := Wrap(mux, Options{Counts: counts})
	for path, failed := range map[string]uint64{"/in": 0, "/nothing": 0, "/sorry": 1, "/panic": 1} {
		before := counts.Failed()
		send(h, "GET", path, "")
		if got := counts.Failed() - before; got != failed {
			t.Errorf("%s counted %d failures, want %d", path, got, failed)
		}
	}
	if inside != 1 || counts.Active() != 0 {
		t.Errorf("%d requests inside, %d left", inside, counts.Active())
	}
}
