package realtimetest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"parley/inference/enginetest/hearingtest"
	"parley/inference/enginetest/loopbacktest"
)

const ms = time.Millisecond

const (
	path  = "/v1/realtime?intent=transcription"
	talks = "/v1/realtime?model=gpt-realtime-2.1"
)

// client is a raw client of one session, with audio in µ-law.
type client struct{ hearingtest.Client[event] }

func header(key string) http.Header { return http.Header{"Authorization": {"Bearer " + key}} }

func dial(t *testing.T, s *server, path string, h http.Header) *client {
	t.Helper()
	return &client{hearingtest.Client[event]{Client: loopbacktest.Dial[event](t, s, path, h), Coding: loopbacktest.Mulaw, Each: 40 * ms,
		Wrap: func(audio []byte) any { return json.RawMessage(appended(audio)) }}}
}

// configured is a client whose session has a model and a detection, which is JSON.
func configured(t *testing.T, s *server, model, detection string) *client {
	t.Helper()
	c := dial(t, s, path, header(s.Key))
	c.Text(configuration(model, detection))
	loopbacktest.Same(t, loopbacktest.Shorts(c.Until("session.updated")), "session.created", "session.updated")
	return c
}

// talking is a client of a conversation in µ-law, whose session has a detection, and more settings, in JSON.
func talking(t *testing.T, s *Conversation, detection, more string) *client {
	t.Helper()
	c := dial(t, s.server, talks, header(s.Key))
	c.Text(spoken8(detection, more))
	loopbacktest.Same(t, loopbacktest.Shorts(c.Until("session.updated")), "session.created", "session.updated")
	return c
}

// spoken8 configures a conversation in µ-law.
func spoken8(detection, more string) string {
	return fmt.Sprintf(`{"type":"session.update","session":{"type":"realtime","instructions":"Be brief.","audio":{"input":{"format":{"type":"audio/pcmu"},
		"turn_detection":%s},"output":{"format":{"type":"audio/pcmu"},"voice":"cedar"}}%s}}`, detection, more)
}

func configuration(model, detection string) string {
	return fmt.Sprintf(`{"type":"session.update","session":{"type":"transcription","audio":{"input":{"format":{"type":"audio/pcmu"},
		"transcription":{"model":%q,"language":"en"},"turn_detection":%s}}}}`, model, detection)
}

// appended is an event with audio.
func appended(audio []byte) string {
	return `{"type":"input_audio_buffer.append","audio":"` + base64.StdEncoding.EncodeToString(audio) + `"}`
}

// golden is an event with so many bytes of audio.
func golden(bytes, level int) []byte {
	return []byte(appended(loopbacktest.Recorded(loopbacktest.Mulaw)(bytes, level)))
}

func (c *client) commit() { c.Text(`{"type":"input_audio_buffer.commit"}`) }

// event is any event of the fake.
type event struct {
	Type, Delta, Transcript string
	Event                   string `json:"event_id"`
	Item                    string `json:"item_id"`
	Previous                string `json:"previous_item_id"`
	Start                   int    `json:"audio_start_ms"`
	End                     int    `json:"audio_end_ms"`
	Languages               []string
	Logprobs                []any
	Usage                   struct {
		Type    string
		In      int `json:"input_tokens"`
		Out     int `json:"output_tokens"`
		Total   int `json:"total_tokens"`
		Seconds float64
		Details struct {
			Audio int `json:"audio_tokens"`
			Text  int `json:"text_tokens"`
		} `json:"input_token_details"`
	}
	Error struct {
		Type, Code, Message, Param string
		Event                      string `json:"event_id"`
	}
	Session struct {
		ID, Type, Model string
		Audio           struct {
			Input struct {
				Format    format
				Detection *detection `json:"turn_detection"`
			}
			Output struct{ Voice string }
		}
	}

	Call      string `json:"call_id"`
	Arguments string
	Object    Item `json:"item"`
	Response  struct {
		ID, Status string
		Details    struct {
			Reason string
			Error  struct{ Type, Code string }
		} `json:"status_details"`
		Output []Item
		Usage  *struct {
			In      int `json:"input_tokens"`
			Out     int `json:"output_tokens"`
			Details struct {
				Text   int `json:"text_tokens"`
				Audio  int `json:"audio_tokens"`
				Cached int `json:"cached_tokens"`
			} `json:"input_token_details"`
			OutDetails struct {
				Text  int `json:"text_tokens"`
				Audio int `json:"audio_tokens"`
			} `json:"output_token_details"`
		}
	}
}

// Short implements loopbacktest.Message.
func (m event) Short() string {
	kind := m.Type
	for _, prefix := range []string{"conversation.item.input_audio_transcription.", "input_audio_buffer.", "conversation.", "response."} {
		kind = strings.TrimPrefix(kind, prefix)
	}
	if kind == "output_audio.delta" {
		return kind
	}
	if kind == "done" {
		return strings.TrimSpace("response.done " + m.Response.Status + " " + m.Response.Details.Reason + m.Response.Details.Error.Code)
	}
	return strings.TrimSuffix(kind+" "+m.Delta+m.Transcript+m.Error.Code, " ")
}
