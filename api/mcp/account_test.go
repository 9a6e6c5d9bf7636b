package mcp_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"parley/api"
	"parley/store"
)

type object = map[string]any

// asked is a tool, what it is asked, and what the answer holds.
type asked struct {
	tool      string
	arguments object
	holds     string
}

// everyTool are all tools of the account, in an order in which each succeeds.
func (o *office) everyTool() []asked {
	return []asked{
		{"list_agents", object{"limit": 5, "metadata": object{}}, `"name":"Ana of A"`},
		{"get_agent", object{"id": o.A.Agent}, `"prompt":""`},
		{"get_agent_schema", object{}, `"settings"`},
		{"create_agent", object{"name": "Lola", "prompt": "You are <Lola>."}, `"prompt":"You are <Lola>."`},
		{"update_agent", object{"id": o.A.Agent, "name": "Eva", "if_match": `"1"`}, `"version":2`},
		{"list_calls", object{"q": "refund", "direction": "inbound", "limit": 1}, o.call},
		{"get_call", object{"id": o.call}, `"end_reason":"completed"`},
		{"get_transcript", object{"id": o.call}, `"text":"I want a refund."`},
		{"place_call", object{"from": "+34911234567", "to": "+34612345678", "agent_id": o.A.Agent, "consent_confirmed": true}, `"call_id":"ses_1"`},
		{"hang_up", object{"id": "ses_1"}, `"status":"ended"`},
		{"list_numbers", object{}, o.number},
		{"assign_number", object{"id": o.number, "agent_id": o.A.Agent}, `"agent_name":"Eva"`},
		{"get_statistics", object{"group_by": []string{"day", "agent"}}, `"calls"`},
		{"get_balance", nil, `"balance"`},
		{"list_knowledge", object{}, o.base},
		{"search_knowledge", object{"id": o.base, "query": "opening hours"}, `[]`},
		{"list_tests", object{"id": o.A.Agent}, `"name":"Hours"`},
		{"run_tests", object{"id": o.A.Agent, "cases": []string{o.test}}, `"state":"queued"`},
		{"get_simulation", object{"id": o.simulation}, `"cases":[`},
	}
}

// TestEveryTool calls each tool with a key, as a host does, and reads each resource.
func TestEveryTool(t *testing.T) {
	o := newOffice(t)
	h := o.host(o.A.Key)
	list, err := h.ListTools(t.Context(), nil)
	o.OK(err)
	listed, hints := map[string]*sdk.Tool{}, map[string][]string{}
	for _, tool := range list.Tools {
		listed[tool.Name] = tool
		schema, _ := tool.InputSchema.(object)
		if tool.Title == "" || tool.Description == "" || tool.Annotations == nil || tool.Annotations.DestructiveHint == nil || schema["type"] != "object" {
			t.Fatalf("%+v", tool)
		}
		a := tool.Annotations
		hint := fmt.Sprint(a.ReadOnlyHint, *a.DestructiveHint, *a.OpenWorldHint)
		hints[hint] = append(hints[hint], tool.Name)
	}
	for hint, want := range map[string]string{"false false false": "create_agent run_tests synthesize_speech", "false true false": "assign_number hang_up update_agent", "false true true": "place_call"} {
		if got := strings.Join(hints[hint], " "); got != want {
			t.Errorf("read-only, destructive, open world %s: %s", hint, got)
		}
	}
	if len(hints) != 4 || len(hints["true false false"]) != len(listed)-7 {
		t.Errorf("%v", hints)
	}
	size, err := json.Marshal(list)
	o.OK(err)
	if len(size) > 48<<10 || strings.Contains(string(size), "$ref") || strings.Contains(string(size), "Idempotency-Key") {
		t.Errorf("the list has %d bytes: %.2000s", len(size), size)
	}
	properties, _ := listed["create_agent"].InputSchema.(object)["properties"].(object)
	if got := fmt.Sprint(properties["tools"]); !strings.Contains(got, "get_agent_schema has the schema.") || !strings.Contains(got, "items:map[]") || len(got) > 500 {
		t.Errorf("create_agent takes %s", got)
	}
	for _, a := range o.everyTool() {
		if listed[a.tool] == nil {
			t.Errorf("%s is not listed", a.tool)
			continue
		}
		delete(listed, a.tool)
		if got := h.gets(a.tool, a.arguments); !strings.Contains(got, a.holds) {
			t.Errorf("%s: %s holds no %s", a.tool, got, a.holds)
		}
	}
	for _, name := range []string{"list_voices", "list_languages", "list_models", "get_limits", "synthesize_speech"} {
		delete(listed, name)
	}
	for name := range listed {
		t.Errorf("nobody has tried %s", name)
	}
	if got := o.phone.placed(); len(got) != 1 || got[0].To != "+34612345678" || got[0].IP == "" || !got[0].Paced || len(o.phone.ended) != 1 {
		t.Errorf("%+v, hung up %v", got, o.phone.ended)
	}
	if o.queued != 2 {
		t.Errorf("%d simulations", o.queued)
	}
}

