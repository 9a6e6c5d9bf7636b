package conversation

import (
	"encoding/json"
	"errors"
	"strings"

	"parley/api"
	"parley/api/manage"
	"parley/api/tts"
	"parley/api/wire"
	"parley/cmd/parley/engine"
	"parley/pipeline/agent"
	"parley/pipeline/schema"
	"parley/pipeline/tool"
	"parley/store"
)

// Definition is how the API reads agents, which may name the engines that are offered, and the addresses that guard allows; nil: any.
func Definition(engines agent.Offer, guard *tool.Guard) manage.Definition {
	text, _ := json.Marshal(engine.AgentSchema()) // a value of ours
	names := agent.Names{Voice: tts.Voice, Language: tts.Language, Engines: engines, Guard: guard}
	return manage.Definition{New: NewAgent, Schema: text, Apply: func(a *store.Agent, document json.RawMessage) error {
		return mistaken(ApplyDocument(names, a, document, false))
	}}
}

// mistaken gives mistakes in a document their place in the error table: voices and
// languages have codes of their own when nothing else is wrong.
func mistaken(err error) error {
	wrong, ok := errors.AsType[schema.Mistakes](err)
	if !ok {
		return err
	}
	why := api.ErrBadRequest
	if len(wrong) == 1 {
		switch wrong[0].Path {
		case "voice":
			why = api.ErrVoice
		case "language":
			why = api.ErrLanguage
		}
	}
	each := make([]wire.Mistake, len(wrong))
	for i, m := range wrong {
		each[i] = wire.Mistake{Path: m.Path, Problem: m.Problem}
	}
	return &manage.Mistaken{Refusal: api.Detail(why, wrong.Error()), Mistakes: each}
}

// NewAgent is an agent with the default voice and language.
func NewAgent() store.Agent {
	return store.Agent{Voice: agent.DefaultVoice, Language: agent.DefaultLanguage}
}

// DocumentOf is a stored agent as its owner writes it.
func DocumentOf(a *store.Agent) agent.Document {
	return agent.Document{Name: a.Name, Voice: a.Voice, Language: a.Language, Prompt: a.Prompt, FirstMessage: a.FirstMessage, Tools: a.Tools, Settings: a.Settings}
}

// AgentOf is the agent of a document.
func AgentOf(d agent.Document) store.Agent {
	return store.Agent{Name: d.Name, Voice: d.Voice, Language: d.Language, Prompt: d.Prompt, FirstMessage: d.FirstMessage, Tools: given(d.Tools), Settings: given(d.Settings)}
}

// given is JSON, or nothing for null.
func given(text json.RawMessage) json.RawMessage {
	if string(text) == "null" {
		return nil
	}
	return text
}

// ApplyDocument is names.Apply for a stored agent; what only the server sets stays. Metadata in the document change
// those of the agent name by name.
func ApplyDocument(names agent.Names, a *store.Agent, document []byte, strict bool) error {
	d := DocumentOf(a)
	err := names.Apply(&d, document, strict)
	a.Name, a.Voice, a.Language, a.Prompt, a.FirstMessage, a.Tools, a.Settings = d.Name, d.Voice, d.Language, d.Prompt, d.FirstMessage, d.Tools, d.Settings
	wrong, _ := errors.AsType[schema.Mistakes](err)
	if wrong.Within("body") || wrong.Within("metadata") {
		return err // there is no object to read
	}
	if more := applyMetadata(a, document); more != nil {
		return append(wrong, *more)
	}
	return err
}

// applyMetadata changes an agent's metadata by a document that is an object, and says what is wrong with them.
func applyMetadata(a *store.Agent, document []byte) *schema.Mistake {
	var given struct{ Metadata map[string]json.RawMessage }
	if json.Unmarshal(document, &given) != nil || given.Metadata == nil {
		return nil
	}
	change := wire.MetadataChange{}
	for name, value := range given.Metadata {
		var text *string
		if json.Unmarshal(value, &text) != nil {
			return &schema.Mistake{Path: schema.Join("metadata", name), Problem: "must be a text"}
		}
		change[name] = text
	}
	metadata := change.Apply(a.Metadata)
	if wrong := metadata.Check(); wrong != "" {
		path, problem, _ := strings.Cut(wrong, ": ")
		return &schema.Mistake{Path: path, Problem: problem}
	}
	a.Metadata = metadata
	return nil
}
