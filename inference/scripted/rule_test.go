package scripted

import (
	"fmt"
	"strings"
	"testing"

	"parley/inference"
)

const rules = `You answer the phone of a hair salon.
When the caller says "opening hours", "when are you open": We are open from nine to six.
- If the caller says “do you have a sauna” or "is there a sauna": "Sadly not."
When the caller says "weather in {city}", "weather for {city} please": call get_weather {"city":"{city}"} then say In {city} it is {result.degrees} degrees{result.wind}.
When the caller says "book a table for {number}", "reserve a table": call book_table {"people":{number},"when":{"day":"{day}","time":"{time}"},"vip":"no"}
When the caller says "I want to leave a message": All right {name}, I will call you on {phone}.
When the caller says "ping": call ping
Ask for {day}: Which day suits you?
When nothing matches: Please ask about hair.
When the caller says nothing useful, be patient.
When the caller says "broken": call broken {"x":
Cuando el cliente diga "hola jefe": Hola, jefa.
`

// talkTo plays callers' turns against the engine with tools at hand, each of
// which answers as results says, and returns what the engine did in each turn.
func talkTo(t *testing.T, r inference.Request, results map[string]string, turns ...string) []string {
	t.Helper()
	var log []string
	for _, said := range turns {
		r.Messages = append(r.Messages, inference.Message{Role: inference.RoleUser, Text: said})
		did := ""
		for range 3 {
			answer := respond(r)
			m := inference.Message{Role: inference.RoleAgent, Text: answer.say}
			did = strings.TrimSpace(did + " " + answer.say)
			if answer.call == nil {
				r.Messages = append(r.Messages, m)
				break
			}
			did = strings.TrimSpace(did + " " + answer.call.Name + answer.call.Arguments)
			m.ToolCalls = []inference.ToolCall{*answer.call}
			r.Messages = append(r.Messages, m)
			result, has := results[answer.call.Name]
			if !has {
				break
			}
			r.Messages = append(r.Messages, inference.Message{Role: inference.RoleTool, ToolCallID: answer.call.ID, Text: result})
		}
		log = append(log, did)
	}
	return log
}

func tools(names ...string) []inference.Tool {
	var list []inference.Tool
	for _, n := range names {
		list = append(list, inference.Tool{Name: n, Parameters: []byte(`{"type":"object","properties":{"people":{"type":"integer"},"vip":{"type":"boolean"}}}`)})
	}
	return list
}

// TestRules plays the documented form, one conversation a line.
func TestRules(t *testing.T) {
	results := map[string]string{"get_weather": `{"degrees":21,"sky":"clear"}`, "book_table": `{"message":"Booked."}`, "ping": "", "end_call": "ok"}
	for name, c := range map[string]struct{ said, did []string }{
		"text":              {[]string{"what are your opening hours"}, []string{"We are open from nine to six."}},
		"misheard":          {[]string{"what are your openings hour"}, []string{"We are open from nine to six."}},
		"quotes and or":     {[]string{"is there a sauna"}, []string{"Sadly not."}},
		"another lead":      {[]string{"hola jefe"}, []string{"Hola, jefa."}},
		"free text":         {[]string{"what's the weather in New York", "in new york please"}, []string{"Could you tell me the city?", `get_weather{"city":"New York"} In New York it is 21 degrees.`}},
		"another question":  {[]string{"the weather please", "when are you open", "paris"}, []string{"Could you tell me the city?", "We are open from nine to six. Could you tell me the city?", `get_weather{"city":"Paris"} In Paris it is 21 degrees.`}},
		"no arguments":      {[]string{"ping"}, []string{"ping{} Done."}},
		"own fallback":      {[]string{"tell me a joke", "tell me a joke"}, []string{"Please ask about hair.", "Please ask about hair."}},
		"not a rule":        {[]string{"nothing useful"}, []string{"Please ask about hair."}},
		"broken rule":       {[]string{"broken"}, []string{"Please ask about hair."}},
		"all in one":        {[]string{"book a table for four on friday at half past seven in the evening"}, []string{`book_table{"people":4,"vip":"no","when":{"day":"Friday","time":"19:30"}} Booked.`}},
		"asked for":         {[]string{"reserve a table please", "two people", "tomorrow", "at seven"}, []string{"For how many people?", "Which day suits you?", "At what time?", `book_table{"people":2,"vip":"no","when":{"day":"tomorrow","time":"7:00"}} Booked.`}},
		"bare answers":      {[]string{"reserve a table", "for six", "on the friday", "seven in the evening"}, []string{"For how many people?", "Which day suits you?", "At what time?", `book_table{"people":6,"vip":"no","when":{"day":"Friday","time":"19:00"}} Booked.`}},
		"question between":  {[]string{"reserve a table", "what are your opening hours", "three"}, []string{"For how many people?", "We are open from nine to six. For how many people?", "Which day suits you?"}},
		"given up":          {[]string{"reserve a table", "i really do wonder", "xyzzy", "two"}, []string{"For how many people?", "Please ask about hair.", "Please ask about hair.", "Please ask about hair."}},
		"declined":          {[]string{"reserve a table", "no thank you"}, []string{"For how many people?", "All right. Is there anything else?"}},
		"names and digits":  {[]string{"i want to leave a message my name is mary jane", "one two three four oh six"}, []string{"Could you tell me the phone, digit by digit?", "All right Mary Jane, I will call you on 123406."}},
		"not remembered":    {[]string{"my name is mary", "i want to leave a message", "mary", "555 1234"}, []string{"Please ask about hair.", "What name, please?", "Could you tell me the phone, digit by digit?", "All right Mary, I will call you on 5551234."}},
		"goodbye":           {[]string{"goodbye"}, []string{`Thank you for calling. Goodbye! end_call{}`}},
		"goodbye in a form": {[]string{"reserve a table", "goodbye"}, []string{"For how many people?", `Thank you for calling. Goodbye! end_call{}`}},
	} {
		t.Run(name, func(t *testing.T) {
			r := inference.Request{System: rules, Language: "en", Tools: tools("get_weather", "book_table", "ping", "end_call")}
			got := talkTo(t, r, results, c.said...)
			if fmt.Sprint(got) != fmt.Sprint(c.did) {
				t.Errorf("got  %q\nwant %q", got, c.did)
			}
		})
	}
}