// TestAnswers: what a tool answers is what its route does, but for what is left out.
func TestAnswers(t *testing.T) {
	o := newOffice(t)
	h := o.host(o.A.Key)
	for _, tt := range []struct {
		tool      string
		arguments object
		route     string
	}{
		{"get_agent", object{"id": o.A.Agent}, "/v1/agents/" + o.A.Agent},
		{"list_calls", object{"metadata": object{"order": "42"}}, "/v1/calls?metadata[order]=42"},
		{"list_calls", object{"number": "+34612345678"}, "/v1/calls?number=%2B34612345678"},
		{"get_statistics", object{"group_by": []string{"agent"}}, "/v1/statistics?group_by=agent"},
		{"list_numbers", object{}, "/callcenter/numbers"},
		{"get_balance", object{}, "/v1/balance"},
	} {
		if got, want := h.gets(tt.tool, tt.arguments), strings.TrimSpace(string(o.As(o.A, "GET", tt.route, "").Body)); got != want {
			t.Errorf("%s: %s, the route says %s", tt.tool, got, want)
		}
	}
	for tool, arguments := range map[string]object{"list_agents": {}, "get_call": {"id": o.call}, "list_tests": {"id": o.A.Agent}} {
		got := h.gets(tool, arguments)
		for _, member := range []string{`"prompt"`, `"settings"`, `"transcript"`, `"turns"`, `"script"`} {
			if strings.Contains(got, member) {
				t.Errorf("%s has %s: %s", tool, member, got)
			}
		}
	}
}

// TestOthers: what belongs to another account is not there, and neither is what has no such name.
func TestOthers(t *testing.T) {
	o := newOffice(t)
	h := o.host(o.B.Key)
	for _, tt := range []struct {
		tool      string
		arguments object
		code      string
	}{
		{"get_agent", object{"id": o.A.Agent}, "agent.not_found"},
		{"get_agent", object{"id": ".."}, "agent.not_found"},
		{"get_agent", object{"id": "../keys"}, "agent.not_found"},
		{"get_agent", object{"id": "schema?x=1"}, "agent.not_found"},
		{"get_agent", object{"id": "\x00"}, "agent.not_found"},
		{"get_agent", object{"id": ""}, "validation.invalid_request_format"},
		{"get_agent", object{"id": nil}, "validation.invalid_request_format"},
		{"get_agent", object{}, "validation.invalid_request_format"},
		{"update_agent", object{"id": o.A.Agent, "name": "Mine"}, "agent.not_found"},
		{"get_call", object{"id": o.call}, "request.not_found"},
		{"get_transcript", object{"id": o.call}, "request.not_found"},
		{"hang_up", object{"id": o.call}, "request.not_found"},
		{"assign_number", object{"id": o.number, "agent_id": o.B.Agent}, "callcenter.not_found"},
		{"search_knowledge", object{"id": o.base, "query": "a"}, "request.not_found"},
		{"list_tests", object{"id": o.A.Agent}, "agent.not_found"},
		{"run_tests", object{"id": o.A.Agent}, "agent.not_found"},
		{"get_simulation", object{"id": o.simulation}, "request.not_found"},
	} {
		h.refused(tt.tool, tt.arguments, tt.code)
	}
	for tool, arguments := range map[string]object{"list_calls": {}, "list_numbers": {}, "list_knowledge": {}, "list_agents": {}} {
		if got := h.gets(tool, arguments); strings.Contains(got, o.call) || strings.Contains(got, o.number) || strings.Contains(got, o.base) || strings.Contains(got, o.A.Agent) {
			t.Errorf("%s: %s", tool, got)
		}
	}
	for _, uri := range []string{"parley://agents/" + o.A.Agent, "parley://calls/" + o.call, "parley://calls/" + o.call + "/transcript", "parley://simulations/" + o.simulation, "parley://nothing", "parley://agents/%2E%2E"} {
		if got, err := h.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri}); err == nil || !strings.Contains(err.Error(), "not found") {
			t.Errorf("%s: %+v, %v", uri, got, err)
		}
	}
	if a, err := o.DB.Agent(t.Context(), o.A.Account, o.A.Agent); err != nil || a.Name != "Ana of A" {
		t.Errorf("%+v, %v", a, err)
	}
}

