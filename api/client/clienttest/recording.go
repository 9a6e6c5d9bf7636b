package clienttest

import "net/http"

// Recorded is a call that was recorded, and its recording as Ogg and as WAV.
const (
	Recorded     = "ses_recorded"
	RecordingOgg = "OggS, the whole call"
	RecordingWAV = "RIFF, the whole call"
)

func callRecording(w http.ResponseWriter, r *http.Request) {
	if r.PathValue("id") != Recorded {
		answer(w, http.StatusNotFound, unknown)
		return
	}
	kind, text := "audio/ogg", RecordingOgg
	if r.URL.Query().Get("format") == "wav" {
		kind, text = "audio/wav", RecordingWAV
	}
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write([]byte(text)) // the client has gone
}
