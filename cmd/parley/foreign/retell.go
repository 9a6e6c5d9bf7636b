package foreign

import (
	"encoding/json"
	"errors"
	"fmt"
)

// retellHints say why fields of an agent and of a language model have no equivalent.
var retellHints = map[string]string{
	"webhook_url": "webhooks are the account's: parley webhook create URL", "webhook_events": "a webhook picks its events: parley webhook create URL --event call.ended",
	"webhook_timeout_ms": "webhooks are the account's: parley webhook create URL", "knowledge_base_ids": "documents are uploaded apart: parley knowledge",
	"kb_config": "documents are uploaded apart: parley knowledge", "pronunciation_dictionary": "settings.pronunciation says how a word would be written as it sounds, not its phonemes",
	"ring_duration_ms": "is a matter of each call: parley dial --ring", "data_storage_setting": "how long conversations are kept is the account's, set by the operator",
	"data_storage_retention_days":    "how long conversations are kept is the account's, set by the operator",
	"opt_out_sensitive_data_storage": "how long conversations are kept is the account's, set by the operator",
	"fallback_voice_ids":             "settings.engines.tts lists engines that take over", "enable_backchannel": "the agent gives no listener noises",
	"end_call_after_silence_ms": "the call ends after the last of settings.idle_reprompts",
}

// retell makes an agent of one (GET /get-agent/{id}) and of its language model (GET /get-retell-llm/{id}).
func (b *builder) retell(sources []*source) error {
	var voice, model *source
	for i, s := range sources {
		switch {
		case s.has("agent_id") || s.has("response_engine") || s.has("voice_id"):
			if voice != nil {
				return errors.New("there are two agents: import one at a time")
			}
			voice = s
		case s.has("llm_id") || s.has("general_prompt") || s.has("begin_message"):
			if model != nil {
				return errors.New("there are two language models: import one agent at a time")
			}
			model = s
		default:
			return fmt.Errorf("file %d is no agent of Retell, and no language model (retell-llm)", i+1)
		}
	}
	b.hints = retellHints
	b.clocks = []string{"current_time", "current_time_", "current_hour", "current_hour_", "current_calendar", "current_calendar_"}
	b.names = map[string]string{"user_number": "call.from", "agent_number": "call.to"}
	if voice == nil {
		voice = &source{members: map[string]json.RawMessage{}}
		b.note("agent", "its file is missing (GET https://api.retellai.com/get-agent/ID): name, voice and settings are those of a new agent")
	}
	if name := voice.text("timezone"); name != "" {
		b.settings["timezone"] = name
	}
	b.retellVoice(voice)
	b.retellTurns(voice)
	b.retellAfter(voice)
	engine := voice.object("response_engine")
	kind, id := engine.text("type"), engine.text("llm_id")
	engine.drop("version", "conversation_flow_id", "llm_websocket_url")
	switch {
	case model != nil:
		var its string
		_ = json.Unmarshal(model.members["llm_id"], &its)
		if id != "" && its != "" && id != its {
			return fmt.Errorf("the agent's language model is %s, and the file has %s", oneLine(id), oneLine(its))
		}
		b.retellModel(model)
	case kind == "" || kind == "retell-llm":
		b.note("response_engine", "the file of the language model is missing (GET https://api.retellai.com/get-retell-llm/%s): there is no prompt", oneLine(id))
	default:
		b.note("response_engine", "%s has no equivalent: write the prompt", oneLine(kind))
	}
	return nil
}

// retellVoice reads the name of an agent, and how it hears and sounds.
func (b *builder) retellVoice(s *source) {
	s.drop("agent_id", "version", "base_version", "is_published", "last_modification_timestamp", "version_title", "version_description", "assigned_tags", "channel")
	b.call(s.text("agent_name"), "Agent of Retell")
	b.sound("voice_id", "", s.text("voice_id"))
	if speed, is := take[float64](s, "voice_speed"); is {
		b.pace("voice_speed", speed)
	}
	if several, is := take[[]string](s, "language"); is {
		b.speak("language", several...)
	} else if one := s.text("language"); one != "" {
		b.speak("language", one)
	} else {
		b.speak("language")
	}
	words, _ := take[[]string](s, "boosted_keywords")
	b.phrases(words)
	if spoken, is := take[bool](s, "normalize_for_speech"); is && !spoken {
		b.note("normalize_for_speech", "numbers and dates are always read as words")
	}
	switch mode := s.text("denoising_mode"); mode {
	case "", "noise-cancellation":
	case "no-denoise":
		b.engine("denoise", "off")
	default:
		b.note("denoising_mode", "%s: the server's noise removal is used; settings.engines.denoise names another", oneLine(mode))
	}
	if keys, is := take[bool](s, "allow_user_dtmf"); is && !keys {
		b.settings["collect_digits"], b.settings["key_interrupts"] = false, false
	}
	if keys, is := take[bool](s, "allow_dtmf_interruption"); is {
		b.settings["key_interrupts"] = keys
	}
}

