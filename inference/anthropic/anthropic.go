// Package anthropic is Anthropic's Messages API as a language model: streamed text and tools, marks for its cache of
// prompts, and its thinking, which goes back to it as it came.
//
// Its wire is that of Anthropic's published SDK of August 2026, version 2023-06-01 of the API.
package anthropic

import (
	"context"
	"iter"

	"parley/inference"
	"parley/inference/remote"
)

// usual is what Anthropic is where an operator does not say otherwise.
var usual = remote.Engine{Name: "anthropic", BaseURL: "https://api.anthropic.com", Model: "claude-haiku-4-5"}

// Options are the settings of Anthropic that an operator or an agent may give.
type Options struct {
	remote.Sampling
	CacheTTL string // empty: Anthropic's own
}

// All describes them.
func (o *Options) All() remote.Options {
	return append(o.Sampling.All(1), remote.Text("cache_ttl", &o.CacheTTL, "How long a prompt is cached.", "5m", "1h"))
}

// LLM is a model. Safe for use from several goroutines.
type LLM struct {
	*remote.Client
	model   string
	options Options
}

// maxTokens bounds a reply whose request does not: some minutes of speech.
const maxTokens = 1024

// NewLLM checks e and contacts nobody.
func NewLLM(e remote.Engine) (*LLM, error) {
	e = e.Or(usual)
	l := &LLM{model: e.Model}
	client, err := e.Client(l.options.All(), map[string]string{"x-api-key": e.APIKey, "anthropic-version": "2023-06-01"})
	l.Client = client
	return l, err
}

// Info implements inference.LLM.
func (l *LLM) Info() inference.Info {
	return inference.Info{Name: l.Engine(), Description: "messages, model " + l.model, Languages: inference.Spoken()}
}

// Warm implements inference.Warmer.
func (l *LLM) Warm(ctx context.Context) { l.Client.Warm(ctx, "/v1/models") }

// Complete implements inference.LLM.
func (l *LLM) Complete(ctx context.Context, r inference.Request) iter.Seq2[inference.Delta, error] {
	return l.Client.Complete(ctx, "/v1/messages", l.request(r), r, func(p *remote.Reply) func([]byte) error {
		return (&reply{p, map[int]*block{}}).take
	})
}
