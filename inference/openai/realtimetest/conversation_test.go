package realtimetest

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"parley/inference/enginetest/loopbacktest"
)

const (
	detects = `{"type":"server_vad","silence_duration_ms":400}`
	booking = `,"tools":[{"type":"function","name":"book","description":"Books a table.","parameters":{"type":"object","properties":{"day":{"type":"string"}}}}]`
	ask     = `{"type":"response.create"}`
)

// dinner is a caller who is answered twice, then by a function, and then again and again.
var dinner = ConversationScript{
	Utterances: []Utterance{{Text: "Good evening.", Length: 500 * ms}, {Text: "A table, please.", Length: 700 * ms}},
	Replies: []Reply{{Text: "Hello there.", Length: 300 * ms}, {Text: "For when?"},
		{Text: "I look.", Calls: []Call{{Name: "book", Arguments: `{"day":"fri"}`}}}, {Text: "Done."}},
}

// held is dinner, with replies that stop after their first piece.
func held() ConversationScript {
	s := dinner
	s.Pace.Piece = func() time.Duration { return time.Hour }
	return s
}

// call is dinner from the function on.
func call() ConversationScript {
	s := dinner
	s.Replies = s.Replies[2:]
	return s
}

func TestTheCallerIsAnswered(t *testing.T) {
	s := NewConversation(t, dinner)
	c := talking(t, s, detects, "")
	c.Say(500 * ms)
	c.Hush(400 * ms)
	list := c.Until("response.done")
	loopbacktest.Same(t, loopbacktest.Shorts(list), "speech_started", "speech_stopped", "committed", "item.added", "item.done", "created", "rate_limits.updated",
		"output_item.added", "item.added", "content_part.added", "output_audio_transcript.delta Hello", "output_audio.delta",
		"output_audio_transcript.delta  there.", "output_audio.delta", "output_audio.delta", "output_audio.delta", "output_audio.done", "output_audio_transcript.done Hello there.",
		"content_part.done", "item.done", "output_item.done", "response.done completed")
	if list[8].Previous != list[2].Item || list[3].Object.Role != user || list[8].Object.Role != assistant || list[11].Item != list[8].Object.ID {
		t.Errorf("items %+v", list)
	}
	r := list[len(list)-1].Response
	if u := r.Usage; u.Details.Audio != 9 || u.Details.Text != 4 || u.Details.Cached != 0 || u.OutDetails.Audio != 6 || u.OutDetails.Text != 3 || u.In != 13 || u.Out != 9 || len(r.Output) != 1 {
		t.Errorf("%+v", r)
	}
	c.Say(700 * ms)
	c.Hush(400 * ms)
	list = c.Until("response.done completed")
	u := list[len(list)-1].Response.Usage
	if u.Details.Cached != 13 || u.In != 13+6+11 {
		t.Errorf("%+v", u)
	}
	if b := s.Books(); b.Requests != 2 || b.TokensIn+b.CacheRead != 43 || b.CacheRead != 13 || b.AudioTokensIn+b.AudioCacheRead != 35 || b.TokensOut != 9+u.Out {
		t.Errorf("%+v", b)
	}
	if got := s.Responses(); len(got) != 2 || got[0].Text != "Hello there." || got[0].Audio != 300*ms || got[0].Voice != "cedar" || got[0].Instructions != "Be brief." {
		t.Errorf("%+v", got)
	}
}

func TestTheClientAsks(t *testing.T) {
	s := NewConversation(t, call())
	c := talking(t, s, "null", booking)
	c.Say(500 * ms)
	c.commit()
	loopbacktest.Same(t, loopbacktest.Shorts(c.Until("item.done")), "committed", "item.added", "item.done")
	c.Text(`{"type":"response.create","response":{"instructions":"Look first.","metadata":{"a":"b"}}}`)
	list := c.Until("response.done")
	loopbacktest.Same(t, loopbacktest.Shorts(list[len(list)-9:]), "output_item.done", "output_item.added", "item.added", `function_call_arguments.delta {"day"`,
		`function_call_arguments.delta :"fri"}`, "function_call_arguments.done", "item.done", "output_item.done", "response.done completed")
	if r := s.Responses()[0]; r.Instructions != "Look first." || len(r.Tools) != 1 || r.Tools[0] != "book" || r.Text != "I look." {
		t.Errorf("%+v", r)
	}
}

