// Code generated from the service's OpenAPI document. DO NOT EDIT.

package client

import (
	"context"
	"net/http"
)

// GetServiceHealth: How the service is.
// Whether the engines, the database and the storage work, by checks that are at most a second old.
func (c *Client) GetServiceHealth(ctx context.Context) (*ServiceHealth, error) {
	return ask[ServiceHealth](ctx, c, http.MethodGet, c.address("api", "status", "health"), nil)
}

// ServiceHealth: An object of the service's HTTP API.
type ServiceHealth struct {
	// What the server needs besides its engines.
	Services ServiceParts `json:"services"`
	// Degraded: some of it works.
	Status string `json:"status"`
	// When this was found out.
	Timestamp string `json:"timestamp"`
	// The version of the program; to a ticket that of the API.
	Version string `json:"version"`
}

// ServiceParts: An object of the service's HTTP API.
type ServiceParts struct {
	// Whether the accounts can be reached.
	Database string `json:"database"`
	// Of speech and language.
	Engine string `json:"engine"`
	// Whether results can be kept.
	Storage string `json:"storage"`
}

// GetServiceModels: The engines and whether they are ready.
// One that is not says why.
func (c *Client) GetServiceModels(ctx context.Context) (*ServiceModels, error) {
	return ask[ServiceModels](ctx, c, http.MethodGet, c.address("api", "status", "models"), nil)
}

// ServiceModels: An object of the service's HTTP API.
type ServiceModels struct {
	// All of them.
	Models []ServiceModel `json:"models"`
}

// ServiceModel: An object of the service's HTTP API.
type ServiceModel struct {
	// Whether it is the first choice of its kind.
	Default bool `json:"default"`
	// What it is.
	Description string `json:"description"`
	// Speaks, recognises, answers, or does all three.
	Kind string `json:"kind"`
	// Codes of the languages it knows.
	Languages []string `json:"languages"`
	// What the engine is called.
	Name string `json:"name"`
	// JSON Schema of the options that an agent may give it; absent: it has none.
	Options any `json:"options,omitempty"`
	// Whether it can be used now.
	Ready bool `json:"ready"`
	// Why it is not ready.
	Reason string `json:"reason,omitempty"`
	// Of the audio that goes in or comes out, in Hz.
	SampleRate int64 `json:"sample_rate,omitempty"`
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

// GetServiceVoices: The voices by gender and character.
// May be kept for a day.
func (c *Client) GetServiceVoices(ctx context.Context) (*ServiceVoices, error) {
	return ask[ServiceVoices](ctx, c, http.MethodGet, c.address("api", "status", "voices"), nil)
}

// ServiceVoices: An object of the service's HTTP API.
type ServiceVoices struct {
	// Identifiers by gender and by character.
	Groups map[string][]string `json:"groups"`
	// All of them.
	Voices []ServiceVoice `json:"voices"`
}

// ServiceVoice: An object of the service's HTTP API.
type ServiceVoice struct {
	// Its character in a word or two.
	Description string `json:"description"`
	// How it sounds.
	Gender string `json:"gender"`
	// The voice's name for people.
	Name string `json:"name"`
	// What requests call the voice.
	VoiceID string `json:"voice_id"`
}
