package calls_test

import (
	"parley/store/history"

	"encoding/json"
	"reflect"
	"testing"
)

// TestWords: when words were said, where the agent was cut off, and the points of a turn
// are answered as they were stored; a call of before they were kept has none.
func TestWords(t *testing.T) {
	o := open(t)
	said := func(c history.Conversation) (transcript, turns any) {
		t.Helper()
		s := o.start(o.A, inbound, began)
		o.OK(history.New(o.DB).SaveConversation(t.Context(), o.A.Account, s.ID, c))
		var answer struct{ Transcript, Turns any }
		o.Read(o.A, "/v1/calls/"+s.ID, &answer)
		return answer.Transcript, answer.Turns
	}
	value := func(text string) (v any) {
		t.Helper()
		o.OK(json.Unmarshal([]byte(text), &v))
		return v
	}
	const turn = `"turn":1,"generation":2,"at_ms":4000,"endpoint_ms":400,"model_ms":300,"voice_ms":100,"total_ms":800`
	const points = `,"points":{"speech_end_ms":3200,"final_text_ms":null,"first_token_ms":-20,"first_sentence_ms":710,"first_audio_ms":795,"first_packet_ms":800}`
	lines, turns := said(history.Conversation{
		Transcript: []history.TranscriptLine{
			{Role: "user", Text: "¿Abren\x00?", AtMS: 3150, Estimated: true, Words: []history.SpokenWord{{Text: "¿Abren\x00?", StartMS: 2100, EndMS: 2900}}},
			{Role: "agent", Text: "Sí,", AtMS: 4100, Words: []history.SpokenWord{{Text: "Sí,", StartMS: 3900, EndMS: 4000}}, Interruption: &history.Interruption{AtMS: 4100, Unheard: "a las\x00 ocho."}}},
		Turns: json.RawMessage("[{" + turn + points + "}]")})
	if want := value(`[{"role":"user","text":"¿Abren?","at":3.15,"words":[{"text":"¿Abren?","start_ms":2100,"end_ms":2900}],"words_estimated":true},
		{"role":"agent","text":"Sí,","at":4.1,"words":[{"text":"Sí,","start_ms":3900,"end_ms":4000}],"interrupted":{"at_ms":4100,"unheard":"a las ocho."}}]`); !reflect.DeepEqual(lines, want) {
		t.Errorf("%v, want %v", lines, want)
	}
	if want := value("[{" + turn + points + "}]"); !reflect.DeepEqual(turns, want) {
		t.Errorf("%v, want %v", turns, want)
	}
	lines, turns = said(history.Conversation{Transcript: []history.TranscriptLine{{Role: "user", Text: "Hola", AtMS: 1}}, Turns: json.RawMessage("[{" + turn + "}]")})
	if !reflect.DeepEqual(lines, value(`[{"role":"user","text":"Hola","at":0.001}]`)) || !reflect.DeepEqual(turns, value("[{"+turn+"}]")) {
		t.Errorf("%v, %v", lines, turns)
	}
}