// TestTickets: a tool opens with a ticket what its route opens.
func TestTickets(t *testing.T) {
	o := newOffice(t)
	dial := object{"from": "+34911234567", "to": "+34612345678", "agent_id": o.A.Agent, "consent_confirmed": true}
	speech := object{"text": "Hi.", "voice": "F1", "language": "en"}
	const no = "auth.ticket_not_allowed"
	for _, tt := range []struct {
		scope                     api.Scope
		calls, numbers, synthesis bool
	}{{0, true, true, true}, {api.Calls, true, false, false}, {api.Numbers, false, true, false}, {api.Synthesis, false, false, true}} {
		h := o.host(o.ticket(tt.scope))
		for _, a := range []struct {
			asked
			open bool
		}{
			{asked{"place_call", dial, "ses_"}, tt.calls}, {asked{"hang_up", object{"id": "ses_1"}, "ended"}, tt.calls},
			{asked{"list_numbers", object{}, o.number}, tt.numbers}, {asked{"get_limits", object{}, "{"}, true},
			{asked{"list_calls", object{}, ""}, false}, {asked{"get_transcript", object{"id": o.call}, ""}, false}, {asked{"create_agent", object{"name": "x"}, ""}, false},
			{asked{"get_balance", object{}, ""}, false}, {asked{"run_tests", object{"id": o.A.Agent}, ""}, false},
		} {
			if !a.open {
				h.refused(a.tool, a.arguments, no)
			} else if got := h.gets(a.tool, a.arguments); !strings.Contains(got, a.holds) {
				t.Errorf("%v %s: %s", tt.scope.Names(), a.tool, got)
			}
		}
		if !tt.synthesis {
			h.refused("synthesize_speech", speech, no)
		} else if _, got := h.ask("synthesize_speech", speech); got.IsError {
			t.Errorf("%v: %+v", tt.scope.Names(), got)
		}
		if got, err := h.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "parley://calls/" + o.call}); err == nil || !strings.Contains(err.Error(), no) {
			t.Errorf("%v: %+v, %v", tt.scope.Names(), got, err)
		}
	}
	if r := o.Send("POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "Authorization", "Bearer "+o.ticket(api.Recognition)); r.Status != 403 {
		t.Errorf("a ticket for recognition: %d %s", r.Status, r.Body)
	}
}

