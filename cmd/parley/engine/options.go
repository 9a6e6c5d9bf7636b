package engine

import (
	"bytes"
	"encoding/json"
	"slices"

	"parley/api/docs"
	"parley/inference/anthropic"
	"parley/inference/assemblyai"
	"parley/inference/cartesia"
	"parley/inference/deepgram"
	"parley/inference/elevenlabs"
	"parley/inference/gemini"
	"parley/inference/openai"
	"parley/inference/remote"
	"parley/inference/soniox"
	"parley/pipeline/agent"
	"parley/pipeline/schema"
)

// vendorOptions are those of a vendor's engines of one stage.
type vendorOptions struct {
	stage  agent.Stage
	vendor string
	title  string // for people
	all    remote.Options
}

// options are those of all vendors, in the order of the documentation.
var options = []vendorOptions{
	{agent.StageASR, "deepgram", "Deepgram, recognition", new(deepgram.Options).All()},
	{agent.StageASR, "assemblyai", "AssemblyAI", new(assemblyai.Options).All()},
	{agent.StageASR, "soniox", "Soniox", new(soniox.Options).All()},
	{agent.StageASR, "cartesia", "Cartesia, recognition", new(cartesia.InkOptions).All()},
	{agent.StageASR, "elevenlabs", "ElevenLabs, recognition", new(elevenlabs.ScribeOptions).All()},
	{agent.StageASR, "openai", "OpenAI, recognition", nil},
	{agent.StageLLM, "anthropic", "Anthropic", new(anthropic.Options).All()},
	{agent.StageLLM, "gemini", "Gemini, models", new(gemini.Options).All()},
	{agent.StageLLM, "openai", "OpenAI, models", new(openai.Options).All()},
	{agent.StageTTS, "cartesia", "Cartesia, voices", new(cartesia.Options).All()},
	{agent.StageTTS, "deepgram", "Deepgram, voices", new(deepgram.VoiceOptions).All()},
	{agent.StageTTS, "elevenlabs", "ElevenLabs, voices", new(elevenlabs.Options).All()},
	{agent.StageTTS, "inworld", "Inworld", nil},
	{agent.StageTTS, "openai", "OpenAI, voices", nil},
	{agent.StageTTS, "rime", "Rime", nil},
	{agent.StageRealtime, "gemini", "Gemini, all three in one", new(gemini.LiveOptions).All()},
	{agent.StageRealtime, "openai", "OpenAI, all three in one", new(openai.RealtimeOptions).All()},
}

// keptOption is one that an agent gives an engine although only operators change it, and they have set it; empty: there is none.
func keptOption(stage agent.Stage, vendor string, operators, agents json.RawMessage) string {
	i := slices.IndexFunc(options, func(o vendorOptions) bool { return o.stage == stage && o.vendor == vendor })
	var theirs, given map[string]json.RawMessage
	if i < 0 || json.Unmarshal(operators, &theirs) != nil || json.Unmarshal(agents, &given) != nil {
		return ""
	}
	for _, o := range options[i].all {
		if set, ok := theirs[o.Name]; ok && o.Kept && given[o.Name] != nil && !bytes.Equal(given[o.Name], set) {
			return o.Name
		}
	}
	return ""
}

// Documented are the options of all vendors, for the documentation.
func Documented() (list []docs.Engine) {
	for _, o := range options {
		list = append(list, docs.Engine{Title: o.title, Operators: o.stage == agent.StageRealtime, Options: o.all})
	}
	return list
}

// AgentSchema is the schema of agents with the options of all vendors.
func AgentSchema() *schema.Schema {
	forms := map[agent.Stage][]*schema.Schema{}
	for _, o := range options {
		forms[o.stage] = append(forms[o.stage], o.schema())
	}
	return agent.WithOptions(forms)
}

// schema is the options as JSON Schema.
func (o *vendorOptions) schema() *schema.Schema {
	s := schema.Object("", map[string]*schema.Schema{})
	s.Title = o.title
	for _, one := range o.all {
		p := &schema.Schema{Type: one.Type, Description: one.Doc, Enum: one.Words}
		if one.Min < one.Max {
			p.Minimum, p.Maximum = &one.Min, &one.Max
		}
		s.Properties[one.Name] = p
	}
	return s
}

// schemaOf is what agents may give an engine, as JSON Schema; nil: nothing.
func schemaOf(stage agent.Stage, vendor string) any {
	i := slices.IndexFunc(options, func(o vendorOptions) bool { return o.stage == stage && o.vendor == vendor })
	if i < 0 || len(options[i].all) == 0 || stage == agent.StageRealtime {
		return nil
	}
	return options[i].schema()
}
