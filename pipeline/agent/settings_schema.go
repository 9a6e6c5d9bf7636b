package agent

import (
	"parley/inference/spoken"
	"parley/pipeline/schema"
)

// Bounds of the texts that an agent knows, in characters.
const (
	MaxVariable  = 1000 // of a variable's value
	maxNotice    = 1000 // of what is said before everything else, and to a machine
	maxVariables = 50
	maxSnippets  = 20
	maxTitle     = 200
	maxSnippet   = 4000
)

// VariableName is what a variable of an agent may be called.
const VariableName = `^[A-Za-z][A-Za-z0-9_]{0,39}$`

// oneLine holds no control characters.
const oneLine = `^[^\x00-\x1f\x7f]*$`

// SettingsSchema describes an agent's settings; ParseSettings checks by it, and what no
// schema can say.
var SettingsSchema = settingsSchema()

func settingsSchema() *schema.Schema {
	policies := []string{"always", "never", "after_first_sentence"}
	s := schema.Object("How the agent converses. What is not there has its default.", map[string]*schema.Schema{
		"min_endpoint_ms": schema.Whole("The shortest silence that ends the caller's turn; 200.", 100, 2000),
		"max_endpoint_ms": schema.Whole("The longest wait for the end of the caller's turn; 2400.", 300, 6000),
		"barge_in_ms":     schema.Whole("How long the caller speaks over the agent until it stops; 600.", 200, 3000),
		"turns": schema.OneOf("What ends the caller's turn: words, those that were said and the silence after them; or engine, a recogniser that finds the ends of turns, "+
			"and otherwise silence for max_endpoint_ms; words.", "words", engineTurns),
		"interruptible":               schema.OneOf("Whether the caller may interrupt; always. What is said while they may not is answered afterwards.", policies...),
		"first_message_interruptible": schema.OneOf("The same for the first message; as interruptible, and never with a recording_notice.", policies...),
		"key_interrupts":              schema.Flag("A key that the caller presses interrupts, where speech would; true."),
		"idle_seconds":                schema.Whole("Silence after which the agent speaks up; 10. 0: never.", 0, 600),
		"idle_reprompts":              schema.Whole("How often it does before it says goodbye; 2.", 0, 10),
		"max_duration_seconds":        schema.Whole("The longest conversation; 7200.", 10, 7200),
		"ring_ms":                     schema.Whole("How long an incoming call rings; 1000.", 0, 30000),
		"goodbye":                     schema.Text("What it says when a limit ends the conversation. It may have variables.", 0),
		"phrases":                     schema.List("What callers are expected to say, 2000 texts at most.", maxPhrases, schema.Text("", 0)),
		"send_dtmf":                   schema.Flag("Telephone calls offer send_dtmf, which presses keys; true."),
		"collect_digits":              schema.Flag("Telephone calls offer collect_digits, which has the caller type a number; true."),
		"opt_out":                     schema.Flag("Telephone calls offer opt_out, which puts the other party on the do-not-call list; true."),
		"transfer_any":                schema.Flag("transfer_call may hand calls over to any number that may be called, not only to those of transfer_to; false."),
		"speculative_llm": schema.Flag("Begin replies in pauses in which the caller has probably finished, which makes answers quicker. " +
			"A reply that is begun in vain, at most twice in a turn, is charged as tokens on a line of its own; none is begun while the balance is below zero. " +
			"As llm.speculative_replies_default of the rate card."),
		"speculative_voice": schema.Flag("Have the first sentence of such a reply spoken in advance by a voice of another server, too; false. Voices of this server always do."),
		"speed":             schema.Number("How fast the agent speaks; 1 is the voice's own pace.", 0.5, 2),
		"timezone":          schema.Text("The time zone of {{now}}, such as Europe/Madrid; UTC.", 64),
		"on_machine":        schema.OneOf("What a machine gets that answers a call, unless the call says otherwise: the agent, nothing, or machine_message; continue.", "continue", "hangup", "message"),
		"machine_message":   schema.Text("What is said after a machine's tone; needed with on_machine message. It may have variables.", maxNotice),
		"record":            schema.Flag("Record the agent's calls, both sides; false. Inform callers where the law says so."),
		"record_transfers":  schema.Flag("Go on recording after the caller has been connected to somebody by a call of this server: what the two say. They must know, too; false."),
		"recording_notice":  schema.Text("What is said before the first message, word for word. Neither can be interrupted then.", maxNotice),
	})
	s.Properties["engines"], s.Properties["analysis"] = enginesSchema(), analysisSchema()
	word := func(text string) *schema.Schema {
		return &schema.Schema{Type: "string", Description: text + " 200 bytes at most.", MinLength: 1, MaxLength: spoken.MaxBytes,
			Pattern: `[\p{L}\p{Nd}]`, Form: "must have a letter or digit"}
	}
	s.Properties["pronunciation"] = schema.List("How words are pronounced: whole words, in any case, the longest that fits. Transcripts and captions keep what is written.", spoken.MaxEntries, schema.Object("",
		map[string]*schema.Schema{"word": word("A word, or several, as it is written."), "say": word("As it would be written if it were written as it sounds.")}, "word", "say"))
	line := func(text string, most int) *schema.Schema {
		return &schema.Schema{Type: "string", Description: text, MaxLength: most, Pattern: oneLine, Form: "must be one line"}
	}
	s.Properties["transfer_to"] = schema.List("Whom transfer_call may hand telephone calls over to. The carrier does it; where it refuses, or with warm, "+
		"this server calls them on another line and connects the two.", maxDestinations, schema.Object("",
		map[string]*schema.Schema{"number": schema.Text("In international format. It must be one that may be called.", 0), "name": line("What the agent calls them. No two have one name.", maxLabel),
			"description": line("When to transfer to them.", maxDescription), "warm": schema.Flag("They are called on another line, and told the agent's summary before the caller is put through; false.")}, "number"))
	s.Properties["variables"] = &schema.Schema{Type: "object", MaxProperties: maxVariables, Others: schema.Text("", MaxVariable),
		Description: "The variables that the prompt, the first message, the goodbye and the message to machines name as {{name}}, with their values when nobody gives any. " +
			"A name is a letter and at most 39 letters, digits and _. The server sets {{call.from}}, {{call.to}}, {{caller.name}}, {{caller.verified}} (yes or no) and {{now}}.",
		PropertyNames: &schema.Schema{Pattern: VariableName, Form: "must be a letter and at most 39 letters, digits and _"}}
	filled := func(text string, most int) *schema.Schema {
		return &schema.Schema{Type: "string", Description: text, MinLength: 1, MaxLength: most}
	}
	s.Properties["knowledge"] = schema.List("What the agent knows besides its prompt, to whose end it is added as it is.", maxSnippets, schema.Object("",
		map[string]*schema.Schema{"title": filled("What it is about.", maxTitle), "text": filled("What there is to know.", maxSnippet)}, "title", "text"))
	return s
}
