package foreign

import (
	"maps"
	"slices"
	"strings"
)

// retellModel reads the prompt, and what the model may call.
func (b *builder) retellModel(m *source) {
	m.drop("llm_id", "version", "is_published", "last_modification_timestamp")
	values, _ := take[map[string]string](m, "default_dynamic_variables")
	b.given("default_dynamic_variables", values)
	prompt := []string{b.text("general_prompt", m.text("general_prompt"))}
	says := m.has("begin_message")
	first := m.text("begin_message")
	switch starts := m.text("start_speaker"); {
	case starts == "user":
		if first != "" {
			b.note("begin_message", "is left out: the agent waits for the caller")
		}
	case !says:
		b.note("begin_message", "no model writes the first message: write first_message, or the agent waits for the caller")
	default:
		b.definition.FirstMessage = b.text("begin_message", first)
	}
	for _, field := range []string{"model", "s2s_model"} {
		if name := m.text(field); name != "" {
			b.note(field, "%s: the server's language model answers; settings.engines names another", oneLine(name))
		}
	}
	for _, t := range m.objects("general_tools") {
		b.retellTool(t)
	}
	begin := m.text("starting_state")
	for _, state := range m.objects("states") {
		prompt = append(prompt, b.retellState(state, begin))
	}
	b.definition.Prompt = strings.TrimSpace(strings.Join(prompt, "\n\n"))
	for _, server := range m.objects("mcps") {
		given, _ := take[map[string]string](server, "headers")
		timeout := 0
		if ms, is := take[float64](server, "timeout_ms"); is {
			timeout = b.timeout(server.at("timeout_ms"), ms)
		}
		b.mcp(server.path, server.text("name"), server.text("url"), b.headers(server.at("headers"), given), timeout)
	}
}

// retellState is a state as a section of the prompt.
func (b *builder) retellState(state *source, begin string) string {
	name := state.text("name")
	section := []string{"## " + oneLine(name)}
	if name == begin {
		section = append(section, "You begin here.")
	}
	if text := state.text("state_prompt"); text != "" {
		section = append(section, b.text(state.at("state_prompt"), text))
	}
	for _, edge := range state.objects("edges") {
		section = append(section, "Go on with "+oneLine(edge.text("destination_state_name"))+" when: "+b.text(edge.at("description"), edge.text("description")))
	}
	for _, t := range state.objects("tools") {
		b.retellTool(t)
	}
	b.note(state.path, "is a section of the prompt: the agent has all its functions all the time")
	return strings.Join(section, "\n\n")
}

// retellTool reads what the model may call.
func (b *builder) retellTool(t *source) {
	spoken := func() {
		t.drop("speak_during_execution", "execution_message_type") // waits are bridged by the agent
		if after, is := take[bool](t, "speak_after_execution"); is && !after {
			b.note(t.at("speak_after_execution"), "the model answers when a function has its result")
		}
	}
	switch kind := t.text("type"); kind {
	case "end_call":
		spoken()
		t.drop("name") // end_call, which every agent has
	case "press_digit":
		t.drop("name")
		b.settings["send_dtmf"] = true
	case "transfer_call":
		spoken()
		to, how := t.object("transfer_destination"), t.object("transfer_option")
		b.retellTransfer(t, to, how)
	case "custom":
		spoken()
		b.retellCustom(t)
	default:
		b.note(t.path, "%s has no equivalent", oneLine("the tool "+kind))
		t.members = nil
	}
}

func (b *builder) retellTransfer(t, to, how *source) {
	name := strings.ReplaceAll(t.text("name"), "_", " ")
	if kind := to.text("type"); kind != "predefined" {
		b.note(t.path, "%s is left out: callers are transferred to numbers that are written down", oneLine(kind))
		t.members, to.members, how.members = nil, nil, nil
		return
	}
	b.transfer(t.path, destination{Number: to.text("number"), Name: name, Description: t.text("description"), Warm: strings.Contains(how.text("type"), "warm")})
}

// retellCustom reads a request to a service. It gets the body that it knows.
func (b *builder) retellCustom(t *source) {
	method, address := strings.ToUpper(t.text("method")), t.text("url")
	if method == "" {
		method = "POST"
	}
	headers, _ := take[map[string]string](t, "headers")
	query, _ := take[map[string]string](t, "query_params")
	flat, _ := take[bool](t, "args_at_root")
	f := httpFunction{Name: t.text("name"), Description: t.text("description"), Parameters: t.raw("parameters"), HTTP: httpRequest{Method: method, URL: address,
		Headers: b.headers(t.at("headers"), headers), Query: b.query(t.at("query_params"), query), TimeoutMS: 30_000}}
	if ms, is := take[float64](t, "timeout_ms"); is {
		f.HTTP.TimeoutMS = b.timeout(t.at("timeout_ms"), ms)
	}
	all, templated := arguments(f.Parameters)
	switch {
	case flat:
	case templated:
		f.HTTP.Body = map[string]any{"name": f.Name, "args": all}
		b.note(t.path, "gets name and args, and nothing of the call")
	default:
		b.note(t.path, "gets its arguments as a JSON object, without name, args and call")
	}
	if values, is := take[map[string]string](t, "response_variables"); is && len(values) > 0 {
		b.note(t.at("response_variables"), "%s: the model reads the answer, and no variables are made of it", strings.Join(slices.Sorted(maps.Keys(values)), ", "))
	}
	b.ask(t.path, f)
}
