package recording

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"parley/media"
	"parley/media/record"
	"parley/store/blob"
	"parley/store/blob/blobtest"
	"parley/store/history"
	"parley/store/ledger"
	"parley/store/storetest"
)

// stores are the kinds of a store that nodes share.
func stores(t *testing.T, prove func(t *testing.T, h *harness)) {
	for name, prepare := range map[string]func(*harness){"folder": func(*harness) {}, "bucket": func(h *harness) { h.bucket() }} {
		t.Run(name, func(t *testing.T) {
			h := setup(t)
			prepare(h)
			prove(t, h)
		})
	}
}

// raw is the audio of a call as its recorder writes it.
type raw struct {
	*life
	call  string
	to    io.WriteCloser
	wrote time.Duration
}

func (l *life) begin(call string) *raw {
	l.Helper()
	to, err := l.create(call, media.Rate8k, &capture{})
	l.OK(err)
	return &raw{life: l, call: call, to: to}
}

// write writes seconds of audio, by half seconds.
func (r *raw) write(seconds int) error {
	for range 2 * seconds {
		if _, err := r.to.Write(make([]byte, 8000*sample/2)); err != nil {
			return err
		}
		r.wrote += time.Second / 2
	}
	return nil
}

// end ends the recording; err is what the recorder met.
func (r *raw) end(err error) {
	r.Helper()
	r.OK(r.to.Close())
	r.done(r.call, record.Result{Rate: media.Rate8k, Length: media.FromDuration(r.wrote), Err: err})
}

// delivered waits until the store has as many chunks of the call.
func (r *raw) delivered(n int) {
	r.Helper()
	for deadline := time.Now().Add(time.Minute); len(blobtest.Keys(r.T, r.storage, chunksOf(r.call))) != n; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			r.Fatalf("of %d chunks are there %q", n, blobtest.Keys(r.T, r.storage, chunksOf(r.call)))
		}
	}
}

// again has a store asked at once that has failed.
func (l *life) again() {
	l.mu.Lock()
	if !l.spool.failed.IsZero() {
		l.spool.failed = time.Now().Add(-sendRetry)
	}
	l.mu.Unlock()
	l.send()
}

// seconds is how much audio a recording has, as WAV.
func (l *life) seconds(call string) float64 {
	l.Helper()
	a := l.ask("GET", call, "?format=wav", "sk_a")
	if a.status != http.StatusOK || !strings.HasPrefix(a.body, "RIFF") {
		l.Fatalf("%d %.200s", a.status, a.body)
	}
	return float64(len(a.body)-wavHeader) / sample / 8000
}

// TestChunks: while a call lasts its audio goes into the store, and leaves the disk; another node plays
// what one has recorded, and deletes it.
func TestChunks(t *testing.T) {
	stores(t, func(t *testing.T, h *harness) {
		l, other := h.live("node"), h.live("other")
		r := l.begin(h.call())
		h.OK(r.write(40))
		r.delivered(2)
		want := []string{"raw/" + r.call + "/8000.0000000000.raw", "raw/" + r.call + "/8000.0000120000.raw"}
		if got := h.left(); !slices.Equal(got, want) {
			t.Errorf("%q", got)
		}
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) { // they are removed when they are there
			onDisk, err := os.ReadDir(l.Raw())
			h.OK(err)
			if len(onDisk) == 1 && onDisk[0].Name() == r.call+".8000.0000240000.raw.open" && l.Unsent().Bytes == 10*8000*sample {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("on the disk are %v, %+v", onDisk, l.Unsent())
			}
		}
		r.end(nil)
		found := l.until(r.call, history.RecordingReady)
		if found.Length != 40*time.Second || found.Rate != 8000 {
			t.Errorf("%+v", found)
		}
		if got := h.left(); !slices.Equal(got, []string{r.call + "." + found.Format}) {
			t.Errorf("%q", got)
		}
		for _, node := range []*life{l, other} {
			if n := node.seconds(r.call); n < 39.9 || n > 40.1 {
				t.Errorf("%.2f s are played", n)
			}
			whole := node.ask("GET", r.call, "", "sk_a")
			if part := node.ask("GET", r.call, "", "sk_a", "Range", "bytes=100-199"); part.status != 206 || part.body != whole.body[100:200] {
				t.Errorf("a range: %d, %d bytes", part.status, len(part.body))
			}
			node.refused("somebody else's", node.ask("GET", r.call, "", "sk_b"), 404, "request.not_found")
		}
		if u := l.Unsent(); u.Bytes != 0 || u.Age != 0 || u.Failures != 0 {
			t.Errorf("%+v", u)
		}
		if gone := other.ask("DELETE", r.call, "", "sk_a"); gone.status != 204 {
			t.Errorf("deleted with %d %s", gone.status, gone.body)
		}
		if got := h.left(); len(got) != 0 {
			t.Errorf("%q are left", got)
		}
	})
}

