package inference

import (
	"context"
	"encoding/json"
	"iter"
	"strings"
	"unicode/utf8"
)

// LLM answers a conversation.
type LLM interface {
	Info() Info
	// Complete streams a reply. The sequence ends after the last delta or after
	// yielding one non-nil error; breaking out of it or cancelling ctx aborts.
	Complete(ctx context.Context, r Request) iter.Seq2[Delta, error]
}

// Request is one completion.
type Request struct {
	System    string // the agent's prompt
	Unheard   string // the end of the agent's first message, which the caller interrupted and has not heard
	Messages  []Message
	Tools     []Tool
	NoTools   bool   // tools are listed but must not be called (tool_choice none)
	Language  string // two letters, what to answer in
	MaxTokens int    // 0: the engine's default
	// Temperature is 0 to 2; nil: the engine's default.
	Temperature *float64
	// Schema asks for one JSON object that fits this JSON Schema, and nothing else; nil:
	// the answer is text. An engine that cannot promise it answers as well as it can.
	Schema  []byte
	Options Options
}

// Role is who a message is from.
type Role string

// The roles of a conversation.
const (
	RoleUser  Role = "user"
	RoleAgent Role = "agent"
	RoleTool  Role = "tool" // the result of a tool call
)

// Message is one entry of the history the model sees.
type Message struct {
	Role        Role
	Text        string
	Interrupted bool       // agent: cut off; Text is what was heard
	ToolCalls   []ToolCall // agent: calls it made in this message
	ToolCallID  string     // tool: the call this answers
	Parts       []Part     `json:",omitempty"` // agent: what its engine wants back with it
}

// Part is a piece of an agent's message that only one engine understands and wants
// back unchanged in the next request: a block of reasoning, a signature. Other
// engines leave it out.
type Part struct {
	Engine   string
	Provider json.RawMessage
}

// Tool is a function the model may call.
type Tool struct {
	Name        string
	Description string
	Parameters  []byte // JSON Schema of the arguments; empty means none
}

// ToolCall is the model's wish to run a tool.
type ToolCall struct {
	ID        string
	Name      string
	Arguments string // JSON text as the model wrote it
}

// Delta is one piece of a reply: text, a complete tool call, usage, or several.
type Delta struct {
	Text     string
	ToolCall *ToolCall
	Part     *Part  `json:",omitempty"`
	Finish   Finish `json:",omitempty"` // on the last delta of a reply that came to its end
	// Usage is cumulative for this reply; the last one counts.
	Usage *Usage
	// Engine is the one of a failover's that made it; empty: the engine that was asked.
	Engine string
}

// Finish is why a model stopped.
type Finish string

// The reasons to stop.
const (
	FinishStop     Finish = "stop"   // it had said all
	FinishLength   Finish = "length" // it reached MaxTokens: the reply is incomplete
	FinishTools    Finish = "tools"  // it waits for the results of tools
	FinishFiltered Finish = "filter" // its provider held the rest back
)

// Instructions is the prompt and what else the model has to know of the call.
func (r Request) Instructions() string {
	if r.Unheard == "" {
		return r.System
	}
	return strings.TrimSpace(r.System + "\n\nThe caller interrupted your first message before this part of it was heard: \"" + r.Unheard +
		"\" Answer the caller first, then say what of it they still have to know, unless you have done so since.")
}

// Prompt is Instructions, with the language to answer in where the request says.
func (r Request) Prompt() string {
	prompt := strings.TrimSpace(r.Instructions())
	if name := languageNames[r.Language]; name != "" {
		prompt = strings.TrimSpace(prompt + "\n\nAnswer in " + name + ".")
	}
	return prompt
}

// Characters is the length in code points of all that a request gives a model to
// read: prompt, messages, tool calls and tool definitions.
func (r Request) Characters() int {
	n := utf8.RuneCountInString(r.Instructions())
	for _, m := range r.Messages {
		n += utf8.RuneCountInString(m.Text)
		for _, c := range m.ToolCalls {
			n += utf8.RuneCountInString(c.Name) + utf8.RuneCountInString(c.Arguments)
		}
	}
	for _, t := range r.Tools {
		n += utf8.RuneCountInString(t.Name) + utf8.RuneCountInString(t.Description) + utf8.RuneCount(t.Parameters)
	}
	return n
}

// Spoken is the languages that models and voices of vendors know, of ours.
func Spoken() []string { return []string{"en", "es", "ca", "gl", "eu", "pt", "fr", "it", "de"} }

// LanguageOf is our code of a language that a vendor names: en of en-US, eng and English; empty: it is none of Spoken.
func LanguageOf(tag string) string {
	tag, _, _ = strings.Cut(strings.ReplaceAll(strings.ToLower(tag), "_", "-"), "-")
	for code, name := range languageNames {
		if tag == code || tag == threeLetters[code] || tag == strings.ToLower(name) {
			return code
		}
	}
	return ""
}

// threeLetters are the terminological codes of ISO 639-2.
var threeLetters = map[string]string{"en": "eng", "es": "spa", "ca": "cat", "gl": "glg", "eu": "eus", "pt": "por", "fr": "fra", "it": "ita", "de": "deu"}

// languageNames are what a model is asked to answer in.
var languageNames = map[string]string{
	"en": "English", "es": "Spanish", "ca": "Catalan", "gl": "Galician", "eu": "Basque",
	"pt": "Portuguese", "fr": "French", "it": "Italian", "de": "German",
}
