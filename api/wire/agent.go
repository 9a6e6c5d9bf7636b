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
	Language     string        `json:"language" doc:"What it speaks and hears; with auto its caller's, after it began in the one that follows." enum:"en,es,ca,gl,eu,pt,fr,it,de,auto-en,auto-es,auto-ca,auto-gl,auto-eu,auto-pt,auto-fr,auto-it,auto-de" example:"en"`
	Prompt       string        `json:"prompt" doc:"Who the agent is and what it knows." example:"You answer the telephone of Casa Lola. We are open from nine to six."`
	FirstMessage string        `json:"first_message" doc:"What it says first; empty: it waits for the caller." example:"Casa Lola, good day!"`
	Tools        AgentTools    `json:"tools"`
	Settings     AgentSettings `json:"settings"`
	Version      int64         `json:"version" doc:"Grows with every change; it is the ETag." example:"1"`
	CreatedAt    time.Time     `json:"created_at" doc:"When it was made."`
	UpdatedAt    time.Time     `json:"updated_at" doc:"When it was changed last; its metadata does not count."`
	Metadata     Metadata      `json:"metadata,omitempty"` // of the agent: its versions have none
}

// File is the agent as a file, its members in the order in which people write them: what its owner sets.
func (a *AgentDefinition) File() (string, error) { return a.file("", 0) }

// VersionedFile is File with the identifier and the version, which name what the file was made from. Routes and
// commands that take such files ignore both.
func (a *AgentDefinition) VersionedFile() (string, error) { return a.file(a.ID, a.Version) }

func (a *AgentDefinition) file(id string, version int64) (string, error) {
	var settings map[string]json.RawMessage // by name
	if len(a.Settings.RawMessage) > 0 {
		if err := json.Unmarshal(a.Settings.RawMessage, &settings); err != nil {
			return "", err
		}
	}
	text, err := json.Marshal(struct {
		ID           string                     `json:"id,omitempty"`
		Version      int64                      `json:"version,omitempty"`
		Name         string                     `json:"name"`
		Voice        string                     `json:"voice"`
		Language     string                     `json:"language"`
		FirstMessage string                     `json:"first_message"`
		Prompt       string                     `json:"prompt"`
		Tools        AgentTools                 `json:"tools"`
		Settings     map[string]json.RawMessage `json:"settings"`
	}{id, version, a.Name, a.Voice, a.Language, a.FirstMessage, a.Prompt, a.Tools, settings})
	if err != nil {
		return "", err
	}
	return YAML(text)
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
	Changes  []Change  `json:"changes" doc:"The fields of the agent that the document would change; null without agent_id, and when it is not valid."`
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

// FunctionTest is what a function that was tested has come to.
type FunctionTest struct {
	Outcome string `json:"outcome" doc:"Whether it answered, failed, or took too long." enum:"ok,error,timeout" example:"ok"`
	Result  string `json:"result" doc:"What the model would read: of a request JSON with the status and the body of the answer, or the error." example:"{\"status\":200,\"body\":{\"state\":\"sent\"}}"`
	TookMS  int64  `json:"took_ms" doc:"How long that took, in milliseconds." example:"132"`
}