// moved is a call of which one node has recorded 20 s, and another goes on.
func (h *harness) moved() (first, second *raw) {
	h.Helper()
	l, other := h.live("node"), h.live("other")
	first = l.begin(h.call())
	h.OK(first.write(20))
	first.delivered(1)
	l.Leave(first.call)
	to, err := other.create(first.call, media.Rate8k, &capture{since: 20 * media.Second, continues: true})
	h.OK(err)
	for deadline := time.Now().Add(time.Minute); other.until(first.call, history.RecordingRuns).Node != "other"; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			h.Fatal("the other node does not say that it records")
		}
	}
	return first, &raw{life: other, call: first.call, to: to}
}

// TestContinued: what two nodes have recorded of a call that has moved is one recording, with each part at its place. The node that has
// left it may send its last part late, also in its next life, and ends nothing.
func TestContinued(t *testing.T) {
	stores(t, func(t *testing.T, h *harness) {
		r, second := h.moved()
		l, other := r.life, second.life
		r.end(nil)
		r.delivered(2)
		for l.lives(r.call) {
			time.Sleep(10 * time.Millisecond) // it is settled on a goroutine of its own
		}
		h.OK(second.write(10))
		if found := other.until(r.call, history.RecordingRuns); found.Node != "other" {
			t.Errorf("it is recorded by %s", found.Node)
		}
		second.end(nil)
		if found := other.until(r.call, history.RecordingReady); found.Length != 30*time.Second || found.Node != "other" {
			t.Errorf("%+v", found)
		}
		if n := other.seconds(r.call); n < 29.9 || n > 30.1 {
			t.Errorf("%.2f s are played", n)
		}
		if ready, fails := l.ready.Load()+other.ready.Load(), l.fails.Load()+other.fails.Load(); ready != 1 || fails != 0 { // either may encode
			t.Errorf("%d are ready, %d have failed", ready, fails)
		}
	})
}

// TestLeftBehind: the last part of a recording that a node has left, and could not send, is sent by its next life while the other node
// still records.
func TestLeftBehind(t *testing.T) {
	h := setup(t)
	server := h.bucket()
	r, second := h.moved()
	other := second.life
	server.Refuse(503)
	r.end(nil)
	r.stop()
	server.Refuse(0)
	h.live("node")
	r.delivered(2)
	h.OK(second.write(10))
	second.end(nil)
	if found := other.until(r.call, history.RecordingReady); found.Length != 30*time.Second {
		t.Errorf("%+v", found)
	}
	if n := other.seconds(r.call); n < 29.9 || n > 30.1 {
		t.Errorf("%.2f s are played", n)
	}
}

// closed ends a call as others do it for a dead node.
func (h *harness) closed(s *ledger.Session) {
	h.Helper()
	_, err := h.Ledger.CloseSession(h.Context(), s, ledger.Closing{Reason: "failed", Detail: "node_lost"})
	h.OK(err)
}

// TestDeadNode: of a call whose node has died another makes the recording, of what was in the store; what that
// node does if it was not dead changes nothing.
func TestDeadNode(t *testing.T) {
	stores(t, func(t *testing.T, h *harness) {
		dead, other := h.live("node"), h.live("other")
		session := h.session()
		r := dead.begin(session.ID)
		dead.until(session.ID, history.RecordingRuns)
		h.OK(r.write(40))
		r.delivered(2)
		later := storetest.At(t.Context(), h.DB.Now().Add(2*time.Minute))
		h.OK(other.round(later, leftOver))
		dead.until(session.ID, history.RecordingRuns) // the call was not closed yet: its node may live
		h.closed(session)
		h.OK(other.round(t.Context(), leftOver))
		dead.until(session.ID, history.RecordingRuns) // it may be started again, and have more
		h.OK(other.round(later, leftOver))
		found := other.until(session.ID, history.RecordingReady)
		if found.Node != "other" || found.Length != 30*time.Second {
			t.Errorf("%+v", found)
		}
		if n := other.seconds(session.ID); n < 29.9 || n > 30.1 {
			t.Errorf("%.2f s are played", n)
		}
		r.end(nil)
		for dead.lives(session.ID) {
			<-dead.settled
		}
		if got := h.left(); !slices.Equal(got, []string{session.ID + "." + found.Format}) {
			t.Errorf("%q", got)
		}
		if again := other.until(session.ID, history.RecordingReady); again.Length != found.Length {
			t.Errorf("%+v", again)
		}
	})
}

