package agent

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"parley/media/denoise"
	"parley/media/vad"
	"parley/pipeline/schema"
)

// Bounds of what an agent says of engines and of what comes after a call.
const (
	maxEngines       = 8
	maxModel         = 100 // characters, as the next
	maxSummaryPrompt = 2000
)

// Stage is a kind of engines that a call needs.
type Stage string

// The stages, as agents and records name them. Of vad and denoise, which are part of the program, a call has
// one each for its whole length, and of realtime one at most.
const (
	StageASR     Stage = "asr"
	StageLLM     Stage = "llm"
	StageTTS     Stage = "tts"
	StageVAD     Stage = "vad"
	StageDenoise Stage = "denoise"
	// StageRealtime stands for the first three: one engine that hears, answers and speaks.
	StageRealtime Stage = "realtime"
)

// named are the stages whose engines a server names.
var named = []Stage{StageASR, StageLLM, StageTTS, StageRealtime}

// Engine is one that an agent wants of the server's, as the server has it or with a model and options of its own. Hosts, keys
// and paths are the server's in any case.
type Engine struct {
	Name    string          `json:"engine"`
	Model   string          `json:"model,omitempty"`   // empty: the server's
	Options json.RawMessage `json:"options,omitempty"` // an object, whose members count before the server's; nil: there are none

	at string // its place in the list that names it, as in [0]; empty: it stands alone
}

// Own says whether the agent wants it otherwise than the server has it.
func (e Engine) Own() bool { return e.Model != "" || len(e.Options) > 0 }

// UnmarshalJSON takes a name, or an object.
func (e *Engine) UnmarshalJSON(text []byte) error {
	if json.Unmarshal(text, &e.Name) == nil {
		return nil
	}
	type plain Engine // without this method
	return json.Unmarshal(text, (*plain)(e))
}

// EngineList is engines of one stage, in the order in which they are tried.
type EngineList []Engine

// UnmarshalJSON takes one engine, or a list.
func (l *EngineList) UnmarshalJSON(text []byte) error {
	if text = bytes.TrimSpace(text); !bytes.HasPrefix(text, []byte("[")) {
		*l = make(EngineList, 1)
		return json.Unmarshal(text, &(*l)[0])
	}
	if err := json.Unmarshal(text, (*[]Engine)(l)); err != nil {
		return err
	}
	for i := range *l {
		(*l)[i].at = fmt.Sprintf("[%d]", i)
	}
	return nil
}

// Engines are those that an agent wants of the server's. An empty stage is as the server
// has it.
type Engines struct {
	ASR EngineList `json:"asr,omitempty"`
	LLM EngineList `json:"llm,omitempty"`
	TTS EngineList `json:"tts,omitempty"`
	// VAD and Denoise are one name each at most.
	VAD     EngineList `json:"vad,omitempty"`
	Denoise EngineList `json:"denoise,omitempty"`
	// Realtime is one name at most, and counts more than ASR, LLM and TTS in calls.
	Realtime EngineList `json:"realtime,omitempty"`
}

// Of are those of one stage.
func (e *Engines) Of(s Stage) EngineList {
	switch {
	case e == nil:
		return nil
	case s == StageASR:
		return e.ASR
	case s == StageLLM:
		return e.LLM
	case s == StageVAD:
		return e.VAD
	case s == StageDenoise:
		return e.Denoise
	case s == StageRealtime:
		return e.Realtime
	}
	return e.TTS
}

// Offer is the engines that a server has for agents.
type Offer interface {
	// Names are those of a stage, in the server's order.
	Names(Stage) []string
	// Check says what is wrong with the model or the options of one of them, and in which member of it, as in
	// options.temperature. An empty problem: nothing.
	Check(Stage, Engine) (member, problem string)
	// EndsTurns says whether a recogniser finds the ends of turns.
	EndsTurns(Engine) bool
}

// Analysis is what a language model makes of a call that has ended.
type Analysis struct {
	Summary       bool   `json:"summary,omitempty"`
	SummaryPrompt string `json:"summary_prompt,omitempty"` // added to what is asked for anyway
	// Extract is the JSON Schema of what is taken out of the transcript; nil: nothing is.
	Extract json.RawMessage `json:"extract,omitempty"`
}

// Wanted says whether there is anything to do.
func (a *Analysis) Wanted() bool { return a != nil && (a.Summary || len(a.Extract) > 0) }

