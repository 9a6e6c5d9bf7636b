package wire

import (
	"encoding/json"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// Where the OpenAPI document describes an agent's functions and settings: what is there is made from
// the JSON Schema of agents, when their routes are mounted.
const (
	AgentToolsRef    = "#/components/schemas/AgentTools"
	AgentSettingsRef = "#/components/schemas/AgentSettings"
)

// AgentTools is an agent's list of functions as it was written: the order of a function's
// parameters matters to a language model.
type AgentTools struct{ json.RawMessage }

// Schema implements huma.SchemaProvider.
func (AgentTools) Schema(huma.Registry) *huma.Schema { return &huma.Schema{Ref: AgentToolsRef} }

// AgentSettings is how an agent converses, an object as it was written.
type AgentSettings struct{ json.RawMessage }

// Schema implements huma.SchemaProvider.
func (AgentSettings) Schema(huma.Registry) *huma.Schema { return &huma.Schema{Ref: AgentSettingsRef} }

// AgentDefinition is an agent as the account's owner sees it.
type AgentDefinition struct {
	ID           string        `json:"id" doc:"Names the agent in requests and conversations." example:"ag_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Name         string        `json:"name" doc:"For people." example:"Lola"`
	Voice        string        `json:"voice" doc:"One of the ten." enum:"F1,F2,F3,F4,F5,M1,M2,M3,M4,M5" example:"F1"`
	Language     string        `json:"language" doc:"What it speaks and hears." enum:"en,es,ca,gl,eu,pt,fr,it,de" example:"en"`
	Prompt       string        `json:"prompt" doc:"Who the agent is and what it knows." example:"You answer the telephone of Casa Lola. We are open from nine to six."`
	FirstMessage string        `json:"first_message" doc:"What it says first; empty: it waits for the caller." example:"Casa Lola, good day!"`
	Tools        AgentTools    `json:"tools"`
	Settings     AgentSettings `json:"settings"`
	Version      int64         `json:"version" doc:"Grows with every change; it is the ETag." example:"1"`
	CreatedAt    time.Time     `json:"created_at" doc:"When it was made."`
	UpdatedAt    time.Time     `json:"updated_at" doc:"When it was changed last; its metadata does not count."`
	Metadata     Metadata      `json:"metadata,omitempty"` // of the agent: its versions have none
}

// AgentFields are what a client may set; nil was not mentioned. Voices and languages
// have other names besides the canonical ones, so the schema lets all pass.
type AgentFields struct {
	Voice        *string        `json:"voice,omitempty" doc:"F1 to F5 or M1 to M5; at first F1." example:"F1"`
	Language     *string        `json:"language,omitempty" doc:"What it speaks and hears: en es ca gl eu pt fr it de, or auto, which is the caller's; at first en." example:"en"`
	Prompt       *string        `json:"prompt,omitempty" doc:"Who the agent is and what it knows, 100,000 bytes at most." maxLength:"100000" example:"You answer the telephone of Casa Lola. We are open from nine to six."`
	FirstMessage *string        `json:"first_message,omitempty" doc:"What it says first; empty: it waits for the caller." maxLength:"100000" example:"Casa Lola, good day!"`
	Tools        *AgentTools    `json:"tools,omitempty"`
	Settings     *AgentSettings `json:"settings,omitempty"`
	Metadata     MetadataChange `json:"metadata,omitempty"`
}

type NewAgent struct {
	Name string `json:"name" doc:"For people, 200 bytes at most." minLength:"1" maxLength:"200" example:"Lola"`
	AgentFields
}

type AgentChange struct {
	Name *string `json:"name,omitempty" doc:"For people, 200 bytes at most." minLength:"1" maxLength:"200" example:"Lola"`
	AgentFields
}

// Mistake is one thing that is wrong with an agent's document.
type Mistake struct {
	Path    string `json:"path" doc:"The field, such as settings.speed or tools[0].http.url; body when it is the document as a whole." example:"settings.speed"`
	Problem string `json:"problem" doc:"What is wrong with it, and what is allowed." example:"9, allowed are 0.5 to 2"`
}

// AgentCheck is what is wrong with a document.
type AgentCheck struct {
	Valid    bool      `json:"valid" doc:"Whether it would be taken."`
	Mistakes []Mistake `json:"mistakes" doc:"All that is wrong; empty when it is valid." nullable:"false"`
}

// Change is one field in which two agents differ.
type Change struct {
	Path   string `json:"path" doc:"The field." example:"settings.speed"`
	Before any    `json:"before,omitempty" doc:"What it was; absent: it was not there."`
	After  any    `json:"after,omitempty" doc:"What it is; absent: it is not there."`
}

// AgentDiff is what differs between two versions of an agent.
type AgentDiff struct {
	From    int64    `json:"from" doc:"The version compared with; 0: a new agent." example:"6"`
	To      int64    `json:"to" doc:"The version." example:"7"`
	Changes []Change `json:"changes" doc:"The fields that differ; empty when none does." nullable:"false"`
}