// TestDeadNodeIsBack: what a node finds on its disk of a recording that another has made meanwhile is removed;
// what it finds of its own is part of the recording.
func TestDeadNodeIsBack(t *testing.T) {
	stores(t, func(t *testing.T, h *harness) {
		h.OK(os.MkdirAll(filepath.Join(h.dir, "raw-away"), 0o700))
		leave := func(call string, from int, suffix string) {
			h.OK(os.WriteFile(filepath.Join(h.dir, "raw-away", fmt.Sprintf("%s.8000.%010d.raw%s", call, from, suffix)), make([]byte, 15*8000*sample), 0o600))
		}
		calls := history.New(h.DB)
		mine, taken := h.call(), h.session()
		for _, call := range []string{mine, taken.ID} {
			h.OK(calls.BeginRecording(t.Context(), call, "away"))
			blobtest.Put(t, h.storage, chunksOf(call)+"8000.0000000000.raw", make([]byte, 15*8000*sample))
			leave(call, 120_000, "")
		}
		leave(mine, 240_000, openSuffix)
		h.closed(taken)
		other := h.live("other")
		h.OK(other.round(storetest.At(t.Context(), h.DB.Now().Add(2*time.Minute)), leftOver))
		other.until(taken.ID, history.RecordingReady)
		back := h.live("away")
		if r := back.until(mine, history.RecordingReady); r.Length != 45*time.Second || r.Node != "away" {
			t.Errorf("%+v", r)
		}
		if n := back.seconds(taken.ID); n < 14.9 || n > 15.1 {
			t.Errorf("%.2f s are played", n)
		}
		if got := h.left(); len(got) != 2 {
			t.Errorf("%q", got)
		}
		onDisk, _ := os.ReadDir(back.Raw())
		for deadline := time.Now().Add(time.Minute); len(onDisk) != 0 && time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) { // what was encoded goes after it is ready
			onDisk, _ = os.ReadDir(back.Raw())
		}
		if len(onDisk) != 0 {
			t.Errorf("on the disk are %v", onDisk)
		}
	})
}

// TestMissingChunk: audio that is not there is silence in its place.
func TestMissingChunk(t *testing.T) {
	h := setup(t)
	session := h.session()
	h.OK(history.New(h.DB).BeginRecording(t.Context(), session.ID, "away"))
	for _, from := range []int{0, 240_000} {
		blobtest.Put(t, h.storage, fmt.Sprintf("%s8000.%010d.raw", chunksOf(session.ID), from), slices.Repeat([]byte{0, 0x40}, 15*8000*2))
	}
	h.closed(session)
	other := h.live("other")
	h.OK(other.round(storetest.At(t.Context(), h.DB.Now().Add(2*time.Minute)), leftOver))
	if r := other.until(session.ID, history.RecordingReady); r.Length != 45*time.Second {
		t.Errorf("%+v", r)
	}
	w := other.waveform(session.ID)
	if third := len(w.Caller) / 3; slices.Min(w.Caller[:third-5]) < 100 || slices.Max(w.Caller[third+5:2*third-5]) > 0 || slices.Min(w.Caller[2*third+5:]) < 100 {
		t.Errorf("%v", w.Caller)
	}
}

// TestStoreAway: a store that is away holds up no call; what it does not take waits on the disk, and goes
// when it is back.
func TestStoreAway(t *testing.T) {
	h := setup(t)
	server := h.bucket()
	l := h.live("node")
	server.Refuse(http.StatusServiceUnavailable)
	r := l.begin(h.call())
	l.until(r.call, history.RecordingRuns)
	h.OK(r.write(40))
	r.end(nil)
	for l.Unsent().Failures == 0 {
		time.Sleep(10 * time.Millisecond)
	}
	if u := l.Unsent(); u.Bytes != 40*8000*sample || u.Age <= 0 {
		t.Errorf("%+v", u)
	}
	l.refused("while its audio waits", l.ask("GET", r.call, "", "sk_a"), 409, "recording.not_ready")
	server.Refuse(0)
	l.again()
	if found := l.until(r.call, history.RecordingReady); found.Length != 40*time.Second {
		t.Errorf("%+v", found)
	}
	if u := l.Unsent(); u.Bytes != 0 || u.Age != 0 || u.Failures == 0 {
		t.Errorf("%+v", u)
	}
	for _, status := range []int{http.StatusServiceUnavailable, http.StatusForbidden} {
		server.Refuse(status)
		l.refused("of a store that is away", l.ask("GET", r.call, "", "sk_a"), 503, "service.unavailable")
	}
	if gone := l.ask("DELETE", r.call, "", "sk_a"); gone.status != 204 {
		t.Errorf("deleted with %d", gone.status)
	}
	l.refused("a deleted one", l.ask("GET", r.call, "", "sk_a"), 410, "recording.gone")
	server.Refuse(0)
	if got := h.left(); len(got) != 1 {
		t.Errorf("%q", got)
	}
	h.OK(l.round(t.Context(), leftOver))
	if got := h.left(); len(got) != 0 {
		t.Errorf("%q outlive their deletion", got)
	}
}

