package task

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"parley/billing"
	"parley/media/transcode"
	"parley/store/blob"
	"parley/store/blob/blobtest"
	"parley/store/ledger"
	"parley/store/tasks"
)

const threeSentences = "One is here. Two is here. Three is here."

func TestATaskFromSubmissionToDownload(t *testing.T) {
	t.Parallel()
	h := setup(t)
	n := h.node(quick(), filepath.Join(t.TempDir(), "tasks"))
	r := n.ask("POST", "/api/tts/en_f2/async", "sk_a", `{"text":"`+threeSentences+`","lang":"en-GB","quality":"ultra_high","include_visemes":true}`)
	v := r.View
	if r.status != 202 || v.Status != "pending" || v.Format != "wav" || v.VoiceID != "F2" || v.Language != "en" || v.Characters != 40 ||
		r.header.Get("Retry-After") != "3" || !strings.Contains(string(r.body), `"error":null`) || !strings.HasPrefix(v.TaskID, "task_") {
		t.Errorf("submitted: %d %s", r.status, r.body)
	}
	path := "/api/tts/tasks/" + v.TaskID
	n.until("completed")
	got := n.get(path)
	g := got.View
	if g.Status != "completed" || g.Progress != 100 || got.header.Get("Retry-After") != "" || !g.CreatedAt.Equal(v.CreatedAt) || g.Error != nil {
		t.Errorf("completed: %s", got.body)
	}
	if g.ExpiresAt == nil || g.CompletedAt == nil || g.ExpiresAt.Sub(*g.CompletedAt) != 24*time.Hour || g.Duration == nil || *g.Duration < 1.42 || *g.Duration > 1.43 {
		t.Errorf("completed: %s", got.body)
	}
	d := n.get(path + "/download")
	if d.status != 200 || d.header.Get("Content-Type") != "audio/wav" || string(d.body[:4]) != "RIFF" ||
		d.header.Get("Content-Disposition") != `attachment; filename="`+v.TaskID+`.wav"` {
		t.Errorf("downloaded: %d %v", d.status, d.header)
	}
	if c := n.ask("DELETE", path, "sk_a", ""); c.status != 409 || c.Code != "task.ended" {
		t.Errorf("cancelled when completed: %d %s", c.status, c.Code)
	}
	if held, left := h.money(); held != 0 || left != 5*usd-costs(40) {
		t.Errorf("%s held, %s left", held, left)
	}
	info, err := os.Stat(filepath.Join(n.Dir(), v.TaskID+".1.wav"))
	h.OK(err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the result has mode %v", info.Mode())
	}
	// Somebody took the file: the result is gone, too.
	h.OK(os.Remove(filepath.Join(n.Dir(), info.Name())))
	if d := n.get(path + "/download"); d.status != 410 || d.Code != "task.expired" {
		t.Errorf("downloaded nothing: %d %s", d.status, d.Code)
	}
}

func TestFormats(t *testing.T) {
	t.Parallel()
	h := setup(t)
	n := h.node(quick(), t.TempDir())
	for _, tt := range []struct {
		name, mediaType, extension string
		bytesPerSecond, header     int
	}{
		{"wav", "audio/wav", "wav", 88200, 44},
		{"pcm", "audio/pcm;rate=44100;channels=1", "pcm", 88200, 0},
		{"pcm_22050", "audio/pcm;rate=22050;channels=1", "pcm", 44100, 0},
		{"ulaw", "audio/basic", "ulaw", 8000, 0},
		{"ulaw_8000", "audio/basic", "ulaw", 8000, 0},
		{"MP3", "audio/mpeg", "mp3", 16000, 0},
		{"mp3_22050", "audio/mpeg", "mp3", 8000, 0},
	} {
		if strings.HasPrefix(tt.extension, "mp3") && !transcode.Available() {
			t.Logf("no ffmpeg: %s is not tried", tt.name)
			continue
		}
		path := n.submitted(threeSentences, tt.name)
		n.until("completed")
		d := n.get(path + "/download")
		seconds := float64(len(d.body)-tt.header) / float64(tt.bytesPerSecond)
		if d.status != 200 || d.header.Get("Content-Type") != tt.mediaType || seconds < 1.45 || seconds > 1.7 {
			t.Errorf("%s: %d %v, %.2f s", tt.name, d.status, d.header, seconds)
		}
		if !strings.HasSuffix(d.header.Get("Content-Disposition"), "."+tt.extension+`"`) || d.header.Get("X-Audio-Duration-Seconds") != "1.500" {
			t.Errorf("%s: %v", tt.name, d.header)
		}
		if got := n.get(path); got.View.Format != strings.ToLower(tt.name) {
			t.Errorf("%s is called %s", tt.name, got.View.Format)
		}
	}
}

