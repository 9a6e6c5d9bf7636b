// Package openai speaks the HTTP dialect that OpenAI made common, and that vLLM,
// llama.cpp, Ollama, Groq, Speaches, whisper.cpp, Kokoro-FastAPI and others
// answer to: an LLM over /chat/completions with server-sent events, a TTS over
// /audio/speech, a batch ASR over /audio/transcriptions and embeddings over /embeddings. What OpenAI has besides
// is an LLM over /responses, an ASR that recognises while the caller speaks, and a model
// that hears and speaks by itself over /realtime.
// The engines are safe for use from several goroutines.
package openai

import (
	"cmp"

	"parley/inference/remote"
)

// client is one server, as all engines use it.
type client struct {
	*remote.Client
	model string
}

// newClient reaches a server, which is there for everybody where c has no key.
func newClient(model string, c remote.Engine) (*client, error) {
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
func newClientWith(headers map[string]string, model string, c remote.Engine) (*client, error) {
	made, err := remote.NewClient(remote.Config{Engine: cmp.Or(c.Name, "openai"), BaseURL: c.BaseURL, Key: c.APIKey, Headers: headers,
		HTTPClient: c.HTTPClient, Timeout: c.Timeout})
	if err != nil {
		return nil, err
	}
	return &client{made, cmp.Or(c.Model, model)}, nil
}
