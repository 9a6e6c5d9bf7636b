package agent

import (
	"parley/inference/spoken"
	"parley/pipeline/schema"
)

// Bounds of the texts that an agent knows, in characters.
const (
	MaxVariable = 1000 // of a variable's value
	maxNotice   = 1000 // of what is said before everything else, and to a machine
	// maxAnnouncement bounds the announcement to callers on hold: about 20 s of speech.
	maxAnnouncement = 300
	maxVariables    = 50
	maxSnippets     = 20
	maxBases        = 10 // collections of documents
	maxTitle        = 200
	maxSnippet      = 4000
)

// VariableName is what a variable of an agent may be called.
const VariableName = `^[A-Za-z][A-Za-z0-9_]{0,39}$`

// oneLine holds no control characters.
const oneLine = `^[^\x00-\x1f\x7f]*$`

// SettingsSchema describes an agent's settings; ParseSettings checks by it, and what no
// schema can say.
var SettingsSchema = schema.Sections("How the agent converses. What is not there has its default.", []schema.Section{
	{ID: "how", Title: "How it sounds", Members: []*schema.Schema{
		schema.Number("How fast the agent speaks; 1 is the voice's own pace.", 0.5, 2).Otherwise(1).
			Named("speed", "Pace", schema.Entry{Step: "0.05", Hint: "0.5 to 2; 1 is the voice's own.", Beside: true}),
		schema.List("How words are pronounced: whole words, in any case, the longest that fits. Transcripts and captions keep what is written.", spoken.MaxEntries,
			schema.Form("", []*schema.Schema{word("word", "A word, or several, as it is written."), word("say", "As it would be written if it were written as it sounds.")}, "word", "say")).
			Named("pronunciation", "Pronunciation", schema.Entry{Lines: 3, Code: true, Placeholder: "SQL = sequel",
				Hint: "How words are said, a line each: the word, an equals sign, how it would be written as it sounds."}),
	}},
	{ID: "manner", Title: "How it converses", Summary: "Interruptions, silence, how long it may last", Members: []*schema.Schema{
		schema.OneOf("Whether the caller may interrupt; always. What is said while they may not is answered afterwards.", interruptions...).Otherwise("always").
			Named("interruptible", "Interruptions", schema.Entry{Label: "May callers interrupt it?", Choices: [][2]any{{"always", "Always"},
				{"after_first_sentence", "After the first sentence of each answer"}, {"never", "Never: it always finishes"}}}),
		schema.OneOf("The same for the first message; as interruptible, and never with a recording_notice.", interruptions...).
			Named("first_message_interruptible", "Interruptions of the first message", schema.Entry{Label: "And its first message?", Hint: "With a notice of recording it is always said to the end.", Beside: true,
				Choices: [][2]any{{nil, "As above"}, {"always", "Always"}, {"after_first_sentence", "After its first sentence"}, {"never", "Never: callers hear all of it"}}}),
		schema.Whole("Silence after which the agent speaks up; 10. 0: never.", 0, 600).Otherwise(10).
			Named("idle_seconds", "Silence", schema.Entry{Label: "Seconds of silence until it asks", Hint: "0: it never does."}),
		schema.Whole("How often it does before it says goodbye; 2.", 0, 10).Otherwise(2).
			Named("idle_reprompts", "Reminders", schema.Entry{Label: "How often it asks", Hint: "Then it says goodbye.", Beside: true}),
		schema.Whole("The longest conversation; 7200.", 10, 7200).Otherwise(7200).
			Named("max_duration_seconds", "Longest conversation", schema.Entry{Label: "Longest conversation, seconds", Hint: "10 to 7200.", Beside: true}),
		schema.Text("What it says when a limit ends the conversation. It may have variables.", 0).
			Named("goodbye", "Goodbye", schema.Entry{Hint: "What it says when a limit ends the conversation."}),
	}},
	{ID: "pace", Title: "When it takes its turn", Summary: "Pauses, answers that are begun early",
		Lead: "The usual values suit most conversations. Longer pauses give people time to think; shorter ones make answers come sooner.",
		Members: []*schema.Schema{
			schema.OneOf("What ends the caller's turn: words, those that were said and the silence after them; or engine, a recogniser that finds the ends of turns, "+
				"and otherwise silence for max_endpoint_ms. As the recogniser does: engine when it finds them, else words.", "words", engineTurns).
				Named("turns", "End of a turn", schema.Entry{Label: "What ends a caller’s turn",
					Choices: [][2]any{{nil, "The recogniser when it finds the ends of turns, else the words"}, {"words", "The words, and the pause after them"},
						{engineTurns, "The recogniser, which must find the ends of turns"}}}),
			schema.Whole("The shortest silence that ends the caller's turn; 950 by the words, and 450 when an engine judges the pause.", 100, 2000).
				Named("min_endpoint_ms", "Shortest pause", schema.Entry{Label: "Shortest pause that ends a caller’s turn, ms", Placeholder: "950",
					Hint: "After a sentence that sounds complete. 100 to 2000."}),
			schema.Whole("The longest wait for the end of the caller's turn; 2400.", 300, 6000).Otherwise(2400).
				Named("max_endpoint_ms", "Longest pause", schema.Entry{Label: "Longest wait for the end of a turn, ms", Hint: "After one that sounds unfinished. 300 to 6000.", Beside: true}),
			schema.Whole("How long the caller speaks over the agent until it stops; 600.", 200, 3000).Otherwise(600).
				Named("barge_in_ms", "Time to interrupt", schema.Entry{Label: "How long callers speak over it until it stops, ms", Hint: "Clear words stop it sooner. 200 to 3000.", Beside: true}),
			schema.Flag("Begin replies in pauses in which the caller has probably finished, which makes answers quicker. "+
				"A reply that is begun in vain, at most twice in a turn, is charged as tokens on a line of its own; none is begun while the balance is below zero. "+
				"As llm.speculative_replies_default of the rate card.").
				Named("speculative_llm", "Begin answers early", schema.Entry{Hint: "Answers come sooner when they are begun in the caller’s pauses. What is begun in vain is charged as tokens.",
					Choices: [][2]any{{nil, "As usual"}, {true, "Yes"}, {false, "No"}}}),
			schema.Flag("Have the first sentence of such a reply spoken in advance by a voice of another server, too; false. Voices of this server always do.").Otherwise(false).
				Named("speculative_voice", "Speak them early", schema.Entry{Label: "Have them spoken early too when the voice is on another server", Hint: "What is spoken in vain is charged by that server."}),
		}},
	{ID: "knows", Title: "Knowledge and variables", Summary: "Knowledge, variables, time zone, expected words", Members: []*schema.Schema{
		schema.List("What the agent knows besides its prompt, to whose end it is added as it is.", maxSnippets, schema.Form("", []*schema.Schema{
			filled("What it is about.", maxTitle).Named("title", "Title", schema.Entry{Width: "medium"}),
			filled("What there is to know.", maxSnippet).Named("text", "Text", schema.Entry{Lines: 3}),
		}, "title", "text").Named("", "Piece of knowledge", schema.Entry{})).
			Named("knowledge", "Knowledge", schema.Entry{Add: "Add a piece",
				Lead: "Pieces of knowledge are added to the end of the prompt as they are: opening hours, a price list, answers to questions."}),
		schema.List("The collections of documents that the agent answers from, by their identifiers: kb_…, of the same account.", maxBases,
			&schema.Schema{Type: "string", MaxLength: 40, Pattern: `^kb_[a-z0-9]+$`, Form: "must be the identifier of a collection, kb_…"}).
			Named("knowledge_bases", "Collections of documents", schema.Entry{Hint: "Up to 10 that the agent answers from."}),
		schema.OneOf("When documents are searched: function, when the model calls search_knowledge; or turn, each time the caller has spoken, for passages that fit their words. A search of a turn "+
			"that takes more than 150 ms is left out. An engine that hears and speaks by itself always has the function.", knowledgeFunction, knowledgeTurn).Otherwise(knowledgeFunction).
			Named("knowledge_mode", "Search of documents", schema.Entry{Label: "When it searches its documents",
				Choices: [][2]any{{knowledgeFunction, "When it wants to know something"}, {knowledgeTurn, "Each time the caller has spoken"}}}),
		(&schema.Schema{Type: "object", MaxProperties: maxVariables, Others: schema.Text("", MaxVariable),
			Description: "The variables that the prompt, the first message, the goodbye and the message to machines name as {{name}}, with their values when nobody gives any. " +
				"A name is a letter and at most 39 letters, digits and _. The server sets {{call.from}}, {{call.to}}, {{caller.name}}, {{caller.verified}} (yes or no), {{caller.attestation}} (A, B or C), {{call.diverted_by}}, {{call.first_called}}, {{call.header.x-name}} and {{now}}.",
			PropertyNames: &schema.Schema{Pattern: VariableName, Form: "must be a letter and at most 39 letters, digits and _"}}).
			Named("variables", "Variables", schema.Entry{Lines: 3, Code: true, Placeholder: "city = Rome",
				Hint: "Names that texts use as {{city}}, a line each, with the value that counts when a call brings none."}),
		schema.List("The variables that visitors may set: pages that hold a session ticket send values of these alone, and never over those of the ticket.", maxVariables,
			schema.Text("", 40)).
			Named("public_variables", "Variables that visitors may set", schema.Entry{Lines: 2, Code: true, Placeholder: "city",
				Hint: "A name each line. A page with the talk button may send values of these."}),
		schema.Text("The time zone of {{now}}, such as Europe/Madrid; UTC.", 64).
			Named("timezone", "Time zone", schema.Entry{Placeholder: "UTC", Width: "medium", Hint: "The time zone of {{now}}, such as Europe/Madrid."}),
		schema.List("What callers are expected to say, 2000 texts at most.", maxPhrases, schema.Text("", 0)).
			Named("phrases", "Expected words", schema.Entry{Label: "Words and sentences that callers are likely to say", Lines: 3, Placeholder: "half board",
				Hint: "A line each: names of products, people and places. They are understood better."}),
	}},
	{ID: "phone", Title: "On the telephone", Summary: "Transfers to people, answering machines, keys", Members: []*schema.Schema{
		schema.List("Whom transfer_call may hand telephone calls over to. The carrier does it; where it refuses, or with warm or stay, "+
			"this server calls them on another line and connects the two.", maxDestinations, schema.Form("", []*schema.Schema{
			schema.Text("A number in international format that may be called; or a SIP address, such as sip:200@pbx.example.com or sip:sales@192.0.2.7:5070;transport=tcp, "+
				"whose server is a target of one of the account's trunks, and which is called there. Telephone numbers have no place in it.", 0).
				Named("number", "Number or SIP address", schema.Entry{Placeholder: "+34911234567", Width: "medium"}),
			line("What the agent calls them. No two have one name.", maxLabel).
				Named("name", "What the agent calls them", schema.Entry{Placeholder: "Sales", Width: "short", Beside: true}),
			line("When to transfer to them.", maxDescription).
				Named("description", "When to transfer to them", schema.Entry{Placeholder: "Prices, orders, invoices"}),
			schema.Flag("They are called on another line, and told the agent's summary before the caller is put through; false.").Otherwise(false).
				Named("warm", "How", schema.Entry{Choices: [][2]any{{false, "Hand the caller over at once"}, {true, "First tell them what it is about"}}}),
			schema.Flag("They are called on another line, and the agent says its summary to both, who hear each other already. It leaves when they have spoken, "+
				"10 seconds after its last word at the latest. If they hang up before that, the agent has the caller again. It takes precedence over warm; false.").Otherwise(false).
				Named("stay", "When they answer", schema.Entry{Choices: [][2]any{{false, "Connect the two and leave"}, {true, "Introduce the two to each other, and stay until they have met"}}}),
		}, "number").Named("", "Somebody to transfer to", schema.Entry{})).
			Named("transfer_to", "Transfers", schema.Entry{Heading: "Transfers", Add: "Add somebody",
				Lead: "Whom the agent may hand callers over to. It decides by what you write here, and tells the caller first."}),
		schema.Flag("transfer_call may hand calls over to any number that may be called, not only to those of transfer_to; false.").Otherwise(false).
			Named("transfer_any", "Transfers to any number", schema.Entry{Label: "It may also transfer to any other number that may be called", Hint: "Callers can then name one. You pay for these calls."}),
		holdSchema(),
		schema.Whole("How often the agent tells callers on hold that they are still waiting; the sound stops for it. 20 to 300 seconds, or 0 for never; 0.", 0, 300).Otherwise(0).
			Named("hold_announcement_seconds", "Announcements while callers wait", schema.Entry{Label: "How often it tells them that they are still on hold, seconds", Hint: "20 to 300; 0: never."}),
		schema.Text("What it says then; without it a sentence in its language. It may have variables.", maxAnnouncement).
			Named("hold_announcement", "Announcement", schema.Entry{Label: "What it says then", Lines: 2, Placeholder: "You are still on hold. Somebody will be with you as soon as they can.",
				Hint: "Empty: a sentence like this, in its language."}),
		schema.OneOf("What a machine gets that answers a call, unless the call says otherwise: the agent, nothing, or machine_message; continue.",
			string(Continue), string(HangUp), string(LeaveMessage)).Otherwise(string(Continue)).
			Named("on_machine", "Answering machines", schema.Entry{Heading: "When a machine answers its calls", Label: "What a voicemail gets", Hint: "A call, or a batch, may say otherwise.",
				Choices: [][2]any{{Continue, "The agent talks, as to a person"}, {HangUp, "Hang up"}, {LeaveMessage, "Leave the message below after the tone"}}}),
		schema.Text("What is said after a machine's tone; needed with on_machine message. It may have variables.", maxNotice).
			Named("machine_message", "Message for machines", schema.Entry{Lines: 2, Hint: "Said after the tone, 1000 characters at most. It may name variables."}),
		schema.Whole("How long an incoming call rings; 1000.", 0, 30000).Otherwise(1000).
			Named("ring_ms", "Ringing", schema.Entry{Heading: "Calls and keys", Label: "How long a call rings before it answers, ms", Hint: "0 to 30000."}),
		schema.Flag("A key that the caller presses interrupts, where speech would; true.").Otherwise(true).
			Named("key_interrupts", "Keys interrupt", schema.Entry{Label: "A key that the caller presses interrupts it, as speech does"}),
		schema.Flag("Telephone calls offer send_dtmf, which presses keys; true.").Otherwise(true).
			Named("send_dtmf", "Pressing keys", schema.Entry{Label: "It may press keys, to get through the menus of others"}),
		schema.Flag("Telephone calls offer collect_digits, which has the caller type a number; true.").Otherwise(true).
			Named("collect_digits", "Typed numbers", schema.Entry{Label: "It may have callers type a number on their keys"}),
		schema.Flag("Telephone calls offer send_sms, which sends the other party a text message of at most 1000 characters, three in a call; false. You pay for the messages.").Otherwise(false).
			Named("send_sms", "Text messages", schema.Entry{Heading: "Text messages", Label: "It may send the people it talks to text messages", Hint: "You pay for them. Three in a call at most."}),
		(&schema.Schema{Type: "string", Description: "The number that text messages come from, one that the account has bought here; without it the account's number of the call.", MaxLength: 16, Pattern: `^\+[1-9][0-9]{6,14}$`, Form: "must be a telephone number such as +12125550100"}).
			Named("sms_from", "Sender of text messages", schema.Entry{Label: "The number they come from", Hint: "One that you have bought here, such as +12125550100. Empty: the number of the call."}),
		schema.Flag("Telephone calls offer opt_out, which puts the other party on the do-not-call list; true.").Otherwise(true).
			Named("opt_out", "Do-not-call list", schema.Entry{Label: "It may put people who ask for it on your do-not-call list", Hint: "The law asks for that in many countries."}),
	}},
	{ID: "parts", Title: "Steps and other agents", Summary: "Parts of the conversation, agents that take the caller over", Members: []*schema.Schema{stepsSchema(), successorsSchema()}},
	{ID: "after", Title: "After a call", Summary: "A summary, and facts taken out of the transcript", Members: []*schema.Schema{analysisSchema()},
		Lead: "When an answered call is over, the agent’s language model reads the transcript. What it writes stands with the call, goes to your webhooks, and is charged as summary tokens."},
	{ID: "engines", Title: "Engines", Summary: "Who hears, answers and speaks for it, and what takes over when that fails", Members: []*schema.Schema{enginesSchema(nil)},
		Lead: "Empty fields use the server default."},
	{ID: "records", Title: "Recording", Summary: "Whether its calls are recorded, or sent on while they last", Members: []*schema.Schema{
		schema.Flag("Record the agent's calls, both sides; false. Inform callers where the law says so.").Otherwise(false).
			Named("record", "Recording", schema.Entry{Label: "Record its calls, both sides", Hint: "Inform callers where the law says so."}),
		schema.Flag("Go on recording after the caller has been connected to somebody by a call of this server: what the two say. They must know, too; false.").Otherwise(false).
			Named("record_transfers", "Recording of transfers", schema.Entry{Label: "Go on when it has put a caller through to somebody", Hint: "That person hears no notice: inform them, too."}),
		schema.Text("What is said before the first message, word for word. Neither can be interrupted then.", maxNotice).
			Named("recording_notice", "Notice of recording", schema.Entry{Hint: "Said before the first message, word for word; it cannot be interrupted."}),
		schema.Flag("Everybody in the call hears a short, soft tone of 1400 Hz when a supervisor begins to listen in, and every 15 seconds after that. Some laws require one; false.").Otherwise(false).
			Named("listening_tone", "Tone of listening", schema.Entry{Label: "A soft tone while a supervisor listens in", Hint: "Everybody in the call hears it when they begin, and every 15 seconds."}),
		streamSchema(),
	}},
})

