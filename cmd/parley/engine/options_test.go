package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"parley/cmd/parley/config"
	"parley/inference"
	"parley/inference/remote"
	"parley/pipeline/agent"
)

// make makes an engine of a vendor with options.
func (o *vendorOptions) make(options string) error {
	c := config.Engine{Name: "e", Vendor: o.vendor, URL: "http://127.0.0.1:1", APIKey: "k", Model: "m", Voices: map[string]string{"F1": "flux-haley-en"}, Options: json.RawMessage(options)}
	var err error
	switch o.stage {
	case agent.StageASR:
		_, err = recognisers(nil)[o.vendor](c)
	case agent.StageLLM:
		_, err = models[o.vendor](c)
	case agent.StageTTS:
		_, err = voices(nil, nil)[o.vendor](c)
	default:
		_, err = realtimes[o.vendor](c)
	}
	return err
}

// TestEveryVendorIsDescribed: once in each stage for which it makes engines. Those that run on this machine have no options.
func TestEveryVendorIsDescribed(t *testing.T) {
	var made, described []string
	add := func(stage agent.Stage, vendors []string) {
		for _, v := range vendors {
			if e := (config.Engine{Vendor: v}); !e.Local() {
				made = append(made, string(stage)+" "+v)
			}
		}
	}
	add(agent.StageASR, slices.Collect(maps.Keys(recognisers(nil))))
	add(agent.StageLLM, slices.Collect(maps.Keys(models)))
	add(agent.StageTTS, slices.Collect(maps.Keys(voices(nil, nil))))
	add(agent.StageRealtime, slices.Collect(maps.Keys(realtimes)))
	for _, o := range options {
		described = append(described, string(o.stage)+" "+o.vendor)
	}
	slices.Sort(made)
	slices.Sort(described)
	if !slices.Equal(made, described) {
		t.Errorf("made are %q, described are %q", made, described)
	}
}

// TestEnginesTakeWhatIsDescribed: each option is one of its engine's, with its bounds, and nothing else is.
func TestEnginesTakeWhatIsDescribed(t *testing.T) {
	wrong := func(o *vendorOptions, name, value string) {
		t.Helper()
		err := o.make(fmt.Sprintf(`{%q: %s}`, name, value))
		if of, ok := errors.AsType[*remote.OptionError](err); !ok || of.Option != name {
			t.Errorf("%s: %s: %s: %v", o.title, name, value, err)
		}
	}
	for _, o := range options {
		if err := o.make("{}"); err != nil {
			t.Errorf("%s: %v", o.title, err)
		}
		wrong(&o, "colour", "1")
		for _, one := range o.all {
			right := map[string]string{"boolean": "true", "string": `"text"`, "": "null"}[one.Type]
			switch {
			case one.Words != nil:
				right = fmt.Sprintf("%q", one.Words[0])
				wrong(&o, one.Name, `"other"`)
			case one.Min < one.Max:
				right = fmt.Sprint(one.Min)
				wrong(&o, one.Name, fmt.Sprint(one.Min-1))
				wrong(&o, one.Name, fmt.Sprint(one.Max+1))
			}
			if err := o.make(fmt.Sprintf(`{%q: %s}`, one.Name, right)); err != nil {
				t.Errorf("%s: %v", o.title, err)
			}
			if !strings.HasSuffix(one.Doc, ".") {
				t.Errorf("%s: %s: %q is no sentence", o.title, one.Name, one.Doc)
			}
		}
	}
}

// TestSchemasSayWhatIsChecked: a validator of JSON Schema takes the same values as the engines.
func TestSchemasSayWhatIsChecked(t *testing.T) {
	values := strings.Fields(`-3 -1 0 0.25 0.5 0.75 1 1.5 2 3 640 1000 8192 40000 true "5m" "low" "chat" "text" "" null [] {}`)
	for _, o := range options {
		text, err := json.Marshal(o.schema())
		if err != nil {
			t.Fatal(err)
		}
		var s jsonschema.Schema
		if err := json.Unmarshal(text, &s); err != nil {
			t.Fatal(err)
		}
		valid, err := s.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range append(slices.Sorted(maps.Keys(s.Properties)), "colour") {
			for _, value := range values {
				given := fmt.Sprintf(`{%q: %s}`, name, value)
				var read map[string]any
				if err := json.Unmarshal([]byte(given), &read); err != nil {
					t.Fatal(err)
				}
				byEngine, bySchema := o.all.Read("e", inference.Options(given)), valid.Validate(read)
				if (byEngine == nil) != (bySchema == nil) {
					t.Errorf("%s: %s: the engine says %v, the schema %v", o.title, given, byEngine, bySchema)
				}
			}
		}
	}
}

// TestSchemaOfAgents: those of language models stand where an agent names one, and documents are read as before.
func TestSchemaOfAgents(t *testing.T) {
	text, err := json.Marshal(AgentSchema())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"title":"Anthropic","type":"object","properties":{"cache_ttl":{"description":"How long a prompt is cached.","type":"string","enum":["5m","1h"]}`,
		`"eot_timeout_ms":{"description":"Of Flux: the longest pause in a turn.","type":"integer","minimum":500,"maximum":60000}`} {
		if n := strings.Count(string(text), want); n != 2 { // alone, and in a list
			t.Errorf("%s is there %d times", want, n)
		}
	}
	if strings.Contains(string(text), "key_header") {
		t.Error("an option of the operator's is an agent's")
	}
	document := []byte(`{"name":"N","settings":{"engines":{"llm":[{"engine":"mind","options":{"temperature":"odd"}}]}}}`)
	for name, wrong := range map[string]error{"without options": agent.Schema.Read("", document).Err(), "with them": AgentSchema().Read("", document).Err()} {
		if wrong != nil {
			t.Errorf("%s: %v", name, wrong)
		}
	}
}

// TestModelsHaveTheirOptions: who asks for a server's engines learns what each may be given.
func TestModelsHaveTheirOptions(t *testing.T) {
	for _, tt := range []struct {
		stage  agent.Stage
		vendor string
		want   bool
	}{{agent.StageLLM, "gemini", true}, {agent.StageTTS, "rime", false}, {agent.StageRealtime, "gemini", false}, {agent.StageLLM, "scripted", false}} {
		if got := schemaOf(tt.stage, tt.vendor); (got != nil) != tt.want {
			t.Errorf("%s %s: %+v", tt.stage, tt.vendor, got)
		}
	}
}