// TestNoResult: a rule says nothing of what its function did not answer.
func TestNoResult(t *testing.T) {
	const failed = "I'm sorry, that did not work."
	for result, want := range map[string]string{
		`{"degrees":21}`:                                  "In Paris it is 21 degrees.",
		`{"degrees":0}`:                                   "In Paris it is 0 degrees.",
		`{"error":null,"degrees":21,"ok":true}`:           "In Paris it is 21 degrees.",
		`{"error":"the function did not answer in time"}`: failed,
		`{"error":{"code":500}}`:                          failed,
		`{"ok":false,"degrees":21}`:                       failed,
		`{"success":false,"sky":"clear"}`:                 failed,
		`{"ok":true}`:                                     failed,
		`{"degrees":null}`:                                failed,
		`{"sky":"clear"}`:                                 failed,
		`{}`:                                              failed,
		`null`:                                            failed,
		``:                                                failed,
	} {
		r := inference.Request{System: rules, Language: "en", Tools: tools("get_weather", "ping")}
		if got := talkTo(t, r, map[string]string{"get_weather": result}, "what is the weather", "in Paris"); got[1] != `get_weather{"city":"Paris"} `+want {
			t.Errorf("%s: %q", result, got)
		}
	}
	r := inference.Request{System: rules, Language: "en", Tools: tools("ping"), Messages: []inference.Message{
		{Role: inference.RoleUser, Text: "ping"},
		{Role: inference.RoleAgent, ToolCalls: []inference.ToolCall{{ID: "call_1", Name: "ping", Arguments: `{}`}}},
		{Role: inference.RoleTool, ToolCallID: "call_1", Text: pendingResult},
		{Role: inference.RoleUser, Text: "when are you open"},
	}}
	if got := respond(r).say; got != "We are open from nine to six." {
		t.Errorf("while the function runs: %q", got)
	}
	r.Messages[3].Text = "ping"
	if got := respond(r); got.call != nil || got.say != english.lines.moment {
		t.Errorf("asked again while the function runs: %+v", got)
	}
}

// TestWithoutTools: rules whose tool is missing or switched off say so, and a
// goodbye is only said.
func TestWithoutTools(t *testing.T) {
	r := inference.Request{System: rules, Language: "en"}
	want := fmt.Sprint([]string{english.lines.cannot, english.lines.goodbye})
	if got := talkTo(t, r, nil, "ping", "goodbye"); fmt.Sprint(got) != want {
		t.Errorf("no tools: %q", got)
	}
	r.Tools, r.NoTools = tools("ping", "end_call"), true
	if got := talkTo(t, r, nil, "ping", "goodbye"); fmt.Sprint(got) != want {
		t.Errorf("tools off: %q", got)
	}
}

var shop = []inference.Tool{
	{Name: "end_call"},
	{Name: "get_order_status", Description: "Looks up where an order is.", Parameters: []byte(`{"type":"object","properties":{"order_id":{"type":"integer"},"verbose":{"type":"boolean"}},"required":["order_id"]}`)},
	{Name: "getWeather", Description: "Current weather of a city", Parameters: []byte(`{"type":"object","properties":{"city":{"type":"string"},"day":{"type":"string"}},"required":["city"]}`)},
	{Name: "set_light", Description: "Switches a light", Parameters: []byte(`{"properties":{"room":{"enum":["kitchen","living_room"]}},"required":["room"]}`)},
	{Name: "transfer_call", Description: "Transfers the caller to a human"},
}