func TestSubmissionsAreRefused(t *testing.T) {
	h := setup(t)
	engine := quick()
	engine.Limit = 1 // it never ends, and so nothing is given back
	n := h.node(engine, t.TempDir())
	// Two of the longest texts cost more than the other account may owe.
	_, _, err := h.Ledger.Credit(t.Context(), ledger.Credit{Account: h.keys["sk_b"], Kind: ledger.Adjustment, Key: "less",
		Amount: 30*billing.Cent - 5*usd})
	h.OK(err)
	for _, tt := range []struct {
		name, voice, key, body string
		status                 int
		code                   string
	}{
		{"no key", "F1", "", `{"text":"a","language":"en"}`, 401, "auth.missing_key"},
		{"no JSON", "F1", "sk_a", `{`, 400, "validation.invalid_request_format"},
		{"no text", "F1", "sk_a", `{"language":"en"}`, 400, "validation.invalid_request_format"},
		{"blank", "F1", "sk_a", `{"text":" ","language":"en"}`, 400, "validation.invalid_request_format"},
		{"a null character", "F1", "sk_a", `{"text":"a\u0000","language":"en"}`, 400, "validation.invalid_request_format"},
		{"a voice", "F9", "sk_a", `{"text":"a","language":"en"}`, 400, "validation.invalid_voice"},
		{"a voice that no database can hold", "%00F1", "sk_a", `{"text":"a","language":"en"}`, 400, "validation.invalid_voice"},
		{"no language", "F1", "sk_a", `{"text":"a"}`, 400, "validation.invalid_language"},
		{"a speed", "F1", "sk_a", `{"text":"a","language":"en","speed":3}`, 400, "validation.speed_out_of_range"},
		{"steps", "F1", "sk_a", `{"text":"a","language":"en","steps":9}`, 400, "validation.steps_out_of_range"},
		{"half steps", "F1", "sk_a", `{"text":"a","language":"en","steps":2.5}`, 400, "validation.steps_out_of_range"},
		{"a format", "F1", "sk_a", `{"text":"a","language":"en","output_format":"flac"}`, 400, "validation.invalid_request_format"},
		{"too long", "F1", "sk_a", `{"text":"` + strings.Repeat("é", 100_001) + `","language":"en"}`, 400, "validation.text_too_long"},
		{"far too long", "F1", "sk_a", `{"text":"` + strings.Repeat("a", maxBody) + `","language":"en"}`, 413, "request.too_large"},
		{"the first", "F1", "sk_b", `{"text":"` + strings.Repeat("a", 100_000) + `","language":"en"}`, 202, ""},
		{"the second", "F1", "sk_b", `{"text":"` + strings.Repeat("a", 100_000) + `","language":"en"}`, 402, "billing.insufficient_balance"},
	} {
		if r := n.ask("POST", "/api/tts/"+tt.voice+"/async", tt.key, tt.body); r.status != tt.status || r.Code != tt.code {
			t.Errorf("%s: %d %s %q; want %d %s", tt.name, r.status, r.Code, r.Detail, tt.status, tt.code)
		}
	}
	// The longest text, all of it escaped, is taken.
	r := n.ask("POST", "/api/tts/F1/async", "sk_a", `{"text":"`+strings.Repeat(`\ud83d\ude00`, 99_999)+`a","language":"en"}`)
	if r.status != 202 || r.View.Characters != 100_000 {
		t.Errorf("the longest text: %d %s %s", r.status, r.Code, r.Detail)
	}
	t.Setenv("PATH", "") // no ffmpeg
	r = n.ask("POST", "/api/tts/F1/async", "sk_a", `{"text":"a","language":"en","output_format":"mp3"}`)
	if r.status != 400 || !strings.Contains(r.Detail, "cannot write MP3") {
		t.Errorf("MP3: %d %s", r.status, r.Detail)
	}
}