// enginesSchema describes the engines that an agent names. options are what those of a stage may be given, one form for each
// vendor; nil: anything.
func enginesSchema(options map[Stage][]*schema.Schema) *schema.Schema {
	name := func(text string) *schema.Schema {
		return &schema.Schema{Type: "string", Description: text, MinLength: 1, MaxLength: maxLabel}
	}
	stage := func(of Stage, text, title, label string) *schema.Schema {
		named := name(text)
		own := schema.Form("An engine with a model or options of its own.", []*schema.Schema{
			name("Its name.").Named("engine", "Engine", schema.Entry{}),
			(&schema.Schema{Type: "string", Description: "The model, as its vendor calls it; without it the server's.", MaxLength: maxModel}).
				Named("model", "Model", schema.Entry{Placeholder: "The server’s"}),
			(&schema.Schema{Type: "object", Description: "Settings of the engine, which count before the server's. Unknown ones are refused.", Either: options[of], Loose: true}).
				Named("options", "Options", schema.Entry{Lines: 2, Code: true, Placeholder: "temperature: 0.3", Hint: "A line each."}),
		}, "engine")
		return (&schema.Schema{Description: text, Either: []*schema.Schema{named, own, schema.List("", maxEngines, &schema.Schema{Either: []*schema.Schema{named, own}})}}).
			Named(string(of), title, schema.Entry{Label: label, Add: "Add one that takes over"})
	}
	built := func(name Stage, text, title, label string, choices [][2]any) *schema.Schema {
		var names []string
		for _, c := range choices {
			names = append(names, c[0].(string))
		}
		return schema.OneOrMore(text, 1, schema.OneOf("", names...)).
			Named(string(name), title, schema.Entry{Label: label, Choices: append([][2]any{{nil, "Server default"}}, choices...)})
	}
	const realtime = "One engine that hears, answers and speaks by itself, by its name, in place of the three above in calls; llm then serves what comes after them. " +
		"Its audio is charged by the token."
	return schema.Form("The engines that it uses, of those that the server offers (GET /models), each by name or as an object with a model and options of its own: "+
		"one, or several that are tried in order, the next within the turn in which one fails. Every server has those of vad and denoise, of which one is named. "+
		"What is absent is the server's default. A call's engines say which of the others served.", []*schema.Schema{
		stage(StageASR, "Recognition.", "Engines for hearing", "Hearing: turns speech into text"),
		stage(StageLLM, "The language model.", "Engines for answering", "Answering: decides what to say"),
		stage(StageTTS, "The voice.", "Engines for speaking", "Speaking: turns text into speech"),
		schema.OneOrMore(realtime, 1, name(realtime)).
			Named(string(StageRealtime), "One engine for all three", schema.Entry{Label: "All three in one: hears, answers and speaks by itself", Add: "Choose one"}),
		built(StageVAD, "What notices that the caller speaks: spectral, which is the sooner, or silero, a neural network that tells their voice from others behind them.",
			"Voice detection", "Noticing: finds where the caller speaks", [][2]any{{vad.Spectral, "spectral: notices a voice soonest"},
				{vad.Silero, "silero: tells the caller from voices in the background"}}),
		built(StageDenoise, "What takes the noise off the caller's audio: spectral; gtcrn, a neural network that takes more of it, costs more of the server and is 18 ms later; or off, nothing.",
			"Noise removal", "Cleaning: takes noise off the caller’s voice", [][2]any{{denoise.Spectral, "spectral: takes off steady noise"},
				{denoise.GTCRN, "gtcrn: takes off more, but also from the caller where others talk"}, {denoise.Off, "off: leaves it as it comes"}}),
	}).Named("engines", "Engines", schema.Entry{})
}

func analysisSchema() *schema.Schema {
	return schema.Form("What the agent's language model makes of each answered call when it is over, charged as summary tokens. A call's analysis has it, and webhooks get call.analyzed.", []*schema.Schema{
		schema.Flag("Write a summary of the call, in a few sentences; false.").Otherwise(false).
			Named("summary", "Summary", schema.Entry{Label: "Write a summary of each call"}),
		schema.Text("What the summary is to look at besides; summary is needed, too.", maxSummaryPrompt).
			Named("summary_prompt", "What the summary looks at", schema.Entry{Label: "What the summary should look at besides", Lines: 2,
				Placeholder: "Name the dishes that were ordered.", Hint: "2000 characters at most; only with a summary."}),
		(&schema.Schema{Type: "object", Description: fmt.Sprintf("A JSON Schema, %d bytes at most, of the facts that are taken out of the transcript: type object with properties, "+
			"and on every level type, title, description, enum (texts), minimum, maximum, minLength, maxLength, maxItems, items, properties, required and additionalProperties. "+
			"What does not fit it is asked for once more, and then the analysis has failed.",
			schema.MaxWritten)}).Named("extract", "Facts", schema.Entry{Heading: "Facts", Label: "What is taken out of the transcript", Lines: 10, Code: true, Add: "Add a fact",
			Hint: "A JSON Schema, as YAML or JSON. Empty it to list the facts one by one.", Each: factSchema(),
			Lead: "What is taken out of the transcript, one entry each: whether a table was booked, for how many, on which day."}),
	}).Named("analysis", "After the call", schema.Entry{})
}