// TestToolsByThemselves: tools are found by their names when
// the prompt has no rule for them.
func TestToolsByThemselves(t *testing.T) {
	results := map[string]string{"get_order_status": `{"status":"shipped","message":"It has been shipped.","items":["a","b"],"more":{"y":1}}`,
		"getWeather": "Sunny, 21 degrees.", "set_light": `{"ok":true,"error":"bulb broken"}`, "transfer_call": `"One moment, connecting you."`}
	for name, c := range map[string]struct{ said, did []string }{
		"at once":     {[]string{"what is the status of order 1234"}, []string{`get_order_status{"order_id":1234} It has been shipped.`}},
		"asked for":   {[]string{"what is my order status", "it's four five six"}, []string{"Could you tell me the order id, digit by digit?", `get_order_status{"order_id":456} It has been shipped.`}},
		"free answer": {[]string{"what's the weather", "in berlin please"}, []string{"Could you tell me the city?", `getWeather{"city":"Berlin"} Sunny, 21 degrees.`}},
		"options":     {[]string{"set the light please", "in the living room"}, []string{"Could you tell me the room (kitchen, living_room)?", `set_light{"room":"living_room"} I'm sorry, that did not work.`}},
		"human":       {[]string{"can i speak to a human"}, []string{`transfer_call{} One moment, connecting you.`}},
		"facts first": {[]string{"when are you open"}, []string{"We are open all day."}},
		"twice":       {[]string{"what is the status of order 1234", "what is the status of order 5678"}, []string{`get_order_status{"order_id":1234} It has been shipped.`, `get_order_status{"order_id":5678} It has been shipped.`}},
	} {
		t.Run(name, func(t *testing.T) {
			r := inference.Request{System: "You are a helpful assistant. We are open all day.", Language: "en", Tools: shop}
			got := talkTo(t, r, results, c.said...)
			if fmt.Sprint(got) != fmt.Sprint(c.did) {
				t.Errorf("got  %q\nwant %q", got, c.did)
			}
		})
	}
}

// TestToolInFlight: while a tool is at work its result is not made up, the tool
// is not called again, and the result is told at the next turn.
func TestToolInFlight(t *testing.T) {
	call := inference.ToolCall{ID: "call_1", Name: "get_order_status", Arguments: `{"order_id":1234}`}
	r := inference.Request{Language: "en", Tools: shop, Messages: []inference.Message{
		{Role: inference.RoleUser, Text: "what is the status of order 1234"},
		{Role: inference.RoleAgent, ToolCalls: []inference.ToolCall{call}},
		{Role: inference.RoleUser, Text: "can you repeat that?"},
	}}
	if got := respond(r); got.call != nil {
		t.Errorf("something else: %+v", got)
	}
	r.Messages[2].Text = "what is the status of order 1234"
	if got := respond(r); got.say != english.lines.moment || got.call != nil {
		t.Errorf("asked again: %+v", got)
	}
	r.Messages = append(r.Messages,
		inference.Message{Role: inference.RoleAgent, Text: "One moment."},
		inference.Message{Role: inference.RoleTool, ToolCallID: "call_1", Text: `{"message":"It is on its way."}`},
		inference.Message{Role: inference.RoleUser, Text: "well hm"})
	if got := respond(r); got.say != "It is on its way." {
		t.Errorf("result after an unclear turn: %+v", got)
	}
	r.Messages[5].Text = "thank you"
	if got := respond(r); got.say != "It is on its way. You're welcome. Is there anything else?" {
		t.Errorf("result and an answer: %+v", got)
	}
	r.Messages = append(r.Messages, inference.Message{Role: inference.RoleAgent, Text: "It is on its way."}, inference.Message{Role: inference.RoleUser, Text: "thank you"})
	if got := respond(r); got.say != "You're welcome. Is there anything else?" {
		t.Errorf("the result is told twice: %+v", got)
	}
}

// TestEndedCall: after end_call has run there is nothing left to say.
func TestEndedCall(t *testing.T) {
	r := inference.Request{Language: "en", Tools: shop, Messages: []inference.Message{
		{Role: inference.RoleUser, Text: "goodbye"},
		{Role: inference.RoleAgent, Text: "Goodbye!", ToolCalls: []inference.ToolCall{{ID: "call_1", Name: "end_call", Arguments: "{}"}}},
		{Role: inference.RoleTool, ToolCallID: "call_1", Text: "ok"},
	}}
	if got := respond(r); got.say != "" || got.call != nil {
		t.Errorf("%+v", got)
	}
}