// holdSchema is what callers hear who are being transferred.
func holdSchema() *schema.Schema {
	s := &schema.Schema{Type: "string", Pattern: `^(` + HoldRinging + `|` + HoldMusic + `|snd_[0-9a-v]{26})$`, Form: "must be " + HoldRinging + ", " + HoldMusic + ", or the identifier of a sound",
		Description: "What callers hear while this server calls somebody for them: ringing, the tone of the country that is called; music; or a sound of the account, by its identifier, " +
			"and the tone again when that is deleted. A carrier that transfers by itself plays what it likes; ringing."}
	return s.Otherwise(HoldRinging).Named("hold_sound", "Sound while callers wait", schema.Entry{Label: "What callers hear while somebody is called for them",
		Hint: "Sounds of yours are kept on the page Sounds.", Choices: [][2]any{{HoldRinging, "A telephone that rings"}, {HoldMusic, "Soft music"}}})
}

// interruptions are whether the caller may interrupt.
var interruptions = []string{"always", "never", "after_first_sentence"}

// filled is a text that is not empty.
func filled(text string, most int) *schema.Schema {
	return &schema.Schema{Type: "string", Description: text, MinLength: 1, MaxLength: most}
}

// line is a text without control characters.
func line(text string, most int) *schema.Schema {
	return &schema.Schema{Type: "string", Description: text, MaxLength: most, Pattern: oneLine, Form: "must be one line"}
}

// word is a text of a pronunciation.
func word(name, text string) *schema.Schema {
	return &schema.Schema{Type: "string", Description: text + " 200 bytes at most.", MinLength: 1, MaxLength: spoken.MaxBytes,
		Pattern: `[\p{L}\p{Nd}]`, Form: "must have a letter or digit", Name: name}
}