func TestTheCallerInterrupts(t *testing.T) {
	s := NewConversation(t, held())
	c := talking(t, s, detects, "")
	c.Say(500 * ms)
	c.Hush(400 * ms)
	said := c.Until("output_audio.delta")
	item := said[len(said)-1].Item
	c.Say(40 * ms)
	list := c.Until("response.done")
	loopbacktest.Same(t, loopbacktest.Shorts(list), "speech_started", "output_audio.done", "output_audio_transcript.done Hello", "content_part.done", "item.done",
		"output_item.done", "response.done cancelled turn_detected")
	if i := list[4].Object; i.Status != incomplete || list[6].Response.Usage.OutDetails.Audio != 2 {
		t.Errorf("%+v, %+v", i, list[6].Response.Usage)
	}
	c.Text(`{"type":"response.cancel"}`) // too late, but no mistake
	c.Text(fmt.Sprintf(`{"type":"conversation.item.truncate","item_id":%q,"content_index":0,"audio_end_ms":60}`, item))
	loopbacktest.Same(t, loopbacktest.Shorts(c.Until("item.truncated")), "error response_cancel_not_active", "item.truncated")
	for _, i := range s.Items() {
		if i.ID == item && (i.Audio != 60*ms || i.Text != "") {
			t.Errorf("%+v", i)
		}
	}
	if b := s.Books(); b.Cancels != 0 || b.Requests != 1 {
		t.Errorf("%+v", b)
	}
}

func TestTheClientCancels(t *testing.T) {
	script := held()
	script.Expects = []string{"active response in progress"}
	s := NewConversation(t, script)
	c := talking(t, s, "null", "")
	c.Text(ask)
	id := c.Until("created")[0].Response.ID
	c.Until("output_audio.delta")
	c.Text(ask)
	c.Text(`{"type":"response.cancel","response_id":"resp_1"}`)
	c.Text(fmt.Sprintf(`{"type":"response.cancel","response_id":%q}`, id))
	list := c.Until("response.done")
	loopbacktest.Same(t, loopbacktest.Shorts(list[:2]), "error conversation_already_has_active_response", "error response_cancel_not_active")
	if r := list[len(list)-1].Response; r.ID != id || r.Details.Reason != "client_cancelled" || r.Usage == nil {
		t.Errorf("%+v", r)
	}
	c.Text(ask) // the session goes on
	c.Until("output_audio.delta")
	if b := s.Books(); b.Cancels != 1 || b.AudioTokensOut != 2 {
		t.Errorf("%+v", b)
	}
}

// TestResponsesEnd: how they end otherwise.
func TestResponsesEnd(t *testing.T) {
	s := NewConversation(t, ConversationScript{Replies: []Reply{{End: "insufficient_quota"}, {Text: "Well,", End: "content_filter"}, {Text: "A long story."}, {}}})
	c := talking(t, s, "null", `,"max_output_tokens":9`)
	for _, want := range []string{"failed insufficient_quota", "incomplete content_filter", "incomplete max_output_tokens", "completed"} {
		c.Text(ask)
		c.Until("response.done " + want)
	}
	if got := s.Responses(); got[2].Audio != 320*ms || got[3].Item != "" || got[0].Usage != (Usage{}) {
		t.Errorf("%+v", got)
	}
}

// TestPausesDoNotEndTurns: semantic_vad waits for what its caller has begun to say.
func TestPausesDoNotEndTurns(t *testing.T) {
	s := NewConversation(t, ConversationScript{Utterances: []Utterance{{Text: "I want a table.", Length: 2000 * ms, Pauses: []Pause{{After: 2, Length: 1000 * ms}}}}})
	c := talking(t, s, `{"type":"semantic_vad","eagerness":"low","interrupt_response":false}`, `,"output_modalities":["text"]`)
	c.Say(500 * ms)
	c.Hush(1000 * ms)
	c.Say(500 * ms)
	c.Hush(240 * ms)
	list := c.Until("response.done completed")
	if list[1].Type != "input_audio_buffer.speech_stopped" || list[1].End != 2200 {
		t.Errorf("%+v", list[1])
	}
	loopbacktest.Same(t, loopbacktest.Shorts(list[len(list)-5:]), "output_text.done", "content_part.done", "item.done", "output_item.done", "response.done completed")
}

