package client

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// CallDetail is a call with what was said in it.
type CallDetail struct {
	Call
	Transcript []CallLine    `json:"transcript"`
	Turns      []CallTurn    `json:"turns"`
	Engines    *CallEngines  `json:"engines"`  // that served it; nil: not known
	Analysis   *CallAnalysis `json:"analysis"` // nil: the agent wants none
}

// CallTurn is where the time of one turn of the agent went.
type CallTurn struct {
	Turn    int         `json:"turn"`
	AtMS    int64       `json:"at_ms"`
	TotalMS int64       `json:"total_ms"`
	Points  *CallPoints `json:"points"` // nil: not kept
}

// CallPoints are the six points of a turn in milliseconds: the end of speech since the
// answer, the others since the end of speech; nil: it was not.
type CallPoints struct {
	SpeechEnd     int64  `json:"speech_end_ms"`
	FinalText     *int64 `json:"final_text_ms"`
	FirstToken    *int64 `json:"first_token_ms"`
	FirstSentence *int64 `json:"first_sentence_ms"`
	FirstAudio    *int64 `json:"first_audio_ms"`
	FirstPacket   *int64 `json:"first_packet_ms"`
}

// CallEngines are the engines that served a call, by stage.
type CallEngines struct {
	ASR []string `json:"asr"`
	LLM []string `json:"llm"`
	TTS []string `json:"tts"`
}

// CallAnalysis is what a language model made of a call after its end.
type CallAnalysis struct {
	State   string          `json:"state"`  // waiting, done, failed or skipped
	Reason  *string         `json:"reason"` // why it failed or was skipped
	Detail  *string         `json:"detail"`
	Summary *string         `json:"summary"`
	Data    json.RawMessage `json:"data"` // as the agent's schema wants it
	DoneAt  *time.Time      `json:"done_at"`
}

// CallText is a call with everything that the server says of it, as JSON: a CallDetail and
// more.
func (c *Client) CallText(ctx context.Context, id string) (json.RawMessage, error) {
	var out json.RawMessage
	if err := c.call(ctx, http.MethodGet, c.address("v1", "calls", id), nil, &out); err != nil {
		return nil, err
	}
	return out, nil
}

// ForgetCall deletes what was said in a call. That there was the call stays.
func (c *Client) ForgetCall(ctx context.Context, id string) error {
	resp, err := c.ask(ctx, http.MethodDelete, c.address("v1", "calls", id), nil)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}
