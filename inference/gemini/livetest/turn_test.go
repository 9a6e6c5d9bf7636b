package livetest

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/inference/enginetest/loopbacktest"
)

func TestTheCallerIsAnswered(t *testing.T) {
	s := New(t, dinner)
	c := begun(t, s, third, quick+scripts)
	c.hush(200 * ms)
	c.say(500 * ms)
	c.hush(400 * ms)
	list := c.Until("turnComplete")
	loopbacktest.Same(t, loopbacktest.Shorts(list), "heard Good", "heard  evening.", "audio", "said Hello", "audio", "said  there.", "audio", "audio",
		"generationComplete", "turnComplete")
	u := list[len(list)-1].Usage
	if u == nil || u.In != 3+23 || u.Out != 8 || len(u.Details) != 2 || u.Details[1].Modality != "AUDIO" || u.Details[1].Count != 23 {
		t.Errorf("%+v", u)
	}
	if p := list[2].Content.Turn.Parts[0].Inline; p.Type != "audio/pcm;rate=24000" || len(p.Data) != 3840 {
		t.Errorf("%d bytes of %s", len(p.Data), p.Type)
	}
	if b := s.Books(); b.Requests != 1 || b.TokensIn != 26 || b.AudioTokensIn != 23 || b.TokensOut != 8 || b.AudioTokensOut != 8 || b.Audio != 1100*ms {
		t.Errorf("%+v", b)
	}
	if got := s.Turns(); len(got) != 1 || got[0].Text != "Hello there." || got[0].Audio != 300*ms || got[0].End != "complete" {
		t.Errorf("%+v", got)
	}
}

func TestTheCallerInterrupts(t *testing.T) {
	s := New(t, held())
	c := begun(t, s, third, quick+`,"sessionResumption":{}`)
	c.Until("handle")
	c.say(500 * ms)
	c.hush(400 * ms)
	c.Until("audio")
	c.say(40 * ms)
	list := c.Until("handle")
	loopbacktest.Same(t, loopbacktest.Shorts(list), "interrupted", "turnComplete", "handle")
	if u := list[1].Usage; u == nil || u.Out != 2 {
		t.Errorf("%+v", u)
	}
	if got := s.Contents(); got[len(got)-1] != (Content{Role: "model", Text: "Hello", Audio: 80 * ms}) {
		t.Errorf("%+v", got)
	}
	if b := s.Books(); b.Cancels != 1 || b.TokensOut != 2 {
		t.Errorf("%+v", b)
	}
}

// TestNobodyInterrupts: the caller may speak meanwhile, and is answered afterwards.
func TestNobodyInterrupts(t *testing.T) {
	script := dinner
	answered := make(chan struct{})
	free := sync.OnceFunc(func() { close(answered) })
	defer free()
	script.Delays.Playback = func() time.Duration {
		<-answered
		return 0
	}
	s := New(t, script)
	c := begun(t, s, third, `,"realtimeInputConfig":{"activityHandling":"NO_INTERRUPTION","automaticActivityDetection":{"silenceDurationMs":400}},"inputAudioTranscription":{}`)
	c.say(500 * ms)
	c.hush(400 * ms)
	c.Until("generationComplete")
	c.say(700 * ms)
	c.hush(400 * ms)
	c.Until("heard  please.")
	free()
	loopbacktest.Same(t, loopbacktest.Shorts(c.Until("audio")), "turnComplete", "audio")
	c.Until("toolCall")
}

func TestTheClientMarksActivity(t *testing.T) {
	script := dinner
	script.Spelling = Spelling{Finished: true, Activity: true}
	s := New(t, script)
	c := begun(t, s, third, scripts+`,"realtimeInputConfig":{"automaticActivityDetection":{"disabled":true}}`)
	c.input(`"activityStart":{}`)
	c.say(500 * ms)
	c.hush(2000 * ms)
	c.input(`"activityEnd":{}`)
	loopbacktest.Same(t, loopbacktest.Shorts(c.Until("audio")), "ACTIVITY_START", "heard Good", "heard  evening.", "heard all", "ACTIVITY_END", "audio")
}

func TestTheStreamEnds(t *testing.T) {
	s := New(t, dinner)
	c := begun(t, s, third, scripts)
	c.input(`"audioStreamEnd":true`) // nobody speaks
	c.say(500 * ms)
	c.hush(100 * ms)
	c.input(`"audioStreamEnd":true`)
	loopbacktest.Same(t, loopbacktest.Shorts(c.Until("audio")), "heard Good", "heard  evening.", "audio")
}

func TestHistoryIsGiven(t *testing.T) {
	const history = `{"clientContent":{"turns":[{"role":"user","parts":[{"text":"Hello."}]},{"role":"model","parts":[{"text":"Hello there."}]},
		{"role":"model","parts":[{"functionCall":{"id":"a","name":"look","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"id":"a","name":"look","response":{"ok":1}}}]}],"turnComplete":true}}`
	s := New(t, Script{})
	c := begun(t, s, third, `,"historyConfig":{"initialHistoryInClientContent":true}`)
	c.Text(history)
	c.write("And?")
	list := c.Until("turnComplete")
	if u := list[len(list)-1].Usage; u.In != 3+2+3+2+2+1 {
		t.Errorf("%+v", u)
	}
	if got := s.Contents(); len(got) != 6 || got[5].Text != "Yes, I can help." {
		t.Errorf("%+v", got)
	}
	c = begun(t, s, strings.Replace(second, "native-audio", "live", 1), "") // models 2.x take it as what is to be answered
	c.Text(history)
	c.Until("turnComplete")
	c.Text(`{"clientContent":{"turns":[{"role":"user","parts":[{"text":"More."}]}]}}`)
	c.Text(`{"clientContent":{"turnComplete":true}}`)
	c.Until("turnComplete")
	if got := s.Turns(); len(got) != 3 {
		t.Errorf("%+v", got)
	}
}

