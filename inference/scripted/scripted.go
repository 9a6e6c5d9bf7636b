// Package scripted is a dialogue engine that follows rules. It is not a language
// model, and says so in Info.Scripted and when a caller asks. It runs offline, costs
// nothing, and gives the same reply to the same request.
//
// Engine answers from four sources, in this order: the rules of the agent's prompt,
// the tools of the call, the sentences of the prompt ("We are open from nine to six.")
// that have the words of a question, and small talk in English and Spanish. When none
// fits it asks the caller to say it another way. In the other languages it has its own
// sentences only, and rules match the words as they are written. Words are compared
// without accents and inflections, so that the errors of a weak recogniser do little harm.
//
// Engine also answers the two requests that follow a call: it summarises a transcript by
// quoting it, and fills a JSON Schema with values that it finds in what the person said. Of
// a boolean whose description quotes something it finds whether that was said.
//
// # Rules in the prompt
//
// Each is one line; all other lines are sentences and instructions as usual.
//
//	When the caller says "opening hours", "when are you open": We are open from nine to six.
//	When the caller says "what is the weather": call get_weather {"city":"{city}"} then say In {city} it is {result.degrees} degrees.
//	When the caller says "book a table for {number}": call book {"people":{number},"day":"{day}"} then say Done, see you on {day}.
//	Ask for {day}: Which day suits you?
//	When nothing matches: I can only take bookings.
//	Q: Do you have parking?
//	A: Yes, behind the house.
//
// The engine asks for a slot such as {day} when an answer or a tool needs it and the
// caller has not said it in the same sentence; free text such as {city} is always asked
// for. What a slot holds follows from its name: people, guests, party_size and the like
// are numbers; day, date; time, hour; name; phone, order, code and id are digits; any
// other is text. {result} is a tool's answer, {result.field} a field of it. The lead may also be "If the caller says", or its translation. A tool without a rule
// is called when the caller says the words of its name; its required arguments are slots.
//
// # Order of reading
//
// script.go reads a prompt, slot.go the values in what a caller says, dialogue.go finds the
// answer, tool.go calls tools and reads results, record.go reads transcripts. language.go
// has the tables of the languages, text.go compares words.
package scripted

import (
	"context"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"parley/inference"
)

// Engine is the dialogue engine. It has no state; the zero value is ready and
// safe for use from several goroutines.
type Engine struct{}

// New returns the engine.
func New() *Engine { return &Engine{} }

// Info implements inference.LLM.
func (*Engine) Info() inference.Info {
	return inference.Info{
		Name: "scripted", Description: "rule-driven dialogue, not a language model",
		Languages: slices.Clone(codes), Scripted: true,
	}
}

// Complete implements inference.LLM. It yields the reply word by word, without delay.
// Usage is a quarter of the characters.
func (*Engine) Complete(ctx context.Context, r inference.Request) iter.Seq2[inference.Delta, error] {
	return func(yield func(inference.Delta, error) bool) {
		var answer reply
		if ctx.Err() == nil {
			answer = respond(r)
		}
		in, characters := inference.CountTokens(r.Characters()), 0
		give := func(d inference.Delta, length int) bool {
			if ctx.Err() != nil {
				yield(inference.Delta{}, context.Cause(ctx))
				return false
			}
			characters += length
			d.Usage = &inference.Usage{In: in, Out: inference.CountTokens(characters), Source: inference.UsageCounted}
			return yield(d, nil)
		}
		last := inference.Delta{Finish: inference.FinishStop}
		for word := range strings.SplitAfterSeq(answer.say, " ") {
			n := utf8.RuneCountInString(word)
			if r.MaxTokens > 0 && inference.CountTokens(characters+n) > r.MaxTokens {
				last.Finish = inference.FinishLength
				break
			}
			if n > 0 && !give(inference.Delta{Text: word}, n) {
				return
			}
		}
		n := 0
		if c := answer.call; c != nil {
			last.ToolCall, last.Finish = c, inference.FinishTools
			n = utf8.RuneCountInString(c.Name) + utf8.RuneCountInString(c.Arguments)
		}
		give(last, n)
	}
}

// respond answers the last message of a conversation, or a request that follows a call.
func respond(r inference.Request) reply {
	if len(r.Messages) > 0 && strings.HasPrefix(r.System, inference.SummaryPrompt) {
		return reply{say: summarize(r.Messages[0].Text)}
	}
	if len(r.Messages) > 0 && len(r.Schema) > 0 {
		return reply{say: extract(r.Language, r.Messages[0].Text, r.Schema)}
	}
	return newDialogue(r).play(r.Messages)
}

// maxHistory is how many messages are looked back at.
const maxHistory = 40

// play goes through the messages and answers the last one.
func (d *dialogue) play(messages []inference.Message) reply {
	messages = messages[max(0, len(messages)-maxHistory):]
	calls := map[string]inference.ToolCall{} // by their identifiers
	var results []string                     // of tools, not spoken yet
	ended := false
	for i := 0; i < len(messages); i++ {
		m := messages[i]
		switch m.Role {
		case inference.RoleAgent:
			if m.Text != "" {
				d.said, results = m.Text, nil
			}
			for _, c := range m.ToolCalls {
				calls[c.ID] = c
				d.pending[c.Name+c.Arguments] = true
			}
		case inference.RoleTool:
			c := calls[m.ToolCallID]
			if m.Text == pendingResult {
				continue
			}
			delete(d.pending, c.Name+c.Arguments)
			if ended = c.Name == endCall; !ended {
				results = append(results, d.speakResult(c.Name, m.Text))
			}
		default:
			var said []string
			for ; i < len(messages) && messages[i].Role == inference.RoleUser; i++ {
				said = append(said, messages[i].Text)
			}
			i--
			answer := d.turn(strings.Join(said, " "))
			if i < len(messages)-1 {
				continue
			}
			if len(results) > 0 && answer.missed { // the results answer what was not understood
				answer.say = ""
			}
			answer.say = strings.TrimSpace(strings.Join(append(results, answer.say), " "))
			return answer
		}
	}
	switch {
	case len(results) > 0:
		return reply{say: strings.Join(results, " ")}
	case ended:
		return reply{} // the goodbye has been said
	}
	return reply{say: d.lines.hello}
}
