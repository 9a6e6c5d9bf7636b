// Code generated from the service's OpenAPI document. DO NOT EDIT.

package client

import (
	"context"
	"net/http"
)

// GetConfig: The limits of requests.
// What synthesis requests may ask for, and the format of what comes back.
func (c *Client) GetConfig(ctx context.Context) (*Limits, error) {
	return ask[Limits](ctx, c, http.MethodGet, c.address("config"), nil)
}

// Limits: An object of the service's HTTP API.
type Limits struct {
	// Channels of synthesised audio.
	Channels int64 `json:"channels"`
	// Whether uploads and results may be compressed; without it they are WAV and PCM only.
	CompressedAudio bool `json:"compressed_audio"`
	// Unicode code points, in background tasks.
	MaxAsyncTextLength int64 `json:"max_async_text_length"`
	// The fastest pace.
	MaxSpeed float64 `json:"max_speed"`
	// The most denoising steps.
	MaxSteps int64 `json:"max_steps"`
	// Unicode code points.
	MaxTextLength int64 `json:"max_text_length"`
	// The slowest pace; 1 is the voice's own.
	MinSpeed float64 `json:"min_speed"`
	// The fewest denoising steps.
	MinSteps int64 `json:"min_steps"`
	// Of the audio that is sent, in Hz.
	SampleRate int64 `json:"sample_rate"`
}

// GetHealth: Whether the server is ready.
// `warming_up` also when something it needs has gone. The checks are at most a second old. No credential is needed;
// with an API key the answer says more.
func (c *Client) GetHealth(ctx context.Context) (*HealthReport, error) {
	return ask[HealthReport](ctx, c, http.MethodGet, c.address("health"), nil)
}

// HealthReport: An object of the service's HTTP API.
type HealthReport struct {
	// The primary engines.
	Inference string `json:"inference"`
	// How much of what the server can take it has; without a key in tenths.
	Load float64 `json:"load"`
	// What the program was built with, and for; without a key its name alone.
	Runtime string `json:"runtime"`
	// ok when conversations can start.
	Status string `json:"status"`
	// When this was found out.
	Timestamp string `json:"timestamp"`
	// The version of the program; without a key that of the API.
	Version string `json:"version"`
}

// GetLanguages: The languages.
// What can be spoken, and what this server can also recognise.
func (c *Client) GetLanguages(ctx context.Context) (*LanguageList, error) {
	return ask[LanguageList](ctx, c, http.MethodGet, c.address("languages"), nil)
}

// LanguageList: An object of the service's HTTP API.
type LanguageList struct {
	// All of them.
	Languages []LanguageEntry `json:"languages"`
}

// LanguageEntry: An object of the service's HTTP API.
type LanguageEntry struct {
	// Two letters (ISO 639-1).
	Code string `json:"code"`
	// In English.
	Name string `json:"name"`
	// Whether this server can also recognise it.
	Recognition bool `json:"recognition"`
}

// GetModels: The engines of this server.
// What speaks, recognises and answers here, those that speak first.
func (c *Client) GetModels(ctx context.Context) (*ModelList, error) {
	return ask[ModelList](ctx, c, http.MethodGet, c.address("models"), nil)
}

// ModelList: An object of the service's HTTP API.
type ModelList struct {
	// All of them.
	Models []ModelEntry `json:"models"`
}

// ModelEntry: An object of the service's HTTP API.
type ModelEntry struct {
	// Whether it is the first choice of its kind.
	Default bool `json:"default"`
	// What it is.
	Description string `json:"description"`
	// Speaks, recognises, answers, or does all three.
	Kind string `json:"kind"`
	// What the engine is called.
	Name string `json:"name"`
	// JSON Schema of the options that an agent may give it; absent: it has none.
	Options any `json:"options,omitempty"`
	// It follows rules; there is no model behind it.
	Scripted bool `json:"scripted"`
	// Accounts may set keys of their own for it; absent: it takes none.
	TakesKeys bool `json:"takes_keys,omitempty"`
	// It was tried against a fake of its vendor only; absent: against the real one, or it has none.
	Unproven bool `json:"unproven,omitempty"`
	// Whose it is; openai also of other servers that speak its dialect. Absent: it comes along with this server and works
	// offline.
	Vendor string `json:"vendor,omitempty"`
}

// GetStatus: The server's numbers.
// How long the server has run and what it is doing. Its numbers are for API keys; without one they are 0.
func (c *Client) GetStatus(ctx context.Context) (*ServerReport, error) {
	return ask[ServerReport](ctx, c, http.MethodGet, c.address("status"), nil)
}

// ServerReport: An object of the service's HTTP API.
type ServerReport struct {
	// Conversations in progress, on sockets and telephones; 0 without a key.
	ActiveCalls int64 `json:"active_calls"`
	// Requests, streams and sockets in progress, this one among them; 0 without a key.
	ActiveConnections int64 `json:"active_connections"`
	// Answers with a status of 500 or more since the start; 0 without a key.
	FailedRequests int64 `json:"failed_requests"`
	// Things that the program does at once; 0 without a key.
	Goroutines int64 `json:"goroutines"`
	// The primary engines.
	Inference string `json:"inference"`
	// Of the heap, in use; 0 without a key.
	MemAllocBytes int64 `json:"mem_alloc_bytes"`
	// The same as a yes or no.
	Ready bool `json:"ready"`
	// What the program was built with, and for; without a key its name alone.
	Runtime string `json:"runtime"`
	// ok when conversations can start.
	Status string `json:"status"`
	// When this was found out.
	Timestamp string `json:"timestamp"`
	// Since the program started; 0 without a key.
	UptimeSeconds int64 `json:"uptime_seconds"`
	// The version of the program; without a key that of the API.
	Version string `json:"version"`
}

// GetVoices: The voices.
// Ten voices, each of which speaks every language.
func (c *Client) GetVoices(ctx context.Context) (*VoiceList, error) {
	return ask[VoiceList](ctx, c, http.MethodGet, c.address("voices"), nil)
}

// VoiceList: An object of the service's HTTP API.
type VoiceList struct {
	// All of them.
	Voices []VoiceEntry `json:"voices"`
}

// VoiceEntry: An object of the service's HTTP API.
type VoiceEntry struct {
	// Its character in a word or two.
	Description string `json:"description"`
	// How it sounds.
	Gender string `json:"gender"`
	// What requests name.
	ID string `json:"id"`
	// Codes of the languages it speaks.
	Languages []string `json:"languages"`
	// The voice's name for people.
	Name string `json:"name"`
}