func TestSessionsAreResumed(t *testing.T) {
	script := dinner
	script.Continue = true
	script.Expects = []string{"invalid argument", "on another connection"}
	s := New(t, script)
	c := begun(t, s, third, quick+`,"sessionResumption":{}`)
	c.Until("handle")
	c.say(500 * ms)
	c.hush(400 * ms)
	list := c.Until("handle")
	resumed := fmt.Sprintf(`,"inputAudioTranscription":{},"sessionResumption":{"handle":%q}`, list[len(list)-1].Update.Handle)
	again := dial(t, s)
	again.Text(setupOf(third, resumed)) // while the session is on the first connection
	again.Closed(1011, "on another connection")
	c.Conn.Close()
	c = begun(t, s, third, quick+resumed)
	c.Until("handle")
	if got := s.Contents(); len(got) != 2 || got[1].Text != "Hello there." {
		t.Errorf("%+v", got)
	}
	c.say(700 * ms)
	c.hush(400 * ms)
	list = c.Until("toolCall")
	if !strings.HasPrefix(list[0].Short(), "heard A") {
		t.Errorf("%q", loopbacktest.Shorts(list))
	}
	c.Text(`{"clientContent":{"turns":[{"role":"user","parts":[{"text":"Hello."}]}],"turnComplete":true}}`)
	c.Closed(1007, "invalid argument")
}

func TestMessagesAreRefused(t *testing.T) {
	for _, tt := range []struct{ model, more, message, says string }{
		{third, "", setupOf(third, ""), "setup must be the first message and only the first"},
		{third, "", `{"clientContent":{"turns":[{"role":"user","parts":[{"text":"Hello."}]}],"turnComplete":true}}`, "Request contains an invalid argument"},
		{second, "", `{"clientContent":{"turns":[{"role":"agent","parts":[{"text":"Hello."}]}]}}`, "Invalid value at 'role'"},
		{second, "", `{"clientContent":{"turns":[{"role":"user","parts":[]}]}}`, "has no parts"},
		{second, "", `{"clientContent":{"turns":[{"role":"user","parts":[{}]}]}}`, "not exactly one kind of data"},
		{third, "", `{"realtimeInput":{}}`, "not exactly one kind of realtime input"},
		{third, "", `{"realtimeInput":{"activityStart":{}}}`, "Explicit activity control is not supported"},
		{third, `,"realtimeInputConfig":{"automaticActivityDetection":{"disabled":true}}`, `{"realtimeInput":{"activityEnd":{}}}`, "take turns"},
		{third, `,"realtimeInputConfig":{"automaticActivityDetection":{"disabled":true}}`, `{"realtimeInput":{"audioStreamEnd":true}}`, "audioStreamEnd is not supported"},
		{third, "", `{"realtimeInput":{"mediaChunks":[]}}`, "mediaChunks"},
		{third, "", `{"realtimeInput":{"audio":{"mimeType":"audio/mulaw","data":"AAAA"}}}`, "Unsupported input audio type: audio/mulaw"},
		{third, "", `{"realtimeInput":{"audio":{"mimeType":"audio/pcm;rate=96000","data":"AAAA"}}}`, "Unsupported sample rate: 96000"},
		{third, "", `{"realtimeInput":{"audio":{"mimeType":"audio/pcm","data":"µ"}}}`, "Base64 decoding failed"},
		{third, "", `{"realtimeInput":{"audio":{"mimeType":"audio/pcm","data":"AAAA"}}}`, "no whole samples"},
		{third, "", `{"toolResponse":{"functionResponses":[]}}`, "no function responses"},
		{third, "", answer("call_none", ""), "no call call_none waits"},
		{third, "", answer("", ""), "has no id"},
		{third, "", answer("a", `,"scheduling":"LATER"`), "scheduling"},
		{third, "", `{"toolResponse":{"functionResponses":[{"id":"a","response":"ok"}]}}`, "no object"},
	} {
		s := New(t, Script{Expects: []string{tt.says}})
		c := begun(t, s, tt.model, tt.more)
		c.Text(tt.message)
		c.Closed(1007, tt.says)
	}
}

// TestHistoryComesFirst: what comes before its end is not heard.
func TestHistoryComesFirst(t *testing.T) {
	s := New(t, Script{Expects: []string{"before the history is complete"}})
	c := begun(t, s, third, `,"historyConfig":{"initialHistoryInClientContent":true}`)
	c.write("Hello?")
	c.Text(`{"clientContent":{"turnComplete":true}}`)
	c.write("Hello!")
	c.Until("turnComplete")
	if got := s.Contents(); got[0].Text != "Hello!" {
		t.Errorf("%+v", got)
	}
}
