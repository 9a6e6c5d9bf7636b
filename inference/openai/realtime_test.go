package openai

import (
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/inference"
	"parley/inference/duplex"
	"parley/inference/enginetest"
	"parley/inference/enginetest/loopbacktest"
	"parley/inference/openai/realtimetest"
	"parley/inference/remote"
)

func speaking(t *testing.T, script realtimetest.ConversationScript) (*realtimetest.Conversation, *duplex.Engine) {
	t.Helper()
	script.Utterances = enginetest.AskedOften()
	s := realtimetest.NewConversation(t, script)
	e, err := NewRealtime(remote.Engine{BaseURL: s.URL + "/v1", APIKey: s.Key, Model: "gpt-realtime-2.1"})
	if err != nil {
		t.Fatal(err)
	}
	return s, e
}

// vendor is OpenAI.
func vendor(t *testing.T, replies []realtimetest.Reply, faults []realtimetest.Fault) enginetest.RealtimeVendor {
	s, e := speaking(t, realtimetest.ConversationScript{Replies: replies, Faults: faults})
	return enginetest.RealtimeVendor{Realtime: e, Key: s.Key, Last: inference.RealtimeDone,
		Used: func() (sum inference.Usage) {
			for _, r := range s.Responses() {
				u := r.Usage
				sum = sum.Plus(inference.Usage{In: u.TextIn, AudioIn: u.AudioIn, Cached: u.TextCached, AudioCached: u.AudioCached, Out: u.TextOut, AudioOut: u.AudioOut})
			}
			return sum
		},
		History: func() (list []string) {
			if r := s.Responses()[0]; !strings.HasPrefix(r.Instructions, "Be brief.") || !strings.HasSuffix(r.Instructions, "Say hello.") {
				t.Errorf("instructions %q", r.Instructions)
			}
			for _, i := range s.Items() {
				list = append(list, i.Type+" "+i.Role+i.Call+" "+i.Text)
			}
			return list
		},
		Asked: func(t *testing.T) {
			all := s.Responses()
			if len(all) != 2 || !strings.HasPrefix(all[0].Instructions, "Be kind.") || !slices.Equal(all[0].Tools, []string{"hours"}) || all[0].Voice != "marin" {
				t.Errorf("%+v", all)
			}
		},
	}
}

func TestRealtimeSuite(t *testing.T) {
	t.Parallel()
	pace := realtimetest.Pace{Piece: func() time.Duration { return 20 * time.Millisecond }}
	s, e := speaking(t, realtimetest.ConversationScript{Replies: []realtimetest.Reply{{Text: "Once upon a time there was a baker.", Length: 2 * time.Second}}, Pace: pace})
	enginetest.TestRealtime(t, e, enginetest.RealtimeOptions{Busy: s.Busy})
}

func TestRealtimeConversation(t *testing.T) {
	t.Parallel()
	enginetest.TestRealtimeConversation(t, vendor)
}

func TestRealtimeHistory(t *testing.T) {
	t.Parallel()
	enginetest.TestRealtimeHistory(t, vendor,
		"message user Are you open?", "message assistant Let me …", "function_call call_1 {}", "function_call_output call_1 yes", "message assistant Yes, I can help.")
}

// TestRealtimeInterrupted: a reply is cut to what was heard and never beyond what came, whatever is asked; the next one is
// whole. One that is to begin meanwhile waits for its turn.
func TestRealtimeInterrupted(t *testing.T) {
	t.Parallel()
	pace := realtimetest.Pace{Piece: func() time.Duration { return 50 * time.Millisecond }}
	server, e := speaking(t, realtimetest.ConversationScript{Pace: pace, Replies: []realtimetest.Reply{{Text: "A long story follows.", Length: 3 * time.Second}, {Text: "Sorry?", Length: 200 * time.Millisecond}}})
	s := enginetest.Talk(t, e)
	s.Reply("")
	item := enginetest.Until(t, s, inference.RealtimeAudio)[0].Item
	s.Reply("") // while OpenAI speaks
	enginetest.Until(t, s, inference.RealtimeAudio)
	s.Interrupt(item)
	s.Truncate(item, time.Hour)
	s.Truncate(item, 120*time.Millisecond)
	s.Truncate(item, time.Second)
	s.Truncate("nobody's", 0)
	if end := enginetest.Until(t, s, inference.RealtimeDone); end[len(end)-1].Item != item || end[len(end)-1].Usage.AudioOut == 0 {
		t.Errorf("%+v", end)
	}
	next := enginetest.Until(t, s, inference.RealtimeDone)
	if next[0].Kind != inference.RealtimeReply || next[0].Item == item {
		t.Errorf("%+v", next[0])
	}
	all := server.Responses()
	if len(all) != 2 || all[0].Status != "cancelled" || all[1].Status != "completed" {
		t.Fatalf("%+v", all)
	}
	for _, i := range server.Items() {
		if i.ID == all[0].Item && i.Audio != 120*time.Millisecond {
			t.Errorf("of the first %v is left", i.Audio)
		}
	}
}

