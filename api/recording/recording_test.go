package recording

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/media"
	"parley/media/record"
	"parley/media/transcode"
	"parley/store/history"
	"parley/store/ledger"
	"parley/store/storetest"
)

// refused wants an error of the table.
func (l *life) refused(what string, a answer, status int, code string) {
	l.Helper()
	var p struct{ Code string }
	if err := json.Unmarshal([]byte(a.body), &p); err != nil || a.status != status || p.Code != code {
		l.Errorf("%s: %d %.200s, want %d %s", what, a.status, a.body, status, code)
	}
}

// TestRecording from the first frame to its deletion.
func TestRecording(t *testing.T) {
	h := setup(t)
	l := h.live("node")
	call := h.call()
	l.refused("before there is one", l.ask("GET", call, "", "sk_a"), 404, "request.not_found")
	hangUp := l.talk(call)
	l.until(call, history.RecordingRuns)
	l.refused("while the call lasts", l.ask("GET", call, "", "sk_a"), 409, "recording.not_ready")
	hangUp()
	r := l.until(call, history.RecordingReady)
	if r.Length < time.Second || r.Length > 1100*time.Millisecond || r.Rate != 8000 || r.Bytes == 0 || r.Dropped != 0 {
		t.Errorf("%+v", r)
	}
	whole := l.ask("GET", call, "", "sk_a")
	if whole.status != 200 || whole.kind != formats[r.Format] || len(whole.body) != int(r.Bytes) || whole.header.Get("Accept-Ranges") != "bytes" {
		t.Errorf("%d %s, %d bytes", whole.status, whole.kind, len(whole.body))
	}
	if part := l.ask("GET", call, "", "sk_a", "Range", "bytes=100-199"); part.status != 206 || part.body != whole.body[100:200] {
		t.Errorf("a range: %d, %d bytes", part.status, len(part.body))
	}
	beyond := l.ask("GET", call, "", "sk_a", "Range", "bytes=99999999-")
	l.refused("a range beyond the end", beyond, 416, "request.range_not_satisfiable")
	if beyond.header.Get("Content-Range") != fmt.Sprintf("bytes */%d", r.Bytes) {
		t.Errorf("the size is %q", beyond.header.Get("Content-Range"))
	}
	wav := l.ask("GET", call, "?format=wav", "sk_a")
	if seconds := float64(len(wav.body)-44) / 4 / 8000; wav.status != 200 || wav.kind != "audio/wav" || wav.body[:4] != "RIFF" || seconds < 0.98 || seconds > 1.1 {
		t.Errorf("as WAV: %d %s, %.2f s", wav.status, wav.kind, seconds)
	}
	if part := l.ask("GET", call, "?format=wav", "sk_a", "Range", "bytes=0-43"); part.status != 206 || part.body != wav.body[:44] {
		t.Errorf("a range of the WAV: %d, %d bytes", part.status, len(part.body))
	}
	l.refused("as MP3", l.ask("GET", call, "?format=mp3", "sk_a"), 400, "validation.invalid_request_format")
	for _, method := range []string{"GET", "DELETE"} {
		l.refused("somebody else's", l.ask(method, call, "", "sk_b"), 404, "request.not_found")
		l.refused("nobody's", l.ask(method, "ses_0", "", "sk_a"), 404, "request.not_found")
	}
	if left, _ := os.ReadDir(l.Raw()); len(left) != 0 {
		t.Errorf("raw files stay: %v", left)
	}
	for range 2 {
		if gone := l.ask("DELETE", call, "", "sk_a"); gone.status != 204 {
			t.Errorf("deleted with %d %s", gone.status, gone.body)
		}
	}
	l.refused("after its deletion", l.ask("GET", call, "", "sk_a"), 410, "recording.gone")
	if left, _ := os.ReadDir(l.files()); len(left) != 0 {
		t.Errorf("files stay: %v", left)
	}
	if r := l.until(call, history.RecordingDeleted); r.DeletedAt == nil || r.DeletedBy != "request" {
		t.Errorf("%+v", r)
	}
}

// TestKilled: what a server that died had recorded is kept by its next life.
func TestKilled(t *testing.T) {
	h := setup(t)
	first := h.live("node")
	call, unnoted, empty := h.call(), h.call(), h.call()
	first.OK(os.MkdirAll(first.Raw(), 0o700))
	half := make([]byte, 8000*4+3) // a second, and some of a sample
	first.OK(os.WriteFile(filepath.Join(first.Raw(), call+".8000.raw"), half, 0o600))
	first.OK(os.WriteFile(filepath.Join(first.Raw(), unnoted+".8000.raw"), half, 0o600))
	first.OK(history.New(first.DB).BeginRecording(t.Context(), call, "node"))
	first.OK(history.New(first.DB).BeginRecording(t.Context(), empty, "node")) // it had not written anything
	first.stop()

	second := h.live("node")
	for _, id := range []string{call, unnoted} {
		if r := second.until(id, history.RecordingReady); r.Length != time.Second {
			t.Errorf("%+v", r)
		}
		if got := second.ask("GET", id, "", "sk_a"); got.status != 200 {
			t.Errorf("%d %s", got.status, got.body)
		}
	}
	second.until(empty, history.RecordingFailed)
	second.refused("nothing was written", second.ask("GET", empty, "", "sk_a"), 410, "recording.gone")
}

