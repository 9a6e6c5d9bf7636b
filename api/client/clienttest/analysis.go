package clienttest

import (
	"encoding/json"
	"net/http"

	"parley/api/wire"
)

// Analyzed is a call that was analyzed, as the server shows it.
const (
	Analyzed     = "ses_analyzed"
	AnalyzedText = `{"id":"ses_analyzed","agent_id":"ag_1","agent_version":7,"direction":"inbound","from":"+34612345678","to":"+34911234567","status":"ended",` +
		`"created_at":"2026-03-01T12:00:00Z","answered_at":"2026-03-01T12:00:01Z","ended_at":"2026-03-01T12:01:02Z","duration":61,"end_reason":"user_hangup",` +
		`"end_detail":null,"cost":0.12,"answered_by":null,"verstat":null,"attestation":"A","headers":{"X-Customer-Id":"42"},"origin":{"diverted_by":"+34911234569"},"mos":null,"deleted_at":null,"turns":[{"turn":1,"generation":2,"at_ms":2600,"endpoint_ms":200,"model_ms":150,"voice_ms":80,"total_ms":440,` +
		`"points":{"speech_end_ms":2160,"final_text_ms":120,"first_token_ms":null,"first_sentence_ms":360,"first_audio_ms":430,"first_packet_ms":440}}],` +
		`"transcript":[{"role":"agent","text":"Hello.","at":0.5,"words":[{"text":"Hello.","start_ms":120,"end_ms":480}],"words_estimated":true,` +
		`"interrupted":{"at_ms":500,"unheard":"How are you?"}},{"role":"user","text":"Friday, please.","at":2}],` +
		`"functions":[{"id":"call_1_1","name":"order","arguments":"{\"id\":7}","run_by":"server","turn":1,"start_ms":900,"end_ms":1150,"outcome":"ok","result":"on its way"},` +
		`{"id":"call_1_2","name":"look","arguments":"","run_by":"client","turn":1,"start_ms":2500,"end_ms":null,"outcome":null,"result":null}],` +
		`"engines":{"asr":["pocketsphinx"],"llm":["openai","scripted"],"tts":["espeak"]},` +
		`"analysis":{"state":"failed","reason":"answer","detail":"data.day: is missing","summary":"They come\non Friday.","data":{"day":"Friday"},"done_at":"2026-03-01T12:02:00Z"}}`
)

func oneCall(w http.ResponseWriter, r *http.Request) {
	if r.PathValue("id") != Analyzed {
		answer(w, http.StatusNotFound, unknown)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte(AnalyzedText)) // the client has gone
}

// keepWithCall answers with what it was sent, on a call that had nothing.
func (s *Server) keepWithCall(w http.ResponseWriter, r *http.Request) {
	if r.PathValue("id") != Analyzed {
		answer(w, http.StatusNotFound, unknown)
		return
	}
	var change wire.CallChange
	var call wire.CallSummary
	if json.NewDecoder(r.Body).Decode(&change) != nil || json.Unmarshal([]byte(AnalyzedText), &call) != nil {
		answer(w, http.StatusBadRequest, Problem{http.StatusBadRequest, "validation.invalid_request_format", "No.", false, ""})
		return
	}
	call.Metadata, call.Note = change.Metadata.Apply(wire.Metadata{"old": "x"}), change.Note
	if change.Tags != nil {
		call.Tags = *change.Tags
	}
	answer(w, http.StatusOK, call)
}

// forgetCall keeps what it has: deleting again changes nothing.
func forgetCall(w http.ResponseWriter, r *http.Request) {
	if r.PathValue("id") != Analyzed {
		answer(w, http.StatusNotFound, unknown)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