// factSchema describes a property of the schema of facts as people enter it. The kind choice is a
// text that is one of the choices.
func factSchema() *schema.Schema {
	return schema.Form("", []*schema.Schema{
		schema.Text("", 0).Named("name", "Name in the results", schema.Entry{Placeholder: "guests", Width: "short"}),
		schema.OneOf("", "string", "choice", "integer", "number", "boolean").Otherwise("string").
			Named("kind", "What it is", schema.Entry{Beside: true, Choices: [][2]any{{"string", "A text"}, {"choice", "One of several answers"},
				{"integer", "A whole number"}, {"number", "A number"}, {"boolean", "Yes or no"}}}),
		schema.Text("", 0).Named("choices", "Answers, with commas between them", schema.Entry{Placeholder: "booked, cancelled, asked"}),
		schema.Text("", 0).Named("description", "Explanation for the model", schema.Entry{Placeholder: "For how many people the table is"}),
		schema.Flag("").Otherwise(false).
			Named("needed", "When nothing was said of it", schema.Entry{Choices: [][2]any{{false, "Leave it out"}, {true, "Fill it in all the same"}}}),
	}, "name", "choices").Named("", "Fact", schema.Entry{})
}

// checkAfter says what no schema can of engines and analysis.
func (s *Settings) checkAfter(wrong *schema.Mistakes) {
	for _, stage := range named {
		list := s.Engines.Of(stage)
		for i, e := range list {
			same := func(o Engine) bool {
				return o.Name == e.Name && o.Model == e.Model && string(o.Options) == string(e.Options)
			}
			if slices.ContainsFunc(list[:i], same) {
				wrong.Add(fmt.Sprintf("settings.engines.%s[%d]", stage, i), "%q is there twice", e.Name)
			}
		}
	}
	a := s.Analysis
	if a == nil || wrong.Within("settings.analysis") {
		return
	}
	if a.SummaryPrompt != "" && !a.Summary {
		wrong.Add("settings.analysis.summary_prompt", "needs summary to be true")
	}
	if len(a.Extract) > 0 {
		_, more := schema.Parse("settings.analysis.extract", a.Extract)
		*wrong = append(*wrong, more...)
	}
}

// checkTurns says what is wrong with turns that are left to a recogniser: the first one that the agent uses.
func (n Names) checkTurns(s *Settings, wrong *schema.Mistakes) {
	if len(s.Engines.Of(StageRealtime)) > 0 {
		return // it finds them where it can
	}
	used := s.Engines.Of(StageASR)
	for _, name := range n.Engines.Names(StageASR) {
		used = append(used[:len(used):len(used)], Engine{Name: name})
	}
	if or(s.Turns, "") != engineTurns || wrong.Within("settings.engines.asr") || len(used) == 0 || n.Engines.EndsTurns(used[0]) {
		return
	}
	wrong.Add("settings.turns", "the recogniser %s does not find the ends of turns; name one that does in settings.engines.asr", schema.Quote(used[0].Name))
}

// wrongOn says what is wrong with an agent's engines on a server that offers others.
func (e *Engines) wrongOn(server Offer) (wrong schema.Mistakes) {
	for _, stage := range named {
		offered := server.Names(stage)
		for _, one := range e.Of(stage) {
			path := "settings.engines." + string(stage) + one.at
			if !slices.Contains(offered, one.Name) {
				wrong.Add(path, "there is no engine %s here; there are: %s", schema.Quote(one.Name), cmp.Or(schema.And(offered), "none"))
			} else if member, problem := server.Check(stage, one); problem != "" {
				wrong.Add(schema.Join(path, member), "%s", problem)
			}
		}
	}
	return wrong
}