// TestDialling: each check of dialling holds, and a call that is asked for twice with one key is placed once.
func TestDialling(t *testing.T) {
	o := newOffice(t)
	h := o.host(o.A.Key)
	order := func(change object) object {
		out := object{"from": "+34911234567", "to": "+34612345678", "agent_id": o.A.Agent, "consent_confirmed": true}
		for name, value := range change {
			if out[name] = value; value == nil {
				delete(out, name)
			}
		}
		return out
	}
	for _, tt := range []struct {
		change       object
		code, detail string
	}{
		{object{"consent_confirmed": nil}, "callcenter.consent_required", ""},
		{object{"consent_confirmed": false}, "callcenter.consent_required", ""},
		{object{"consent_confirmed": "true"}, "callcenter.consent_required", ""},
		{object{"to": nil}, "validation.invalid_request_format", "to: say whom to call"},
		{object{"from": "+34911111111"}, "callcenter.from_not_owned", ""},
		{object{"ring_timeout_seconds": 1}, "validation.invalid_request_format", "ring_timeout_seconds: from 5 to 120"},
		{object{"callee": "+34612345678"}, "validation.invalid_request_format", "callee: there is no such argument"},
		{object{"idempotency_key": "é"}, "validation.invalid_request_format", "Idempotency-Key: up to 255 printable characters of ASCII"},
	} {
		if got := h.refused("place_call", order(tt.change), tt.code); got != tt.detail {
			t.Errorf("%v: %q", tt.change, got)
		}
	}
	if got := o.phone.placed(); len(got) != 0 {
		t.Fatalf("%+v", got)
	}
	first := h.gets("place_call", order(object{"idempotency_key": "k", "variables": object{"name": "Ana"}}))
	again := h.gets("place_call", order(object{"idempotency_key": "k", "variables": object{"name": "Ana"}}))
	if got := o.phone.placed(); first != again || len(got) != 1 || got[0].Variables["name"] != "Ana" {
		t.Errorf("%s, then %s: %+v", first, again, got)
	}
	h.refused("place_call", order(object{"idempotency_key": "k"}), "request.idempotency_conflict")
	h.gets("place_call", order(nil))
	h.gets("place_call", order(nil))
	if got := o.phone.placed(); len(got) != 3 {
		t.Errorf("%+v", got)
	}
}

