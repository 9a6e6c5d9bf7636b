package livetest

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"parley/inference/enginetest/loopbacktest"
	"parley/inference/gemini/geminitest"
)

const ms = time.Millisecond

const (
	second = "models/gemini-2.5-flash-native-audio-preview-12-2025"
	third  = "models/gemini-3.1-flash-live-preview"

	quick   = `,"realtimeInputConfig":{"automaticActivityDetection":{"silenceDurationMs":400}}`
	scripts = `,"inputAudioTranscription":{},"outputAudioTranscription":{}`
	booking = `,"tools":[{"functionDeclarations":[{"name":"book","description":"Books a table.","parameters":{"type":"OBJECT","properties":{"day":{"type":"STRING"}}}},{"name":"look"}]}]`
)

// dinner is a caller who is answered, then by functions, and then again and again.
var dinner = Script{
	Utterances: []Utterance{{Text: "Good evening.", Length: 500 * ms}, {Text: "A table, please.", Length: 700 * ms}},
	Replies: []Reply{{Text: "Hello there.", Length: 300 * ms},
		{Text: "I look.", Calls: []Call{{Name: "book", Arguments: `{"day":"fri"}`}, {Name: "look", Arguments: `{}`}}}, {Text: "Done."}},
}

// held is dinner, with replies that stop after their first piece.
func held() Script {
	s := dinner
	s.Pace.Piece = func() time.Duration { return time.Hour }
	return s
}

// client is a raw client of one session, with audio at 16 kHz.
type client struct{ *loopbacktest.Client[said] }

func header(key string) http.Header { return http.Header{"X-Goog-Api-Key": {key}} }

func dial(t *testing.T, s *Server) *client {
	t.Helper()
	return &client{loopbacktest.Dial[said](t, s, Path, header(s.Key))}
}

// begun is a client whose session has a model, and more settings in JSON.
func begun(t *testing.T, s *Server, model, more string) *client {
	t.Helper()
	c := dial(t, s)
	c.Text(setupOf(model, more))
	loopbacktest.Same(t, loopbacktest.Shorts(c.Until("setupComplete")), "setupComplete")
	return c
}

func setupOf(model, more string) string {
	return fmt.Sprintf(`{"setup":{"model":%q,"generationConfig":{"responseModalities":["AUDIO"]},"systemInstruction":{"parts":[{"text":"Be brief."}]}%s}}`, model, more)
}

// input is realtime input; write is text of it.
func (c *client) input(fields string) { c.Text(`{"realtimeInput":{` + fields + `}}`) }
func (c *client) write(text string)   { c.input(fmt.Sprintf(`"text":%q`, text)) }

// say sends loud audio, hush quiet, in messages of 40 ms.
func (c *client) say(d time.Duration)  { c.audio(d, loopbacktest.Loud) }
func (c *client) hush(d time.Duration) { c.audio(d, loopbacktest.Quiet) }

func (c *client) audio(d time.Duration, level float64) {
	for step := 40 * ms; d > 0; d -= step {
		c.Text(spoken(int(min(d, step).Milliseconds())*32, level))
	}
}

// spoken is so many bytes of audio.
func spoken(bytes int, level float64) string {
	data := base64.StdEncoding.EncodeToString(loopbacktest.S16.Encode(loopbacktest.Tone(bytes/2, 0, 16000, level)))
	return `{"realtimeInput":{"audio":{"mimeType":"audio/pcm;rate=16000","data":"` + data + `"}}}`
}

// said is any message of the fake.
type said struct {
	Setup   *struct{} `json:"setupComplete"`
	Content struct {
		Turn struct {
			Parts []struct {
				Text   string
				Inline struct {
					Type string `json:"mimeType"`
					Data []byte
				} `json:"inlineData"`
			}
		} `json:"modelTurn"`
		In *struct {
			Text     string
			Finished bool
		} `json:"inputTranscription"`
		Out         *struct{ Text string } `json:"outputTranscription"`
		Interrupted bool
		Generated   bool   `json:"generationComplete"`
		Complete    bool   `json:"turnComplete"`
		Reason      string `json:"turnCompleteReason"`
	} `json:"serverContent"`
	Calls struct {
		List []geminitest.Call `json:"functionCalls"`
	} `json:"toolCall"`
	Cancelled struct{ IDs []string } `json:"toolCallCancellation"`
	Usage     *struct {
		In      int `json:"promptTokenCount"`
		Out     int `json:"responseTokenCount"`
		Details []struct {
			Modality string
			Count    int `json:"tokenCount"`
		} `json:"promptTokensDetails"`
	} `json:"usageMetadata"`
	GoAway struct {
		Left string `json:"timeLeft"`
	} `json:"goAway"`
	Update *struct {
		Handle    string `json:"newHandle"`
		Resumable bool
	} `json:"sessionResumptionUpdate"`
	Activity struct {
		Type string `json:"voiceActivityType"`
	} `json:"voiceActivity"`
}

// Short implements loopbacktest.Message.
func (m said) Short() string {
	c := m.Content
	switch {
	case m.Setup != nil:
		return "setupComplete"
	case len(c.Turn.Parts) > 0 && len(c.Turn.Parts[0].Inline.Data) > 0:
		return "audio"
	case len(c.Turn.Parts) > 0:
		return "text " + c.Turn.Parts[0].Text
	case c.In != nil && c.In.Finished:
		return "heard all"
	case c.In != nil:
		return "heard " + c.In.Text
	case c.Out != nil:
		return "said " + c.Out.Text
	case c.Interrupted:
		return "interrupted"
	case c.Generated:
		return "generationComplete"
	case c.Complete:
		return strings.TrimSpace("turnComplete " + c.Reason)
	case len(m.Calls.List) > 0:
		return "toolCall"
	case len(m.Cancelled.IDs) > 0:
		return "toolCallCancellation"
	case m.Update != nil && m.Update.Resumable:
		return "handle"
	case m.Update != nil:
		return "no handle"
	case m.Usage != nil:
		return "usage"
	case m.GoAway.Left != "":
		return "goAway " + m.GoAway.Left
	}
	return m.Activity.Type
}
