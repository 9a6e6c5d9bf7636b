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
	Engines    *CallEngines  `json:"engines"`  // that served it; nil: not known
	Analysis   *CallAnalysis `json:"analysis"` // nil: the agent wants none
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
