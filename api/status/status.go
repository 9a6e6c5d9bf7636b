// Package status tells what the server offers and how it is: the discovery routes
// that clients read without a credential before they do anything else, and the
// status pages of the service.
//
// Nothing here works: a Server is a view on the parts that do, and the same
// functions answer every route and tool that asks the same question.
package status

import (
	"context"
	"slices"
	"time"

	"parley/api"
	"parley/inference"
)

// Server is what the routes tell of. It is not changed after Mount; its functions
// may be called from any goroutine.
type Server struct {
	Version string
	Started time.Time
	// Engines are those of this server. The first of a kind is the one that is
	// asked first.
	Engines []Engine
	// Database and Storage say whether the server can use them: nil, or why not.
	Database, Storage func(ctx context.Context) error
	// Calls is how many calls are in progress.
	Calls func() int
	// Load is how much of what the server can take it has, from 0 to 1.
	Load func() float64
	// Counts are of the HTTP side.
	Counts *api.Counts
	// Compressed says whether compressed audio can be read and written.
	Compressed bool

	state Recent[state]
}

// Kind is what an engine does.
type Kind string

// The kinds of engines.
const (
	TTS Kind = "tts" // speaks
	STT Kind = "stt" // recognises
	LLM Kind = "llm" // answers

	Realtime Kind = "realtime" // hears, answers and speaks; only agents that name one have it
)

// Engine is one engine of the server.
type Engine struct {
	Kind Kind
	Info func() inference.Info
	// Ready says whether the engine can work; nil: it is not known before it is asked
	// to work, as with engines of other servers.
	Ready func(ctx context.Context) error
	// Options is the JSON Schema of the options that agents may give it; nil: it has none.
	Options any
	// Vendor is whose it is; empty: it comes along with the program.
	Vendor string
	// Unproven says that no exchange with the real vendor has been recorded.
	Unproven bool
	// TakesKeys says whether accounts may set keys of their own for it.
	TakesKeys bool
}

// Mount adds the routes of the server to an API.
func Mount(a *api.API, s *Server) {
	mountDiscovery(a, s)
	mountService(a, s)
}

// heard says whether an engine of this server recognises a language.
func (s *Server) heard(language string) bool {
	return slices.ContainsFunc(s.Engines, func(e Engine) bool { return e.Kind == STT && slices.Contains(e.Info().Languages, language) })
}
