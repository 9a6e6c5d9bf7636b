package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"parley/billing"
)

// enginesKey is the list of engines, which only the file has.
const enginesKey = "engines"

// accountKeys is the key of an engine for which accounts bring theirs.
const accountKeys = "account"

const (
	// maxEngines bounds the list.
	maxEngines = 64
	// maxConcurrency is more streams than a node has calls.
	maxConcurrency = 100000
)

// Engine is one speech or language engine.
type Engine struct {
	Name   string   // as settings and agents call it
	Vendor string   // who makes it; of the embedded ones the name
	Model  string   // empty: the vendor's usual one
	Models []string // that agents may name instead; nil: any
	URL    string   // empty: the vendor's own
	APIKey string
	// AccountKeys says that it serves accounts with a key of their own, and no others.
	AccountKeys bool
	Costs       billing.Costs     // what the vendor charges the operator
	Voices      map[string]string // the vendor's voices by ours, F1 to M5; F1-es is F1 in Spanish
	Options     json.RawMessage   // the vendor's settings, a JSON object; nil: none
	Concurrency int               // how many streams the vendor serves at a time with one key; 0: any number
}

// Stage is the engines of one kind.
type Stage struct {
	Engines []string // the default's names, in the order in which they are tried
	URL     string   // of the single engine of a vendor that the settings make, without a final slash
	APIKey  string
	Model   string
	listed  []Engine // those of the list in the file
}

// All is the default's engines, in their order, then the others that agents may name.
func (s *Stage) All() (all []Engine) {
	for _, name := range s.Engines {
		one := Engine{Name: name, Vendor: name}
		if i := slices.IndexFunc(s.listed, func(e Engine) bool { return e.Name == name }); i >= 0 {
			one = s.listed[i]
		} else if !slices.Contains(embedded, name) {
			one.Model, one.URL, one.APIKey = s.Model, s.URL, s.APIKey
		}
		all = append(all, one)
	}
	for _, e := range s.listed {
		if !slices.Contains(s.Engines, e.Name) {
			all = append(all, e)
		}
	}
	return all
}

// vendors make the engines of each stage that the list may have.
var vendors = map[string][]string{"asr": {"assemblyai", "cartesia", "deepgram", "elevenlabs", "openai", "soniox"}, "llm": {"anthropic", "gemini", "openai"}, "tts": {"cartesia", "deepgram", "elevenlabs", "inworld", neural, "openai", "rime"},
	"realtime": {"gemini", "openai"}, "turn": {neural}}

// neural is the vendor of engines that ONNX Runtime runs, of models that the operator brings.
const neural = "onnx"