func TestOthersSeeNothing(t *testing.T) {
	t.Parallel()
	h := setup(t)
	n := h.node(quick(), t.TempDir())
	path := n.submitted("One.", "wav")
	n.until("completed")
	for _, p := range []string{path, "/api/tts/tasks/task_none", "/api/tts/tasks/%00"} {
		for _, ask := range [][2]string{{"GET", p}, {"GET", p + "/download"}, {"DELETE", p}} {
			key := "sk_b"
			if p != path {
				key = "sk_a"
			}
			if r := n.ask(ask[0], ask[1], key, ""); r.status != 404 && !(strings.Contains(p, "%") && r.status == 400) {
				t.Errorf("%v: %d %s", ask, r.status, r.Code)
			}
		}
	}
}

func TestCancelling(t *testing.T) {
	t.Parallel()
	h := setup(t)
	engine := quick()
	engine.Limit = 1 // it says a bit, and then nothing until it is stopped
	n := h.node(engine, t.TempDir())
	var paths []string
	for i := range tasks.MaxTasks {
		paths = append(paths, n.submitted(fmt.Sprintf("Number %d is here.", i), "wav"))
	}
	r := n.ask("POST", "/api/tts/F1/async", "sk_a", `{"text":"a","language":"en"}`)
	if r.status != 429 || r.Code != "tts.session_limit_reached" || !r.Retryable || r.header.Get("Retry-After") == "" {
		t.Errorf("a sixth: %d %s", r.status, r.Code)
	}
	waitBusy(engine, workers)
	for i, path := range paths {
		if got := n.get(path); got.View.Status != "processing" && got.View.Status != "pending" || got.header.Get("Retry-After") != "3" {
			t.Errorf("waiting: %s", got.body)
		}
		if d := n.get(path + "/download"); d.status != 409 || d.Code != "task.not_ready" {
			t.Errorf("downloaded before it is there: %d %s", d.status, d.Code)
		}
		c := n.ask("DELETE", path, "sk_a", "")
		if want := fmt.Sprintf(`{"task_id":"%s","status":"canceled"}`, filepath.Base(path)); c.status != 200 || strings.TrimSpace(string(c.body)) != want {
			t.Errorf("cancelled: %d %s", c.status, c.body)
		}
		for _, method := range []string{"GET", "DELETE"} {
			if r := n.ask(method, path, "sk_a", ""); r.status != 404 {
				t.Errorf("%s when it is cancelled: %d", method, r.status)
			}
		}
		if i == 0 {
			paths = append(paths, n.submitted("Another one.", "wav")) // its place is free
			h.OK(tasks.New(h.DB).Cancel(t.Context(), h.A.Account, filepath.Base(paths[len(paths)-1])))
		}
		if i == tasks.MaxTasks-1 {
			break
		}
	}
	waitBusy(engine, 0) // the running ones are told at once
	if held, left := h.money(); held != 0 || left != 5*usd {
		t.Errorf("%s held, %s left", held, left)
	}
	n.stop()
	if files, _ := os.ReadDir(n.Dir()); len(files) != 0 {
		t.Errorf("left behind: %v", files)
	}
}

// A task that is cancelled elsewhere is noticed by whoever works on it.
func TestCancelledElsewhere(t *testing.T) {
	t.Parallel()
	h := setup(t)
	engine := quick()
	engine.Limit = 1
	n := h.node(engine, t.TempDir())
	path := n.submitted("One is here.", "wav")
	waitBusy(engine, 1)
	h.OK(tasks.New(h.DB).Cancel(t.Context(), h.A.Account, filepath.Base(path)))
	waitBusy(engine, 0)
}