// unmounted is a store whose directory is not there while it is gone.
type unmounted struct {
	blob.Store
	gone    atomic.Bool
	refused chan struct{} // capacity 1
}

func (u *unmounted) Put(ctx context.Context, key, path string) error {
	if !u.gone.Load() {
		return u.Store.Put(ctx, key, path)
	}
	select {
	case u.refused <- struct{}{}:
	default:
	}
	return &fs.PathError{Op: "link", Path: key, Err: fs.ErrNotExist}
}

// TestStoreWithoutItsDirectory: a store that says that something of its own is not there takes nothing from the disk.
func TestStoreWithoutItsDirectory(t *testing.T) {
	h := setup(t)
	away := &unmounted{Store: h.storage, refused: make(chan struct{}, 1)}
	away.gone.Store(true)
	h.storage = away
	l := h.live("node")
	r := l.begin(h.call())
	h.OK(r.write(1))
	r.end(nil)
	<-away.refused
	away.gone.Store(false)
	if found := l.until(r.call, history.RecordingReady); found.Length != time.Second {
		t.Errorf("%+v", found)
	}
}

// TestUnsentIsBounded: recordings end where they are when too much waits on the disk, and are kept that far.
func TestUnsentIsBounded(t *testing.T) {
	h := setup(t)
	server := h.bucket()
	h.most = 20 * 8000 * sample
	l := h.live("node")
	server.Refuse(http.StatusServiceUnavailable)
	r, none := l.begin(h.call()), h.call()
	err := r.write(100)
	if !errors.Is(err, errFull) || r.wrote != 30*time.Second {
		t.Errorf("%v after %v", err, r.wrote)
	}
	r.wrote = time.Hour // a recorder counts on
	r.end(err)
	l.talk(none)()
	l.until(none, history.RecordingFailed)
	server.Refuse(0)
	l.again()
	if found := l.until(r.call, history.RecordingReady); found.Length != 30*time.Second {
		t.Errorf("%+v", found)
	}
	call := h.call()
	l.talk(call)()
	l.until(call, history.RecordingReady)
}

// TestSweptByOthers: files of recordings whose node is gone go with their rows, by whichever node.
func TestSweptByOthers(t *testing.T) {
	stores(t, func(t *testing.T, h *harness) {
		l, other := h.live("node"), h.live("other")
		session, lost := h.session(), h.session()
		l.talk(session.ID)()
		r := l.until(session.ID, history.RecordingReady)
		h.OK(history.New(h.DB).BeginRecording(t.Context(), lost.ID, "away"))
		h.OK(history.New(h.DB).DeleteRecording(t.Context(), h.A.Account, lost.ID))
		blobtest.Put(t, h.storage, chunksOf(lost.ID)+"8000.0000000000.raw", make([]byte, sample))
		h.closed(session)
		h.closed(lost)
		l.stop()
		h.OK(other.round(storetest.At(t.Context(), r.EndedAt.Add(29*24*time.Hour)), leftOver))
		if got := h.left(); !slices.Contains(got, session.ID+"."+r.Format) {
			t.Errorf("after 29 of 30 days: %q", got)
		}
		h.OK(other.round(storetest.At(t.Context(), h.DB.Now().Add(2*time.Minute)), leftOver))
		h.OK(other.round(storetest.At(t.Context(), r.EndedAt.Add(31*24*time.Hour)), leftOver))
		if got := h.left(); len(got) != 0 {
			t.Errorf("%q are left", got)
		}
		if left, err := history.New(h.DB).OrphanedRecordings(storetest.At(t.Context(), r.EndedAt.Add(31*24*time.Hour)), h.DB.Now()); err != nil || len(left) != 0 {
			t.Errorf("%+v, %v", left, err)
		}
	})
}