var (
	engineName = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,31}$`)
	voiceName  = regexp.MustCompile(`^[FM][1-5](-[a-z]{2})?$`)
)

// readEngines reads the list of engines. Its errors are one line, name the key, and never hold a secret.
func readEngines(c *Config, where string, v *yaml.Node) error {
	if v.Kind == yaml.ScalarNode && v.Tag == "!!null" {
		return nil
	}
	if v.Kind != yaml.SequenceNode || len(v.Content) > maxEngines {
		return &Error{where, fmt.Sprintf("is not a list of engines; allowed: entries that begin with \"- name: ...\", %d at most", maxEngines)}
	}
	stages := map[string]*Stage{"asr": &c.ASR, "llm": &c.LLM, "tts": &c.TTS, "realtime": &c.Realtime, "turn": &c.Turn}
	for i, item := range v.Content {
		at := fmt.Sprintf("%s[%d]", where, i)
		r := engineReader{}
		if err := eachKey(at, item, r.read); err != nil {
			return err
		}
		if err := r.finish(at); err != nil {
			return err
		}
		for _, stage := range stages {
			if slices.ContainsFunc(stage.listed, func(e Engine) bool { return e.Name == r.engine.Name }) {
				return &Error{at + ".name", quote(r.engine.Name) + " is there twice; allowed: a name of its own"}
			}
		}
		to := stages[r.stage]
		to.listed = append(to.listed, r.engine)
	}
	return nil
}

// engineReader reads one engine.
type engineReader struct {
	engine Engine
	stage  string
}

// read takes one key.
func (r *engineReader) read(where, name string, v *yaml.Node) error {
	e := &r.engine
	text, isPlain := plain(v)
	isPlain = isPlain && v.Kind == yaml.ScalarNode && text != ""
	ok, allowed := false, ""
	switch name {
	case "name":
		e.Name = text
		ok, allowed = engineName.MatchString(text) && !slices.Contains(slices.Concat(builtASR, builtLLM, builtTTS), text),
			"small letters, digits, dashes and underscores, 32 at most, and no name of an engine that is built"
	case "stage":
		ok, allowed = setWord(&r.stage, text, "asr", "llm", "tts", "realtime", "turn"), "asr, llm, tts, realtime or turn"
	case "vendor":
		e.Vendor = text
		ok, allowed = slices.ContainsFunc(slices.Collect(maps.Values(vendors)), func(list []string) bool { return slices.Contains(list, text) }), "one that the stage has"
	case "model":
		ok, allowed = setLine(&e.Model, text), "one line of text"
	case "models":
		return r.readModels(where, v)
	case "url":
		ok, allowed = setURL(&e.URL, text), allowedURL
	case "key":
		if e.AccountKeys = text == accountKeys; e.AccountKeys {
			return nil
		}
		if !isPlain || !setLine(&e.APIKey, text) {
			return &Error{where, "this value is not allowed; allowed: one line of text"}
		}
		return nil
	case "key_file":
		if e.APIKey, ok = fileText(text); !ok || !oneLine(e.APIKey) {
			return unusable(where, text)
		}
		return nil
	case "costs":
		return r.readCosts(where, v)
	case "voices":
		return r.readVoices(where, v)
	case "options":
		return r.readOptions(where, v)
	case "concurrency":
		ok, allowed = setInt(&e.Concurrency, text, 0, maxConcurrency), fmt.Sprintf("a whole number from 0 (any number) to %d", maxConcurrency)
	default:
		return &Error{where, "is no key of an engine; allowed: name, stage, vendor, model, models, url, key or key_file, costs, voices, options, concurrency"}
	}
	if !isPlain || !ok {
		return &Error{where, quote(text) + " is not allowed; allowed: " + allowed}
	}
	return nil
}

func (r *engineReader) readModels(where string, v *yaml.Node) error {
	var models []string
	wrong := func(model string) bool { return !setLine(new(string), model) }
	if v.Decode(&models) != nil || len(models) == 0 || slices.ContainsFunc(models, wrong) {
		return &Error{where, "is not a list of models; allowed: those that agents may name, one line of text each"}
	}
	r.engine.Models = models
	return nil
}

func (r *engineReader) readCosts(where string, v *yaml.Node) error {
	r.engine.Costs = billing.Costs{}
	return eachKey(where, v, func(where, name string, v *yaml.Node) error {
		text, _ := plain(v)
		unit, known := billing.CostKeys[name]
		cost, err := billing.ParseMoney(text)
		if !known || v.Kind != yaml.ScalarNode || err != nil || cost < 0 {
			return &Error{where, "is not allowed; allowed: US dollars as a plain decimal, for " + strings.Join(slices.Sorted(maps.Keys(billing.CostKeys)), ", ")}
		}
		r.engine.Costs[unit] = cost
		return nil
	})
}

func (r *engineReader) readVoices(where string, v *yaml.Node) error {
	r.engine.Voices = map[string]string{}
	return eachKey(where, v, func(where, name string, v *yaml.Node) error {
		text, ok := plain(v)
		var line string
		if !ok || v.Kind != yaml.ScalarNode || !voiceName.MatchString(name) || !setLine(&line, text) {
			return &Error{where, "is not allowed; allowed: F1 to F5 and M1 to M5, and these in a language as in F1-es, each with the name of one of the vendor's voices"}
		}
		r.engine.Voices[name] = line
		return nil
	})
}

func (r *engineReader) readOptions(where string, v *yaml.Node) error {
	var options map[string]any
	if v.Kind != yaml.MappingNode || v.Decode(&options) != nil {
		return &Error{where, "is not a list of keys; allowed: settings of the vendor"}
	}
	b, err := json.Marshal(options)
	if err != nil {
		return &Error{where, "has a value that JSON cannot hold; allowed: settings of the vendor"}
	}
	r.engine.Options = b
	return nil
}

// finish looks at keys that must fit each other.
func (r *engineReader) finish(at string) error {
	e := r.engine
	switch {
	case e.Name == "":
		return &Error{at, "has no name; allowed: small letters, digits, dashes and underscores, 32 at most"}
	case r.stage == "":
		return &Error{at, "has no stage; allowed: asr, llm, tts, realtime or turn"}
	case !slices.Contains(vendors[r.stage], e.Vendor):
		return &Error{at + ".vendor", quote(e.Vendor) + " has no engine for " + r.stage + "; allowed: " + strings.Join(vendors[r.stage], ", ")}
	case e.Neural() && e.Model == "":
		return &Error{at, "has no model, which " + neural + " needs; allowed: the name of one that parley models list shows"}
	case e.Neural() && (e.URL != "" || e.APIKey != "" || e.AccountKeys || len(e.Models)+len(e.Voices)+len(e.Options)+len(e.Costs)+e.Concurrency > 0):
		return &Error{at, "has more than it can use; allowed with " + neural + ": name, stage, vendor, model"}
	case e.Neural():
		return nil
	case e.Vendor == "openai" && e.URL == "":
		return &Error{at, "has no url, which openai needs; allowed: " + allowedURL}
	case e.Vendor != "openai" && e.APIKey == "" && !e.AccountKeys:
		return &Error{at, "has no key, which " + e.Vendor + " needs; allowed: key or key_file"}
	}
	return nil
}

// Embedded says whether the engine costs nothing but this machine's time.
func (e Engine) Embedded() bool { return slices.Contains(embedded, e.Vendor) }

// Local says whether the engine runs on this machine.
func (e Engine) Local() bool { return e.Embedded() || e.Neural() }

// Neural says whether ONNX Runtime runs it, of the model that it names.
func (e Engine) Neural() bool { return e.Vendor == neural }

// Unproven says whether the engine's adapter was tried against a fake of its vendor, or with a stand-in of its model, only: of no
// vendor was a real exchange recorded yet, and no published weights have run.
func (e Engine) Unproven() bool { return !e.Embedded() }

// TakesKeys says whether accounts may have it work with a key of their own: its vendor wants one.
func (e Engine) TakesKeys() bool { return e.AccountKeys || e.APIKey != "" }

// unencrypted is the host to which an engine's key and what is said in calls go in the clear; empty: none.
func (e Engine) unencrypted() string {
	u, err := url.Parse(e.URL)
	if err != nil || u.Scheme != "http" || !e.TakesKeys() || ThisMachine(u.Hostname()) {
		return ""
	}
	return u.Hostname()
}

// hiddenEngines is a copy of the engines' text without secrets and comments.
func hiddenEngines(v *yaml.Node) *yaml.Node {
	return without(v, func(name string) bool { return name == "key" })
}