// A node that stops gives its task back; its next life goes on at once.
func TestAStopIsNoAttempt(t *testing.T) {
	t.Parallel()
	h := setup(t)
	engine := quick()
	engine.Limit = 1
	dir := t.TempDir()
	first := h.node(engine, dir)
	path := first.submitted(threeSentences, "wav")
	waitBusy(engine, 1)
	first.stop()
	task, err := tasks.New(h.DB).Task(t.Context(), h.A.Account, filepath.Base(path))
	h.OK(err)
	if task.Status != tasks.Processing || task.Attempts != 0 || task.Claim != 1 {
		t.Errorf("given back: %+v", task)
	}
	second := h.node(quick(), dir)
	second.until("completed")
	if d := second.get(path + "/download"); d.status != http.StatusOK {
		t.Errorf("downloaded: %d", d.status)
	}
}

// A node that dies in the middle leaves its task to its next life. Even if it was
// not dead after all, the task is charged once and has one result.
func TestACrashIsTakenUp(t *testing.T) {
	t.Parallel()
	h := setup(t)
	engine := quick()
	engine.Limit = 1
	dir := t.TempDir()
	zombie := h.node(engine, dir)
	path := zombie.submitted(threeSentences, "wav")
	waitBusy(engine, 1)
	second := h.node(quick(), dir)
	second.until("completed")
	waitBusy(engine, 0) // it finds out
	if held, left := h.money(); held != 0 || left != 5*usd-costs(40) {
		t.Errorf("%s held, %s left", held, left)
	}
	if d := second.get(path + "/download"); d.status != http.StatusOK {
		t.Errorf("downloaded: %d", d.status)
	}
	zombie.stop()
	if d := second.get(path + "/download"); d.status != http.StatusOK {
		t.Errorf("downloaded after the zombie's end: %d", d.status)
	}
}

// Pages of any site may use the routes.
func TestPagesMayAsk(t *testing.T) {
	t.Parallel()
	h := setup(t)
	n := h.node(quick(), t.TempDir())
	for _, path := range []string{"/api/tts/F1/async", "/api/tts/tasks/task_01", "/api/tts/tasks/task_01/download", "/api/tts/tasks/async"} {
		if r := n.ask("OPTIONS", path, "", ""); r.status != http.StatusNoContent || r.header.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s: %d", path, r.status)
		}
	}
}

// Where nodes share their files each serves what another has made, and what has expired goes.
func TestResultsInABucket(t *testing.T) {
	t.Parallel()
	h := setup(t)
	server := blobtest.Start(t)
	l, err := blob.Parse(server.URL("parley"))
	h.OK(err)
	h.storage, err = l.Open(blob.Access{Key: blobtest.Key, Secret: blobtest.Secret}, "tasks")
	h.OK(err)
	first := h.node(quick(), t.TempDir())
	path := first.submitted(threeSentences, "wav")
	first.until("completed")
	want := []string{"parley/tasks/" + filepath.Base(path) + ".1.wav"}
	if got := server.Keys(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if left, _ := os.ReadDir(first.Dir()); len(left) != 0 {
		t.Errorf("on the disk are %v", left)
	}
	first.stop()
	second := h.node(quick(), t.TempDir())
	d := second.get(path + "/download")
	if d.status != http.StatusOK || string(d.body[:4]) != "RIFF" || d.header.Get("Content-Length") != strconv.Itoa(len(d.body)) {
		t.Errorf("downloaded from another node: %d %v", d.status, d.header)
	}
	if d := second.ask("GET", path+"/download", "sk_b", ""); d.status != http.StatusNotFound {
		t.Errorf("somebody else: %d", d.status)
	}
	server.Refuse(http.StatusServiceUnavailable)
	if d := second.get(path + "/download"); d.status != http.StatusServiceUnavailable || d.Code != "service.unavailable" {
		t.Errorf("while the bucket is away: %d %s", d.status, d.Code)
	}
	server.Refuse(0)
	second.removeExpired(t.Context(), time.Now().Add(resultLife))
	if got := server.Keys(); !slices.Equal(got, want) {
		t.Errorf("after a day: %q", got)
	}
	second.removeExpired(t.Context(), time.Now().Add(resultLife+2*sweepEvery))
	if got := server.Keys(); len(got) != 0 {
		t.Errorf("later: %q", got)
	}
}
