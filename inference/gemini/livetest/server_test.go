package livetest

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"parley/inference/enginetest/loopbacktest"
)

func TestKeysAreRefused(t *testing.T) {
	for _, tt := range []struct {
		key, path string
		code      int
		reason    string
		says      []string // violations
	}{
		{"wrong", Path, 1007, "API key not valid", nil},
		{"", Path, 1008, "unregistered callers", []string{"x-goog-api-key is missing"}},
		{"", Path + "?key=" + DefaultKey, 1008, "unregistered callers", []string{"x-goog-api-key is missing", "the address has a query"}},
	} {
		s := New(t, Script{Expects: tt.says})
		c := loopbacktest.Dial[said](t, s, tt.path, header(tt.key))
		if list := c.Closed(tt.code, tt.reason); list != nil {
			t.Errorf("%+v", list)
		}
	}
}

func TestHandshakesFail(t *testing.T) {
	isOurs := func(resp *http.Response) bool {
		var body struct{ Error struct{ Code int } }
		return json.NewDecoder(resp.Body).Decode(&body) == nil && body.Error.Code == resp.StatusCode
	}
	s := New(t, Script{Sockets: 1, Faults: loopbacktest.Unavailable()})
	loopbacktest.HandshakesFail(t, s, Path, header(s.Key), isOurs, func() { begun(t, s, third, "") }, nil)
	if b := s.Books(); !strings.Contains(string(b.Body), third) {
		t.Errorf("%+v", b)
	}
}

func TestSetupsAreRefused(t *testing.T) {
	with := func(more string) string { return setupOf(third, ","+more) }
	config := func(more string) string {
		return `{"setup":{"model":"` + third + `","generationConfig":{` + more + `}}}`
	}
	function := func(more string) string { return with(`"tools":[{"functionDeclarations":[` + more + `]}]`) }
	for _, tt := range []struct {
		message string
		code    int
		says    string
	}{
		{`{`, 1007, "Invalid JSON payload"},
		{`{}`, 1007, "not exactly one kind of message"},
		{`{"realtimeInput":{"text":"x"}}`, 1007, "setup must be the first message"},
		{setupOf("models/gemini-2.5-pro", ""), 1008, "not supported for bidiGenerateContent"},
		{setupOf("gemini-3.1-flash-live-preview", ""), 1008, "is not found"},
		{with(`"voice":"Puck"`), 1007, `Unknown name "voice"`},
		{with(`"realtimeInputConfig":{"activityHandling":"NONE"}`), 1007, "activityHandling"},
		{with(`"realtimeInputConfig":{"turnCoverage":"ALL"}`), 1007, "turnCoverage"},
		{with(`"realtimeInputConfig":{"automaticActivityDetection":{"startOfSpeechSensitivity":"HIGH"}}`), 1007, "startOfSpeechSensitivity"},
		{with(`"realtimeInputConfig":{"automaticActivityDetection":{"silenceDurationMs":-1}}`), 1007, "below 0"},
		{with(`"sessionResumption":{"handle":null}`), 1007, "invalid argument"},
		{with(`"sessionResumption":{"transparent":true}`), 1007, "transparent"},
		{with(`"sessionResumption":{"handle":"handle_none"}`), 1008, "session not found"},
		{with(`"contextWindowCompression":{"triggerTokens":"25600"}`), 1007, "no mechanism"},
		{with(`"explicitVadSignal":true`), 1007, "explicitVadSignal"},
		{with(`"tools":[{"googleSearch":{}}]`), 1007, "googleSearch"},
		{config(`"responseModalities":["AUDIO","TEXT"]`), 1007, "At most one response modality"},
		{config(`"responseModalities":["SOUND"]`), 1007, "SOUND"},
		{config(`"speechConfig":{"voiceConfig":{"prebuiltVoiceConfig":{"voiceName":"Nova"}}}`), 1007, "Requested voice api_name 'Nova'"},
		{config(`"speechConfig":{"languageCode":"english"}`), 1007, "Unsupported language code 'english'"},
		{config(`"thinkingConfig":{"thinkingLevel":"LOW","thinkingBudget":0}`), 1007, "only one of"},
		{strings.Replace(setupOf(second, ""), "AUDIO", "TEXT", 1), 1007, "non-audio request"},
		{function(`{"name":"a b"}`), 1007, "Invalid function name"},
		{function(`{"name":"a"},{"name":"a"}`), 1007, "Duplicate function"},
		{function(`{"name":"a","parameters":{"type":"OBJECT","properties":{"b":{"type":"STRING","$comment":"x"}}}}`), 1007, "$comment"},
		{function(`{"name":"a","parameters":{"type":"any"}}`), 1007, "parameters.type"},
		{function(`{"name":"a","parameters":{"type":"OBJECT"},"parametersJsonSchema":{}}`), 1007, "only one of parameters"},
		{function(`{"name":"a","strict":true}`), 1007, "strict"},
	} {
		s := New(t, Script{Expects: []string{tt.says}})
		c := dial(t, s)
		c.Text(tt.message)
		if list := c.Closed(tt.code, tt.says); list != nil {
			t.Errorf("%s: %+v", tt.message, list)
		}
	}
}

