package clienttest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
	"unicode/utf8"
)

// task is a synthesis in the background: each look brings it half further.
type task struct {
	order
	looks int
	fail  bool
}

// StickTasks keeps tasks in the middle: they end only by being cancelled.
func (s *Server) StickTasks() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stuck = true
}

func (s *Server) submit(w http.ResponseWriter, r *http.Request) {
	var o order
	err := json.NewDecoder(r.Body).Decode(&o)
	o.Voice = r.PathValue("voice")
	if p := o.fault(100_000); err != nil || p != nil {
		answer(w, 400, p)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if o.Format == "" {
		o.Format = "wav"
	}
	id := fmt.Sprintf("task_%d", len(s.tasks)+1)
	t := &task{order: o, fail: o.Text == "fail"}
	s.tasks[id] = t
	answer(w, http.StatusAccepted, t.view(id))
}

// submitted is when all tasks were.
var submitted = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// view is what clients see of a task.
func (t *task) view(id string) map[string]any {
	v := map[string]any{"task_id": id, "status": t.status(), "progress": 50 * t.looks, "output_format": t.Format, "voice_id": t.Voice,
		"language": t.Language, "characters": utf8.RuneCountInString(t.Text), "created_at": submitted,
		"completed_at": nil, "expires_at": nil, "duration_seconds": nil, "error": nil}
	switch t.status() {
	case "completed":
		v["completed_at"], v["expires_at"], v["duration_seconds"] = submitted, submitted.Add(24*time.Hour), 0.25
	case "failed":
		v["error"] = map[string]string{"code": "tts.synthesis_failed", "message": "The text could not be spoken."}
	}
	return v
}

// find returns a task, or nil after an answer that there is none. The caller holds
// the lock.
func (s *Server) findLocked(w http.ResponseWriter, r *http.Request) *task {
	t := s.tasks[r.PathValue("id")]
	if t == nil {
		answer(w, 404, Problem{Code: "request.not_found", Error: "There is no such thing."})
	}
	return t
}

func (t *task) status() string {
	switch {
	case t.looks == 0:
		return "pending"
	case t.looks < 2:
		return "processing"
	case t.fail:
		return "failed"
	}
	return "completed"
}

func (s *Server) look(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.findLocked(w, r)
	if t == nil {
		return
	}
	if t.looks < 2 && !(s.stuck && t.looks == 1) {
		t.looks++
	}
	w.Header().Set("Retry-After", "3")
	answer(w, 200, t.view(r.PathValue("id")))
}

// kinds are the media types of the formats.
var kinds = map[string]string{"wav": "audio/wav", "mp3": "audio/mpeg", "pcm": "audio/pcm", "ulaw": "audio/basic"}

func (s *Server) download(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.findLocked(w, r)
	switch {
	case t == nil:
	case t.status() != "completed":
		answer(w, 409, Problem{Code: "task.not_ready", Error: "The task has no result."})
	default:
		sound := append([]byte(t.Format+":"), PCM(t.Text)...)
		if t.Format == "wav" {
			sound = WAV(t.Text)
		}
		w.Header().Set("Content-Type", kinds[t.Format])
		w.Header().Set("X-Audio-Duration-Seconds", "0.250")
		w.Header().Set("Content-Disposition", `attachment; filename="`+r.PathValue("id")+"."+t.Format+`"`)
		_, _ = w.Write(sound)
	}
}

func (s *Server) cancel(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.findLocked(w, r)
	switch {
	case t == nil:
	case t.looks == 2:
		answer(w, 409, Problem{Code: "task.ended", Error: "The task has ended already."})
	default:
		delete(s.tasks, r.PathValue("id"))
		answer(w, 200, map[string]string{"task_id": r.PathValue("id"), "status": "canceled"})
	}
}
