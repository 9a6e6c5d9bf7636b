package foreign

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// vapiHints say why fields of an assistant have no equivalent.
var vapiHints = map[string]string{
	"server": "webhooks are the account's: parley webhook create URL", "serverUrl": "webhooks are the account's: parley webhook create URL",
	"serverMessages": "a webhook picks its events: parley webhook create URL --event call.ended", "clientMessages": "clients get all messages of a conversation",
	"hooks": "has no equivalent: settings.idle_seconds is what happens in a silence", "credentials": "secrets are the account's: parley secret set NAME",
	"credentialIds": "secrets are the account's: parley secret set NAME", "metadata": "is kept with the agent and not in its file: metadata of PATCH /v1/agents/{id}",
	"model.knowledgeBase": "documents are uploaded apart: parley knowledge", "model.knowledgeBaseId": "documents are uploaded apart: parley knowledge",
	"messagePlan.idleMessages": "the agent asks in words of its own whether somebody is there", "endCallPhrases": "the model ends calls with end_call: say in the prompt when",
	"backgroundSpeechDenoisingPlan": "noise is removed by the server: settings.engines.denoise", "analysisPlan.successEvaluationPlan": "make it a fact in settings.analysis.extract",
	"artifactPlan": "transcripts and calls are kept by the server", "observabilityPlan": "traces are the operator's, in the server's settings",
}

// vapi makes an agent of an assistant (GET /assistant/{id}) and of the tools whose identifiers it has (GET /tool/{id}).
func (b *builder) vapi(sources []*source) error {
	var assistant *source
	tools := map[string]*source{}
	for i, s := range sources {
		var id string
		_ = json.Unmarshal(s.members["id"], &id)
		switch {
		case s.has("model") || s.has("firstMessage") || s.has("voice"):
			if assistant != nil {
				return errors.New("there are two assistants: import one at a time")
			}
			assistant = s
		case s.has("type") && id != "":
			s.path = fmt.Sprintf("tool %s", id)
			tools[id] = s
		default:
			return fmt.Errorf("file %d is no assistant of Vapi, and none of its tools", i+1)
		}
	}
	if assistant == nil {
		return errors.New("there is no assistant: it is what GET https://api.vapi.ai/assistant/ID answers")
	}
	b.hints, b.clocks = vapiHints, []string{"now", "date", "time", "year", "month", "day"}
	b.names = map[string]string{"customer.number": "call.from", "customer.name": "caller.name", "phoneNumber.number": "call.to"}
	assistant.drop("id", "orgId", "createdAt", "updatedAt", "isServerUrlSecretSet", "templateId")
	b.call(assistant.text("name"), "Assistant of Vapi")
	b.vapiSpeech(assistant)
	b.vapiModel(assistant, tools)
	b.vapiTurns(assistant)
	b.vapiLimits(assistant)
	b.vapiAfter(assistant)
	return nil
}

// vapiSpeech reads what the assistant says first and how it hears and sounds.
func (b *builder) vapiSpeech(s *source) {
	first := s.text("firstMessage")
	switch mode := s.text("firstMessageMode"); {
	case mode == "assistant-waits-for-user":
		if first != "" {
			b.note("firstMessage", "is left out: the assistant waits for the caller")
		}
	case mode == "assistant-speaks-first-with-model-generated-message":
		b.note("firstMessageMode", "no model writes the first message: write first_message, or the agent waits for the caller")
	case strings.HasPrefix(first, "http://") || strings.HasPrefix(first, "https://"):
		b.note("firstMessage", "is a recording: write first_message, or the agent waits for the caller")
	default:
		b.definition.FirstMessage = b.text("firstMessage", first)
	}
	if may, is := take[bool](s, "firstMessageInterruptionsEnabled"); is {
		b.settings["first_message_interruptible"] = map[bool]string{true: "always", false: "never"}[may]
	}
	voice := s.object("voice")
	provider, name := voice.text("provider"), voice.text("voiceId")
	b.sound("voice", provider, name)
	if speed, is := take[float64](voice, "speed"); is {
		b.pace("voice.speed", speed)
	}
	t := s.object("transcriber")
	if spoken, is := take[[]string](t, "languages"); is {
		b.speak("transcriber.languages", spoken...)
		t.drop("language")
	} else if language := t.text("language"); language != "" {
		b.speak("transcriber.language", language)
	} else {
		b.speak("transcriber.language")
	}
	if provider := t.text("provider"); provider != "" {
		b.note("transcriber", "%s: the server's recogniser hears; settings.engines.asr names another", oneLine(provider+" "+t.text("model")))
	}
	for _, list := range []string{"keywords", "keyterm", "wordBoost", "keytermsPrompt"} {
		words, _ := take[[]string](t, list)
		for i := range words {
			words[i], _, _ = strings.Cut(words[i], ":") // how much it counts
		}
		b.phrases(words)
	}
}

// vapiModel reads the prompt, and what the model may call.
func (b *builder) vapiModel(s *source, tools map[string]*source) {
	m := s.object("model")
	if provider := m.text("provider"); provider != "" {
		b.note("model", "%s: the server's language model answers; settings.engines.llm names another", oneLine(provider+" "+m.text("model")))
	}
	var prompt []string
	for _, message := range m.objects("messages") {
		if role := message.text("role"); role != "system" {
			b.note(message.path, "is left out: only system messages make a prompt")
			message.drop("content")
			continue
		}
		prompt = append(prompt, b.text(message.at("content"), message.text("content")))
	}
	if old := m.text("systemPrompt"); old != "" {
		prompt = append(prompt, b.text("model.systemPrompt", old))
	}
	b.definition.Prompt = strings.Join(prompt, "\n\n")
	address := s.object("server").text("url")
	if address == "" {
		address = s.text("serverUrl")
	}
	if address != "" {
		b.note("server.url", "%s", vapiHints["server"])
	}
	for _, one := range m.objects("tools") {
		b.vapiTool(one, address)
	}
	ids, _ := take[[]string](m, "toolIds")
	for i, id := range ids {
		if one := tools[id]; one != nil {
			b.vapiTool(one, address)
			continue
		}
		b.note(fmt.Sprintf("model.toolIds[%d]", i), "%s is left out: give the file of it, too (GET https://api.vapi.ai/tool/%s)", oneLine(id), oneLine(id))
	}
	s.drop("endCallFunctionEnabled", "dialKeypadFunctionEnabled") // every agent has both functions
	if number := s.text("forwardingPhoneNumber"); number != "" {
		b.transfer("forwardingPhoneNumber", destination{Number: number})
	}
}