// TestSetups that Gemini takes.
func TestSetups(t *testing.T) {
	s := New(t, Script{Spelling: Spelling{Binary: true}})
	for _, more := range []string{
		`,"contextWindowCompression":{"slidingWindow":{"targetTokens":"12800"},"triggerTokens":25600},"proactivity":{"proactiveAudio":true}`,
		`,"realtimeInputConfig":{"automaticActivityDetection":{"disabled":false,"startOfSpeechSensitivity":"START_SENSITIVITY_LOW","endOfSpeechSensitivity":"END_SENSITIVITY_HIGH",
			"prefixPaddingMs":20,"silenceDurationMs":100},"activityHandling":"NO_INTERRUPTION","turnCoverage":"TURN_INCLUDES_ONLY_ACTIVITY"}`,
		`,"tools":[{"functionDeclarations":[{"name":"a","parametersJsonSchema":{"type":"object","additionalProperties":false}}]}]`,
		`,"sessionResumption":{"handle":""},"historyConfig":{"initialHistoryInClientContent":true}`,
	} {
		begun(t, s, third, more)
	}
	c := dial(t, s)
	c.Text(setupOf(third, ""))
	if kind, data, err := c.Conn.ReadMessage(); kind != websocket.BinaryMessage || string(data) != `{"setupComplete":{}}` {
		t.Errorf("%d %q, %v", kind, data, err)
	}
}

func TestSessionsFail(t *testing.T) {
	for reason, says := range map[string]string{"": "Internal error encountered.", "You exceeded your current quota": "You exceeded your current quota"} {
		s := New(t, Script{Faults: []Fault{{AfterMessages: 1, Then: loopbacktest.Fail, Reason: reason}}})
		c := begun(t, s, third, "")
		if list := c.Closed(1011, says); list != nil {
			t.Errorf("%+v", list)
		}
	}
}

func TestConnectionsAreOld(t *testing.T) {
	s := New(t, Script{Lifetime: 100 * ms})
	c := begun(t, s, third, "")
	loopbacktest.Same(t, loopbacktest.Shorts(c.Closed(1008, "after receiving a GoAway")), "goAway 0.05s")
}

func TestSetupTakesTime(t *testing.T) {
	s := New(t, Script{Delays: Delays{Setup: func() time.Duration { return 50 * ms }}, Expects: []string{"before setupComplete"}})
	c := dial(t, s)
	c.Text(setupOf(third, ""))
	c.write("Hello?")
	if list := c.Until("audio"); list[0].Setup == nil {
		t.Errorf("%q", loopbacktest.Shorts(list))
	}
}

func TestNothingIsLeft(t *testing.T) {
	s := loopbacktest.TestNothingIsLeft(t, 20, Start, held(), func(s *Server, _ int) io.Closer {
		c := begun(t, s, third, "")
		c.write("Hello?")
		c.Until("audio")
		return c.Conn
	})
	for _, turn := range s.Turns() {
		if turn.End != "cut" || turn.Audio != 80*ms {
			t.Errorf("%+v", turn)
		}
	}
}

// TestGolden replays exchanges in the vendor's shapes.
func TestGolden(t *testing.T) {
	stopped := held()
	stopped.Expects = []string{"invalid argument"}
	audio := func(bytes, level int) []byte {
		if level == 0 {
			level = loopbacktest.Quiet
		}
		return []byte(spoken(bytes, float64(level)))
	}
	loopbacktest.TestReplays(t, New, header, audio, map[string]Script{"function": dinner, "interrupted": stopped})
}
