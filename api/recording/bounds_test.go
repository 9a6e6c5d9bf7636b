package recording

import (
	"parley/store/history"

	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sys/unix"

	"parley/api"
)

// deadlines is an answer that notes by when it must have been read.
type deadlines struct {
	*httptest.ResponseRecorder
	set []time.Time
}

func (d *deadlines) SetWriteDeadline(t time.Time) error {
	d.set = append(d.set, t)
	return nil
}

// TestSlowReaders: who takes a recording has the time that its size allows, and the next request of the connection has
// its own.
func TestSlowReaders(t *testing.T) {
	h := setup(t)
	l := h.live("node")
	call := h.call()
	l.talk(call)()
	l.until(call, history.RecordingReady)
	routes := api.New(h.keys)
	Mount(routes, l.Service)
	handler := routes.Handler(api.Options{})
	for _, query := range []string{"", "?format=wav"} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/calls/"+call+"/recording"+query, nil)
		r.Header.Set("Authorization", "Bearer sk_a")
		w := &deadlines{ResponseRecorder: httptest.NewRecorder()}
		before := time.Now()
		handler.ServeHTTP(w, r)
		allowed := 30*time.Second + time.Duration(w.Body.Len()/(64<<10))*time.Second
		if w.Code != http.StatusOK || len(w.set) != 2 || w.set[0].Before(before.Add(allowed)) || w.set[0].After(time.Now().Add(allowed)) || !w.set[1].IsZero() {
			t.Errorf("%q: %d, %d bytes, deadlines %v", query, w.Code, w.Body.Len(), w.set)
		}
	}
}

// TestDecodingLeavesRoom: a recording that would fill the disk is not decoded: calls are recorded there.
func TestDecodingLeavesRoom(t *testing.T) {
	h := setup(t)
	l := h.live("node")
	call := h.call()
	l.talk(call)()
	r := l.until(call, history.RecordingReady)
	if r.Format != "ogg" {
		t.Fatalf("%+v", r)
	}
	var disk unix.Statfs_t
	h.OK(unix.Statfs(l.files(), &disk))
	fits := disk.Bavail*uint64(disk.Bsize) - 1<<20 // and leaves a mebibyte
	conn, err := pgx.Connect(t.Context(), h.Database)
	h.OK(err)
	defer conn.Close(t.Context())
	_, err = conn.Exec(t.Context(), "update call_recordings set length_ms = $1 where session_id = $2", int64(fits/uint64(r.Rate)/4)*1000, call)
	h.OK(err)
	if got := l.ask("GET", call, "?format=wav", "sk_a"); got.status != http.StatusServiceUnavailable {
		t.Errorf("it is decoded: %d", got.status)
	}
	if got := l.ask("GET", call, "", "sk_a"); got.status != http.StatusOK {
		t.Errorf("as it is kept: %d", got.status)
	}
}