// TestRealtimeOwnTurns: the call may find the ends of turns.
func TestRealtimeOwnTurns(t *testing.T) {
	t.Parallel()
	server := realtimetest.NewConversation(t, realtimetest.ConversationScript{Utterances: enginetest.AskedOften()})
	e, err := NewRealtime(remote.Engine{BaseURL: server.URL + "/v1", APIKey: server.Key, Options: inference.Options(`{"turn_detection": null, "noise_reduction": "near_field"}`)})
	if err != nil || e.Info().Caps.Turns {
		t.Fatalf("%+v, %v", e.Info(), err)
	}
	s := enginetest.Talk(t, e)
	enginetest.Speak(s)
	s.Commit()
	if list := enginetest.Until(t, s, inference.RealtimeDone); list[0].Kind != inference.RealtimeHeard || list[0].Text != enginetest.AskedOften()[0].Text {
		t.Errorf("%+v", list[0])
	}
}

func TestRealtimeRefused(t *testing.T) {
	t.Parallel()
	enginetest.TestRealtimeFaults(t, vendor, map[realtimetest.Fault]inference.Fault{
		{Status: http.StatusUnauthorized}:                                      inference.ErrRefused,
		{Status: http.StatusTooManyRequests, RetryAfter: time.Second}:          inference.ErrUnavailable,
		{Status: http.StatusInternalServerError}:                               inference.ErrFailed,
		{AfterMessages: 2, Then: loopbacktest.Cut}:                             inference.ErrFailed,
		{AfterMessages: 2, Then: loopbacktest.Invalid}:                         inference.ErrFailed,
		{AfterMessages: 2, Then: loopbacktest.Huge}:                            inference.ErrFailed,
		{AfterMessages: 2, Then: loopbacktest.Fail, Reason: "session_expired"}: inference.ErrFailed,
		{AfterMessages: 3, Then: loopbacktest.Unknown}:                         0,
		{AfterMessages: 3, Then: loopbacktest.Nulls}:                           0,
	})
}

// TestRealtimeReplyFails: a reply that fails says why.
func TestRealtimeReplyFails(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]inference.Fault{"insufficient_quota": inference.ErrRefused, "rate_limit_exceeded": inference.ErrUnavailable, "server_error": inference.ErrFailed} {
		_, e := speaking(t, realtimetest.ConversationScript{Replies: []realtimetest.Reply{{End: code}}})
		s := enginetest.Talk(t, e)
		s.Reply("")
		var last inference.RealtimeEvent
		for last = range s.Events() {
		}
		if inference.FaultOf(last.Err) != want {
			t.Errorf("%s: %v", code, last.Err)
		}
	}
}

// TestRealtimeErrors: an error to what was truncated, cancelled or committed leaves the session as it is, one to its settings
// or of the account does not.
func TestRealtimeErrors(t *testing.T) {
	for _, tt := range []struct {
		code, event string
		want        inference.Fault
	}{
		{"invalid_value", "", 0},
		{"response_cancel_not_active", "", 0},
		{"input_audio_buffer_commit_empty", "", 0},
		{"conversation_already_has_active_response", replyEvent, 0},
		{"invalid_value", replyEvent, inference.ErrFailed},
		{"invalid_value", firstEvent, inference.ErrRefused},
		{"session_expired", "", inference.ErrFailed},
		{"insufficient_quota", "", inference.ErrRefused},
		{"account_deactivated", "", inference.ErrRefused},
	} {
		c, _ := offline(t)
		c.Reply("")
		text, _ := json.Marshal(object{"type": "error", "error": object{"code": tt.code, "event_id": tt.event, "message": "secret"}})
		err := c.Read(text)
		if inference.FaultOf(err) != tt.want || err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%+v: %v", tt, err)
		}
	}
}

// line keeps what a connection sends and reports.
type line struct {
	sent   []string
	events []inference.RealtimeEvent
}

func (l *line) Send(message any) { l.sent = append(l.sent, message.(object)["type"].(string)) }

func (l *line) Emit(e inference.RealtimeEvent) { l.events = append(l.events, e) }