// TestArguments are of other tools, wrong ones.
func TestArguments(t *testing.T) {
	o := newOffice(t)
	h := o.host(o.A.Key)
	for _, tt := range []struct {
		tool         string
		arguments    any
		code, detail string
	}{
		{"list_calls", object{"agent": "x"}, "validation.invalid_request_format", "agent: there is no such argument"},
		{"list_calls", object{"limit": 1000}, "validation.invalid_request_format", "query.limit: expected number <= 100"},
		{"list_calls", object{"metadata": "x"}, "validation.invalid_request_format", "metadata: send an object of texts"},
		{"get_statistics", object{"group_by": []string{"hour"}}, "validation.invalid_request_format", ""},
		{"get_transcript", object{"id": o.call, "cursor": "x"}, "validation.invalid_request_format", "cursor: send next_cursor of the page before"},
		{"update_agent", object{"id": o.A.Agent, "name": "Eva", "if_match": `"9"`}, "request.precondition_failed", ""},
		{"create_agent", object{"name": "forbidden"}, "validation.invalid_request_format", "settings.goodbye: is forbidden"},
		{"assign_number", object{"id": o.number, "agent_id": "ag_x"}, "agent.not_found", ""},
		{"run_tests", object{"id": o.A.Agent, "runs": 101}, "validation.invalid_request_format", "body.runs: expected number <= 100"},
	} {
		if got := h.refused(tt.tool, tt.arguments, tt.code); tt.detail != "" && got != tt.detail {
			t.Errorf("%s %v: %q", tt.tool, tt.arguments, got)
		}
	}
	for _, arguments := range []string{`[1]`, `"x"`} {
		r := o.As(o.A, "POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_calls","arguments":`+arguments+`}}`)
		if !strings.Contains(string(r.Body), "validation.invalid_request_format: ") {
			t.Errorf("%s: %d %s", arguments, r.Status, r.Body)
		}
	}
	if got := h.gets("assign_number", object{"id": o.number, "agent_id": nil}); !strings.Contains(got, `"agent_id":null`) {
		t.Errorf("nobody answers: %s", got)
	}
}

// TestResources reads what hosts attach to conversations.
func TestResources(t *testing.T) {
	o := newOffice(t)
	h := o.host(o.A.Key)
	if c := h.InitializeResult().Capabilities; c.Resources == nil || c.Resources.ListChanged || c.Resources.Subscribe {
		t.Errorf("%+v", c)
	}
	list, err := h.ListResources(t.Context(), nil)
	o.OK(err)
	templates, err := h.ListResourceTemplates(t.Context(), nil)
	o.OK(err)
	var names []string
	for _, r := range list.Resources {
		names = append(names, r.URI)
	}
	for _, r := range templates.ResourceTemplates {
		names = append(names, r.URITemplate)
	}
	slices.Sort(names)
	if got, want := strings.Join(names, " "), "parley://agents parley://agents/schema parley://agents/{id} parley://agents/{id}/tests parley://balance parley://calls/{id} "+
		"parley://calls/{id}/transcript parley://numbers parley://simulations/{id} parley://statistics"; got != want {
		t.Errorf("%s", got)
	}
	for uri, holds := range map[string]string{"parley://agents": `"name":"Ana of A"`, "parley://agents/schema": `"settings"`, "parley://agents/" + o.A.Agent: `"prompt"`,
		"parley://agents/" + o.A.Agent + "/tests": `"Hours"`, "parley://balance": `"balance"`, "parley://calls/" + o.call: `"completed"`,
		"parley://calls/" + o.call + "/transcript": "I want a refund.", "parley://numbers": o.number, "parley://simulations/" + o.simulation: `"queued"`, "parley://statistics": `"calls"`} {
		got, err := h.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
		if err != nil || len(got.Contents) != 1 || got.Contents[0].URI != uri || got.Contents[0].MIMEType != "application/json" || !json.Valid([]byte(got.Contents[0].Text)) ||
			!strings.Contains(got.Contents[0].Text, holds) {
			t.Errorf("%s: %+v, %v", uri, got, err)
		}
		if err == nil && got.CacheScope == "public" {
			t.Errorf("%s may be kept for others", uri)
		}
	}
}

// TestBounds: what is long comes in parts, or is cut and says so.
func TestBounds(t *testing.T) {
	o := newOffice(t)
	h := o.host(o.A.Key)
	var lines []string
	for i := range 200 {
		lines = append(lines, fmt.Sprint(i, strings.Repeat(" word", 100)))
	}
	call := o.spoken(lines...)
	var read []string
	cursor := ""
	for range 10 {
		arguments := object{"id": call}
		if cursor != "" {
			arguments["cursor"] = cursor
		}
		text := h.gets("get_transcript", arguments)
		var page struct {
			Transcript []struct{ Text, Words any }
			api.More
		}
		o.OK(json.Unmarshal([]byte(text), &page))
		if len(text) > 96<<10 {
			t.Errorf("a page has %d bytes", len(text))
		}
		for _, l := range page.Transcript {
			if read = append(read, fmt.Sprint(l.Text)); l.Words != nil {
				t.Fatalf("%v", l)
			}
		}
		if page.HasMore != (page.NextCursor != nil) {
			t.Fatalf("%+v", page.More)
		}
		if !page.HasMore {
			break
		}
		cursor = *page.NextCursor
	}
	if !slices.Equal(read, lines) {
		t.Errorf("%d lines of %d", len(read), len(lines))
	}
	if got := h.gets("get_transcript", object{"id": call, "cursor": "5000"}); !strings.Contains(got, `"transcript":[]`) {
		t.Errorf("after the end: %s", got)
	}

	long, err := o.DB.CreateAgent(t.Context(), o.A.Account, store.Agent{Name: "Long", Voice: "F1", Language: "es", Prompt: strings.Repeat(`"`, 100_000), FirstMessage: strings.Repeat("é", 50_000)})
	o.OK(err)
	texts, result := h.ask("get_agent", object{"id": long.ID})
	if result.IsError || len(texts) != 2 || len(texts[0]) > 256<<10 || !strings.HasPrefix(texts[1], "This is cut: ") || result.StructuredContent != nil {
		t.Errorf("%d texts, %+v", len(texts), result.StructuredContent)
	}
	got, err := h.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "parley://agents/" + long.ID})
	if err != nil || len(got.Contents) != 2 || len(got.Contents[0].Text) > 256<<10 || got.Contents[0].MIMEType != "text/plain" || !strings.HasPrefix(got.Contents[1].Text, "This is cut: ") {
		t.Errorf("%v", err)
	}
	if got := h.gets("list_agents", object{}); len(got) > 4<<10 {
		t.Errorf("the list has %d bytes", len(got))
	}
}
