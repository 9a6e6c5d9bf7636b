// Package gemini is Google's Gemini as a language model, over its own streaming API: text and functions, the signatures
// of its thoughts, which go back to it as they came, and as little thinking as a model allows, because a caller waits.
// Over its Live API it hears and speaks by itself: barge-in is the call's, which knows the echo, and what the caller has
// not heard of a reply stays in Gemini's history, which cannot be cut.
//
// Its wire is that of Google's published SDK for Go of August 2026, version v1beta of the API.
package gemini

import (
	"context"
	"errors"
	"iter"
	"regexp"
	"strings"

	"parley/inference"
	"parley/inference/remote"
)

// usual is what Gemini is where an operator does not say otherwise.
var usual = remote.Engine{Name: "gemini", BaseURL: "https://generativelanguage.googleapis.com", Model: "gemini-2.5-flash"}

// Options are the settings of Gemini that an operator or an agent may give.
type Options struct {
	remote.Sampling
	// Level and Budget are how much it thinks before it answers; one of them at most, neither: as little as the model allows.
	Level  string
	Budget *int
}

// All describes them.
func (o *Options) All() remote.Options {
	return append(o.Sampling.All(2),
		remote.Text("thinking_level", &o.Level, "How much Gemini 3 thinks before it answers; without it as little as the model allows.", "minimal", "low", "medium", "high"),
		remote.Whole("thinking_budget", &o.Budget, -1, 32_768, "The same of Gemini 2.5, in tokens; -1: as it sees fit. Not with thinking_level."))
}

// LLM is a model. Safe for use from several goroutines.
type LLM struct {
	*remote.Client
	model    string
	options  Options
	thinking *thinking // nil: as it sees fit
}

// modelName keeps a model within its part of the path.
var modelName = regexp.MustCompile(`^[a-zA-Z0-9._-]+$`)

// NewLLM checks e and contacts nobody.
func NewLLM(e remote.Engine) (*LLM, error) {
	e = e.Or(usual)
	l := &LLM{model: e.Model}
	client, err := e.Client(l.options.All(), headers(e.APIKey))
	o := l.options
	switch {
	case err != nil:
		return nil, err
	case !modelName.MatchString(l.model):
		return nil, errors.New(e.Name + ": model: allowed: letters, digits, dots, dashes and underscores")
	case o.Budget != nil && o.Level != "":
		return nil, remote.WrongOption(e.Name, "thinking_budget", "-1 to 32768, without thinking_level")
	}
	l.Client, l.thinking = client, o.thinking(l.model)
	return l, nil
}

// headers go with every request and handshake.
func headers(key string) map[string]string { return map[string]string{"x-goog-api-key": key} }

// thinking is how much a model is to think; nil: as it sees fit.
func (o Options) thinking(model string) *thinking {
	budget := func(tokens int) *thinking { return &thinking{Budget: &tokens} }
	switch {
	case o.Level != "":
		return &thinking{Level: strings.ToUpper(o.Level)}
	case o.Budget != nil:
		return budget(*o.Budget)
	case strings.HasPrefix(model, "gemini-2.5-flash"):
		return budget(0)
	case strings.HasPrefix(model, "gemini-2.5-pro"):
		return budget(128)
	case strings.HasPrefix(model, "gemini-3"):
		return &thinking{Level: "LOW"}
	}
	return nil
}

// Info implements inference.LLM.
func (l *LLM) Info() inference.Info {
	return inference.Info{Name: l.Engine(), Description: "Gemini, model " + l.model, Languages: inference.Spoken()}
}

// Warm implements inference.Warmer.
func (l *LLM) Warm(ctx context.Context) { l.Client.Warm(ctx, "/v1beta/models") }

// Complete implements inference.LLM.
func (l *LLM) Complete(ctx context.Context, r inference.Request) iter.Seq2[inference.Delta, error] {
	path := "/v1beta/models/" + l.model + ":streamGenerateContent?alt=sse"
	return l.Client.Complete(ctx, path, l.request(r), r, func(p *remote.Reply) func([]byte) error {
		return (&reply{Reply: p}).take
	})
}