// TestTranscripts: they come before what answers them.
func TestTranscripts(t *testing.T) {
	s := NewConversation(t, dinner)
	c := dial(t, s.server, talks, header(s.Key))
	c.Text(strings.Replace(spoken8(detects, ""), `"turn_detection"`, `"transcription":{"model":"whisper-1"},"turn_detection"`, 1))
	c.Say(500 * ms)
	c.Hush(400 * ms)
	list := c.Until("created")
	loopbacktest.Same(t, loopbacktest.Shorts(list[len(list)-4:]), "delta Good", "delta  evening.", "completed Good evening.", "created")
	c.Until("response.done")
	if b := s.Books(); b.Requests != 1 || b.TokensOut != 9 {
		t.Errorf("transcripts are in the books: %d requests, %d tokens", b.Requests, b.TokensOut)
	}
}

func TestConversationsAreRefused(t *testing.T) {
	beta := header(DefaultKey)
	beta.Set("OpenAI-Beta", "realtime=v1")
	for _, tt := range []struct {
		path   string
		header http.Header
		code   string
		says   string // a violation
	}{
		{"/v1/realtime", header(DefaultKey), "missing_model", "must provide a model"},
		{"/v1/realtime?model=gpt-4o", header(DefaultKey), "invalid_model", "not supported in realtime mode"},
		{talks + "&intent=transcription", header(DefaultKey), "invalid_model", "not supported in realtime mode"},
		{talks, beta, "beta_api_shape_disabled", "Beta"},
	} {
		s := NewConversation(t, ConversationScript{Expects: []string{tt.says}})
		list := dial(t, s.server, tt.path, tt.header).Closed(4000, "invalid_request_error."+tt.code)
		loopbacktest.Same(t, loopbacktest.Shorts(list), "error "+tt.code)
	}
}

func TestFatalErrors(t *testing.T) {
	for reason, text := range map[string]string{
		"insufficient_quota": "insufficient_quota.insufficient_quota", "account_deactivated": "invalid_request_error.account_deactivated",
		"invalid_api_key": "invalid_request_error.invalid_api_key", "billing_hard_limit_reached": "invalid_request_error.billing_hard_limit_reached",
	} {
		s := NewConversation(t, ConversationScript{Faults: []Fault{{AfterMessages: 1, Then: loopbacktest.Fail, Reason: reason}}})
		list := dial(t, s.server, talks, header(s.Key)).Closed(4000, text)
		loopbacktest.Same(t, loopbacktest.Shorts(list), "session.created", "error "+reason)
		s = NewConversation(t, ConversationScript{Faults: []Fault{{Status: 429, Reason: reason}}})
		body, err := io.ReadAll(loopbacktest.Refused(t, s.Server, talks, header(s.Key)).Body)
		if err != nil || !strings.Contains(string(body), reason) {
			t.Errorf("%s: %s, %v", reason, body, err)
		}
	}
	s := NewConversation(t, ConversationScript{Lifetime: 50 * ms})
	list := dial(t, s.server, talks, header(s.Key)).Closed(1001, "maximum duration of 60 minutes")
	loopbacktest.Same(t, loopbacktest.Shorts(list), "session.created", "error session_expired")
}

func TestFaultsOfConversations(t *testing.T) {
	loopbacktest.TestFaults(t, 2, 1011, func(t *testing.T, f Fault) *websocket.Conn {
		s := NewConversation(t, ConversationScript{Faults: []Fault{f}})
		return play(t, s.server, talks, spoken8("null", ""), ask)
	})
}

func TestNothingOfConversationsIsLeft(t *testing.T) {
	s := loopbacktest.TestNothingIsLeft(t, 20, StartConversation, held(), func(s *Conversation, _ int) io.Closer {
		c := talking(t, s, "null", "")
		c.Text(ask)
		c.Until("output_audio.delta")
		return c.Conn
	})
	for _, r := range s.Responses() {
		if r.Status != "cut" || r.Audio != 80*ms {
			t.Errorf("%+v", r)
		}
	}
}