// retellTurns reads when the agent begins and ceases to speak, and how long it waits and talks.
func (b *builder) retellTurns(s *source) {
	if how, is := take[float64](s, "interruption_sensitivity"); is {
		switch {
		case how <= 0:
			b.settings["interruptible"] = "never"
		case how < 1:
			b.whole("interruption_sensitivity", "barge_in_ms", 600+(1-how)*1400, 200, 3000)
			b.note("interruption_sensitivity", "%v is about barge_in_ms %d", how, b.settings["barge_in_ms"])
		}
	}
	if how, is := take[float64](s, "responsiveness"); is && how < 1 {
		b.whole("responsiveness", "max_endpoint_ms", 2400+(1-how)*3600, 300, 6000)
		b.note("responsiveness", "%v is about max_endpoint_ms %d", how, b.settings["max_endpoint_ms"])
	}
	longest, is := take[float64](s, "max_call_duration_ms")
	if !is {
		longest = 3_600_000 // Retell's
	}
	b.whole("max_call_duration_ms", "max_duration_seconds", longest/1000, 10, 7200)
	remind, is := take[float64](s, "reminder_trigger_ms")
	if !is {
		remind = 10_000 // Retell's
	}
	times, counts := take[float64](s, "reminder_max_count")
	if !counts {
		times = 1 // Retell's
	}
	if times > 0 {
		b.whole("reminder_trigger_ms", "idle_seconds", remind/1000, 1, 600)
	} else if silence, is := take[float64](s, "end_call_after_silence_ms"); is {
		b.whole("end_call_after_silence_ms", "idle_seconds", silence/1000, 1, 600)
	} else {
		b.settings["idle_seconds"] = 600 // Retell's
	}
	b.whole("reminder_max_count", "idle_reprompts", times, 0, 10)
}

// retellAfter reads what machines get, and what is made of a call when it is over.
func (b *builder) retellAfter(s *source) {
	detects, is := take[bool](s, "enable_voicemail_detection")
	if message := s.text("voicemail_message"); message != "" {
		b.machineMessage("voicemail_message", message)
	} else if is && detects {
		b.settings["on_machine"] = "hangup"
	}
	action := s.object("voicemail_option").object("action")
	switch kind := action.text("type"); kind {
	case "":
	case "hangup":
		b.settings["on_machine"] = "hangup"
	case "static_text":
		b.machineMessage(action.at("text"), action.text("text"))
	default:
		b.settings["on_machine"] = "hangup"
		b.note(action.path, "%s has no equivalent: the call ends; settings.machine_message is said word for word", oneLine(kind))
	}
	properties := map[string]any{}
	for _, fact := range s.objects("post_call_analysis_data") {
		b.retellFact(fact, properties)
	}
	if len(properties) > 0 {
		b.analyze("extract", map[string]any{"type": "object", "properties": properties})
	}
	s.drop("post_call_analysis_model")
}

// retellFact reads one fact that is taken out of a call.
func (b *builder) retellFact(fact *source, properties map[string]any) {
	kind, name := fact.text("type"), fact.text("name")
	if kind == "system-presets" && name == "call_summary" {
		b.analyze("summary", true)
		return
	}
	p := map[string]any{"description": fact.text("description")}
	switch kind {
	case "string", "boolean", "number":
		p["type"] = kind
	case "enum":
		p["type"] = "string"
		p["enum"], _ = take[[]string](fact, "choices")
	default:
		b.note(fact.path, "%s has no equivalent", oneLine(kind+" "+name))
		return
	}
	fact.drop("required")
	properties[name] = p
}
