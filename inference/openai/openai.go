// Package openai speaks the HTTP dialect that OpenAI made common, and that vLLM,
// llama.cpp, Ollama, Groq, Speaches, whisper.cpp, Kokoro-FastAPI and others
// answer to: an LLM over /chat/completions with server-sent events, a TTS over
// /audio/speech and a batch ASR over /audio/transcriptions. What OpenAI has besides
// is an LLM over /responses, an ASR that recognises while the caller speaks, and a model
// that hears and speaks by itself over /realtime.
// The engines are safe for use from several goroutines.
package openai

import (
	"cmp"
	"net/http"
	"time"

	"parley/inference"
	"parley/inference/remote"
	"parley/inference/synthesiser"
)

// Config is how to reach one server. Fields that an engine has no use for are
// ignored by it.
type Config struct {
	// Name is the engine's, where several of this dialect stand beside each other. Empty: openai.
	Name string
	// BaseURL is what the paths are appended to, as in http://127.0.0.1:11434/v1.
	// It may hold neither credentials nor a query.
	BaseURL string
	APIKey  string // sent as a bearer token; empty: none
	Model   string // empty: the engine's default
	// Voices are the server's by ours, in place of those that an engine knows by itself (Realtime).
	Voices synthesiser.Voices
	// Options are settings of a model (Options) and of Realtime; the other engines have none.
	Options inference.Options
	// HTTPClient replaces a client with keep-alive connections and a connection
	// timeout of 3 s that follows no redirects.
	HTTPClient *http.Client
	// Timeout is the longest silence of the server: before its answer begins and
	// between two pieces of it. 0 means 10 s.
	Timeout time.Duration
}

// client is one server, as all three engines use it.
type client struct {
	*remote.Client
	model string
}

func newClient(model string, c Config) (*client, error) {
	headers := map[string]string{}
	if c.APIKey != "" {
		headers["Authorization"] = "Bearer " + c.APIKey
	}
	if err := (remote.Options{}).Read(cmp.Or(c.Name, "openai"), c.Options); err != nil {
		return nil, err
	}
	return newClientWith(headers, model, c)
}

// newClientWith is newClient with other headers.
func newClientWith(headers map[string]string, model string, c Config) (*client, error) {
	made, err := remote.NewClient(remote.Config{Engine: cmp.Or(c.Name, "openai"), BaseURL: c.BaseURL, Key: c.APIKey, Headers: headers,
		HTTPClient: c.HTTPClient, Timeout: c.Timeout})
	if err != nil {
		return nil, err
	}
	return &client{made, cmp.Or(c.Model, model)}, nil
}