// TestMachineIsGone: what lies with a server that does not come back is lost after a day,
// says its call; a server that comes back later still has it.
func TestMachineIsGone(t *testing.T) {
	h := setup(t)
	call, lasting := h.call(), h.call()
	h.OK(history.New(h.DB).BeginRecording(t.Context(), call, "away"))
	_, _, err := h.Ledger.RegisterNode(t.Context(), "there", "127.0.0.1:1")
	h.OK(err)
	h.OK(history.New(h.DB).BeginRecording(storetest.At(t.Context(), h.DB.Now().Add(-2*history.LostAfter)), lasting, "there")) // a server that lives has time
	other := h.live("other")
	h.OK(other.round(storetest.At(t.Context(), h.DB.Now().Add(history.LostAfter-time.Hour)), leftOver))
	other.until(call, history.RecordingRuns)
	other.until(lasting, history.RecordingRuns)
	h.OK(other.round(storetest.At(t.Context(), h.DB.Now().Add(history.LostAfter+time.Hour)), leftOver))
	other.until(call, history.RecordingFailed)
	other.refused("lost", other.ask("GET", call, "", "sk_a"), 410, "recording.gone")

	h.OK(os.MkdirAll(filepath.Join(h.dir, "raw-away"), 0o700))
	h.OK(os.WriteFile(filepath.Join(h.dir, "raw-away", call+".8000.raw"), make([]byte, 8000*4), 0o600))
	back := h.live("away")
	if r := back.until(call, history.RecordingReady); r.Length != time.Second {
		t.Errorf("%+v", r)
	}
	if got := back.ask("GET", call, "", "sk_a"); got.status != 200 {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// TestDiskError: a recording that cannot be written is failed, and counted.
func TestDiskError(t *testing.T) {
	h := setup(t)
	h.OK(os.WriteFile(filepath.Join(h.dir, "raw-node"), nil, 0o600)) // where the directory should be
	l := h.live("node")
	call := h.call()
	l.talk(call)()
	l.until(call, history.RecordingFailed)
	l.refused("a failed one", l.ask("GET", call, "", "sk_a"), 410, "recording.gone")
	l.stop()
	if l.fails.Load() != 1 || l.ready.Load() != 0 {
		t.Errorf("%d failed, %d ready", l.fails.Load(), l.ready.Load())
	}
}

// TestRetention: an account's recordings go when it has kept them long enough.
func TestRetention(t *testing.T) {
	h := setup(t)
	l := h.live("node")
	call := h.call()
	l.talk(call)()
	r := l.until(call, history.RecordingReady)
	if d := r.ExpiresAt.Sub(*r.EndedAt); d < 30*24*time.Hour-2*time.Hour || d > 30*24*time.Hour+2*time.Hour { // the clocks may change in between
		t.Errorf("it is kept for %v", d)
	}
	h.OK(l.round(storetest.At(t.Context(), r.EndedAt.Add(29*24*time.Hour)), leftOver))
	if got := l.ask("GET", call, "", "sk_a"); got.status != 200 {
		t.Errorf("after 29 days: %d", got.status)
	}
	days := 3
	h.OK(h.Ledger.ChangeAccount(t.Context(), h.A.Account, ledger.AccountChange{RecordingDays: &days}))
	if _, _, err := l.open(t.Context(), r, "", r.ExpiresAt); err == nil {
		t.Error("what has expired and was not deleted yet can be read")
	}
	h.OK(l.round(storetest.At(t.Context(), r.EndedAt.Add(4*24*time.Hour)), leftOver))
	l.refused("after 4 of 3 days", l.ask("GET", call, "", "sk_a"), 410, "recording.gone")
	if r := l.until(call, history.RecordingDeleted); r.DeletedBy != "expiry" {
		t.Errorf("%+v", r)
	}
	if left, _ := os.ReadDir(l.files()); len(left) != 0 {
		t.Errorf("files stay: %v", left)
	}
}

// TestForgotten: with what was said the recording goes, at once where it is at hand, and
// by itself where the account keeps conversations for some days.
func TestForgotten(t *testing.T) {
	h := setup(t)
	l := h.live("node")
	days := 3
	h.OK(h.Ledger.ChangeAccount(t.Context(), h.A.Account, ledger.AccountChange{ConversationDays: &days}))
	asked, ended := h.call(), h.session()
	old := ended.ID
	for _, call := range []string{asked, old} {
		l.talk(call)()
		h.OK(history.New(h.DB).SaveConversation(t.Context(), h.A.Account, call, history.Conversation{Transcript: []history.TranscriptLine{{Role: "user", Text: "secret"}}}))
	}
	for _, call := range []string{asked, old} {
		l.until(call, history.RecordingReady)
	}
	if got := l.forget(asked, "sk_b"); got.status != 404 {
		t.Errorf("another account: %d %s", got.status, got.body)
	}
	if got := l.forget(asked, "sk_a"); got.status != 204 {
		t.Errorf("%d %s", got.status, got.body)
	}
	l.refused("a deleted one", l.ask("GET", asked, "", "sk_a"), 410, "recording.gone")
	if left, _ := os.ReadDir(l.files()); len(left) != 1 {
		t.Errorf("the files that are left: %v", left)
	}
	_, err := h.Ledger.CloseSession(t.Context(), ended, ledger.Closing{Reason: "user_hangup"})
	h.OK(err)
	h.OK(l.round(storetest.At(t.Context(), time.Now().Add(4*24*time.Hour)), leftOver))
	if left, _ := os.ReadDir(l.files()); len(left) != 0 {
		t.Errorf("files stay: %v", left)
	}
	for _, call := range []string{asked, old} {
		if c, err := history.New(h.DB).Call(t.Context(), h.A.Account, call); err != nil || len(c.Transcript) != 0 || c.DeletedAt == nil {
			t.Errorf("%+v, %v", c, err)
		}
	}
}

// TestDeletedWhileItLasts: nothing of the call is kept.
func TestDeletedWhileItLasts(t *testing.T) {
	h := setup(t)
	l := h.live("node")
	call := h.call()
	hangUp := l.talk(call)
	l.until(call, history.RecordingRuns)
	if got := l.ask("DELETE", call, "", "sk_a"); got.status != 204 {
		t.Errorf("%d %s", got.status, got.body)
	}
	hangUp()
	l.stop()
	for _, dir := range []string{l.Raw(), l.files()} {
		if left, _ := os.ReadDir(dir); len(left) != 0 {
			t.Errorf("files stay: %v", left)
		}
	}
}

// TestStoppedBeforeItEnds: a recorder that a slow disk holds up ends while the server does,
// and is waited for.
func TestStoppedBeforeItEnds(t *testing.T) {
	h := setup(t)
	l := h.live("node")
	call := h.call()
	file, err := l.create(call, media.Rate8k, &capture{})
	h.OK(err)
	l.until(call, history.RecordingRuns)
	var ended sync.WaitGroup
	ended.Go(func() {
		h.OK(file.Close())
		l.done(call, record.Result{Rate: media.Rate8k, Length: media.FrameTime})
	})
	l.Close()
	if r, err := history.New(h.DB).Recording(t.Context(), h.A.Account, call); err != nil || r.State == history.RecordingRuns {
		t.Errorf("%+v, %v", r, err)
	}
	ended.Wait()
}

// TestSharedDirectory: the node that had the call encodes, each one serves.
func TestSharedDirectory(t *testing.T) {
	h := setup(t)
	l, other := h.live("node"), h.live("other")
	call := h.call()
	l.talk(call)()
	l.until(call, history.RecordingReady)
	if got := other.ask("GET", call, "", "sk_a"); got.status != 200 || got.header.Get("Content-Length") != strconv.Itoa(len(got.body)) {
		t.Errorf("%d %s", got.status, got.body)
	}
	l.OK(os.RemoveAll(l.files()))
	other.refused("a file that is elsewhere", other.ask("GET", call, "", "sk_a"), 503, "service.unavailable")
	l.refused("a file that is lost", l.ask("GET", call, "", "sk_a"), 410, "recording.gone")
}

// TestWithoutEncoder: a server without ffmpeg keeps WAV.
func TestWithoutEncoder(t *testing.T) {
	h := setup(t)
	t.Setenv("PATH", t.TempDir())
	if transcode.Available() {
		t.Fatal("there is an encoder on an empty path")
	}
	l := h.live("node")
	call := h.call()
	l.talk(call)()
	if r := l.until(call, history.RecordingReady); r.Format != "wav" {
		t.Errorf("%+v", r)
	}
	if got := l.ask("GET", call, "", "sk_a"); got.status != 200 || got.kind != "audio/wav" || !strings.HasPrefix(got.body, "RIFF") {
		t.Errorf("%d %s", got.status, got.kind)
	}
}