// offline is a connection without a server.
func offline(t *testing.T) (*conversation, *line) {
	t.Helper()
	cl, err := newClient("m", remote.Engine{BaseURL: "http://127.0.0.1:1/v1"})
	if err != nil {
		t.Fatal(err)
	}
	l := &line{}
	v := &realtime{client: cl, voices: realtimeVoices}
	return v.Connect(l).(*conversation), l
}

// TestRealtimeLateWords: a reply is reported after the words that it answers, which come in any order, or not at all.
func TestRealtimeLateWords(t *testing.T) {
	c, l := offline(t)
	read := func(messages ...string) {
		t.Helper()
		for _, m := range messages {
			if err := c.Read([]byte(m)); err != nil {
				t.Fatal(err)
			}
		}
	}
	texts := func() (list []string) {
		for _, e := range l.events {
			list = append(list, strings.TrimSpace(string('0'+rune(e.Kind))+" "+e.Text))
		}
		return list
	}
	read(`{"type":"input_audio_buffer.committed","item_id":"i1"}`, `{"type":"response.created","response":{"id":"r1"}}`,
		`{"type":"response.output_audio_transcript.delta","response_id":"r1","delta":"Hello."}`)
	read(`{"type":"input_audio_buffer.committed","item_id":"i2"}`, `{"type":"conversation.item.input_audio_transcription.completed","item_id":"i2","transcript":" two "}`,
		`{"type":"conversation.item.input_audio_transcription.delta","item_id":"i1","delta":"one"}`)
	if len(l.events) != 0 {
		t.Fatalf("%v is reported before the words", texts())
	}
	wait, err := c.Due(time.Now())
	if err != nil || wait <= 0 || wait > wordsWait {
		t.Errorf("%v, %v", wait, err)
	}
	c.Due(time.Now().Add(wordsWait))
	if got, want := texts(), []string{"2 one", "3", "5 Hello.", "2 two"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if !slices.Equal(l.sent, []string{"response.create"}) {
		t.Errorf("sent %v: the second turn is answered after the first", l.sent)
	}
	read(`{"type":"response.done","response":{"id":"r1","status":"completed"}}`, `{"type":"input_audio_buffer.committed","item_id":"i3"}`)
	if len(l.sent) != 2 {
		t.Errorf("sent %v", l.sent)
	}
	if _, err := c.Due(time.Now().Add(replyStall)); !errors.Is(err, inference.ErrStalled) {
		t.Errorf("a reply that does not come: %v", err)
	}
	c.current = nil
	c.Due(time.Now().Add(wordsWait))
	if last := l.events[len(l.events)-1]; last.Text != duplex.Inaudible {
		t.Errorf("%+v", last)
	}
}

func TestRealtimeConfig(t *testing.T) {
	for options, want := range map[string]string{
		`{"colour": 1}`: "options",
		`{"turn_detection": {"type": "telepathy"}}`:  "turn_detection",
		`{"turn_detection": "server_vad"}`:           "turn_detection",
		`{"turn_detection": {"type": "server_vad"}}`: "",
	} {
		_, err := NewRealtime(remote.Engine{Name: "live", BaseURL: "http://127.0.0.1:1/v1", Options: inference.Options(options)})
		if (err == nil) != (want == "") || err != nil && (!strings.HasPrefix(err.Error(), "live: ") || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", options, err)
		}
	}
	if _, err := NewRealtime(remote.Engine{BaseURL: "http://127.0.0.1:1/v1", Voices: map[string]string{"X1": "alloy"}}); err == nil {
		t.Error("a voice that we have no name for")
	}
	e, err := NewRealtime(remote.Engine{BaseURL: "http://127.0.0.1:1/v1", Voices: map[string]string{"F1": "verse"}})
	if err != nil || len(e.Voices()) != 10 {
		t.Errorf("%v, %v", e.Voices(), err)
	}
}

// TestRealtimeAtAzure: it is under another address, and has the key in a header of its own.
func TestRealtimeAtAzure(t *testing.T) {
	var got http.Header
	var at string
	s := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		got, at = r.Header, r.URL.String()
		w.WriteHeader(http.StatusTeapot)
	})
	e, err := NewRealtime(remote.Engine{BaseURL: s.URL + "/openai/v1", APIKey: secret, Model: "my deployment", Options: inference.Options(`{"key_header":"api-key"}`)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Open(t.Context(), inference.RealtimeConfig{Voice: "F1"}); inference.FaultOf(err) != inference.ErrRefused {
		t.Errorf("%v", err)
	}
	if want := []string{secret}; !reflect.DeepEqual(got["Api-Key"], want) || got.Get("Authorization") != "" || at != "/openai/v1/realtime?model=my+deployment" {
		t.Errorf("asked for %s with %v", at, got)
	}
}
