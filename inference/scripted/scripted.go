// Package scripted is a small dialogue engine that follows rules. It is no
// language model, says so in Info.Scripted and when a caller asks, and it lets
// everything run offline, deterministically and for nothing.
//
// It answers, in this order, from the rules in the agent's prompt, from the tools
// of the call, from the sentences of the prompt that are facts ("We are open
// Monday to Friday from nine to six."), and from small talk in nine languages;
// else it asks the caller to say it another way. What callers say is compared
// with phrases by the words that matter, so that inflections, polite words and
// the errors of a weak recogniser do no harm.
//
// # Rules in the prompt
//
// Each is one line; all other lines are facts and instructions as usual.
//
//	When the caller says "opening hours", "when are you open": We are open from nine to six.
//	When the caller says "weather in {city}": call get_weather {"city":"{city}"} then say In {city} it is {result.degrees} degrees.
//	When the caller says "book a table for {number}": call book {"people":{number},"day":"{day}"} then say Done, see you on {day}.
//	Ask for {day}: Which day suits you?
//	When nothing matches: I can only take bookings.
//	Q: Do you have parking?
//	A: Yes, behind the house.
//
// A slot such as {day} that an answer or a call needs and the caller has not said
// is asked for. What a slot holds follows from its name: people, guests, party_size
// and the like are numbers; day, date; time, hour; name; phone, order, code and id
// are digits; any other is text. {result} is a tool's answer, {result.field} a
// field of it. The lead may also be "If the caller says", or its translation.
package scripted

import (
	"context"
	"iter"
	"slices"
	"strings"
	"unicode"
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

// Complete implements inference.LLM. The same request always gets the same
// reply, word by word and at once. Usage is a quarter of the characters.
func (*Engine) Complete(ctx context.Context, r inference.Request) iter.Seq2[inference.Delta, error] {
	return func(yield func(inference.Delta, error) bool) {
		if ctx.Err() != nil {
			yield(inference.Delta{}, context.Cause(ctx))
			return
		}
		answer := respond(r)
		in, characters := inference.CountTokens(r.Characters()), 0
		give := func(d inference.Delta, length int) bool {
			characters += length
			d.Usage = &inference.Usage{In: in, Out: inference.CountTokens(characters), Source: inference.UsageCounted}
			return yield(d, nil)
		}
		for _, piece := range pieces(answer.say) {
			if ctx.Err() != nil {
				yield(inference.Delta{}, context.Cause(ctx))
				return
			}
			n := utf8.RuneCountInString(piece)
			if r.MaxTokens > 0 && inference.CountTokens(characters+n) > r.MaxTokens {
				break
			}
			if !give(inference.Delta{Text: piece}, n) {
				return
			}
		}
		if ctx.Err() != nil {
			yield(inference.Delta{}, context.Cause(ctx))
			return
		}
		if c := answer.call; c != nil {
			give(inference.Delta{ToolCall: c}, utf8.RuneCountInString(c.Name)+utf8.RuneCountInString(c.Arguments))
		} else if characters == 0 {
			give(inference.Delta{}, 0)
		}
	}
}

// pieces cuts a text after each word's space.
func pieces(text string) []string {
	var list []string
	start := 0
	for i, r := range text {
		if unicode.IsSpace(r) {
			list = append(list, text[start:i+utf8.RuneLen(r)])
			start = i + utf8.RuneLen(r)
		}
	}
	if start < len(text) {
		list = append(list, text[start:])
	}
	return list
}

// maxHistory is how many messages are looked back at; older ones have nothing to
// say to rules.
const maxHistory = 40

// respond works out the state of the conversation from its messages and answers
// the last of them.
func respond(r inference.Request) reply {
	if len(r.Messages) > 0 && strings.HasPrefix(r.System, inference.SummaryPrompt) {
		return reply{say: summarize(r.Messages[0].Text)}
	}
	if len(r.Messages) > 0 && len(r.Schema) > 0 {
		return reply{say: extract(r.Language, r.Messages[0].Text, r.Schema)}
	}
	l := speak(r.Language)
	d := &dialogue{language: l, script: l.parse(r.System), free: !r.NoTools, memory: map[string]string{}, pending: map[string]bool{}, called: map[string]map[string]string{}}
	for _, t := range r.Tools {
		d.tools = append(d.tools, newTool(t))
	}
	for _, m := range r.Messages {
		d.calls += len(m.ToolCalls)
	}
	messages := r.Messages[max(0, len(r.Messages)-maxHistory):]
	names := map[string]inference.ToolCall{}
	var results []string // of tools, not spoken of yet
	ended := false
	for i := 0; i < len(messages); i++ {
		m := messages[i]
		switch m.Role {
		case inference.RoleAgent:
			if m.Text != "" {
				d.said, results = m.Text, nil
			}
			for _, c := range m.ToolCalls {
				names[c.ID] = c
				d.pending[c.Name+c.Arguments] = true
			}
		case inference.RoleTool:
			c := names[m.ToolCallID]
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
			if i == len(messages)-1 {
				return join(results, answer, d.misses > 0)
			}
		}
	}
	switch {
	case len(results) > 0:
		return reply{say: strings.Join(results, " ")}
	case ended:
		return reply{} // goodbye has been said
	}
	return reply{say: l.talk[greet].answer}
}

// join puts results that came while the caller spoke before the answer to what
// they said, or in its place when that was not understood.
func join(results []string, answer reply, missed bool) reply {
	if len(results) == 0 {
		return answer
	}
	if missed {
		answer.say = ""
	}
	answer.say = strings.TrimSpace(strings.Join(results, " ") + " " + answer.say)
	return answer
}
