package foreign

import (
	"cmp"
	"strings"
)

// vapiTurns reads when the assistant begins and ceases to speak.
func (b *builder) vapiTurns(s *source) {
	start := s.object("startSpeakingPlan")
	wait, waits := take[float64](start, "waitSeconds")
	ends := start.object("transcriptionEndpointingPlan")
	complete, is := take[float64](ends, "onPunctuationSeconds")
	open, isOpen := take[float64](ends, "onNoPunctuationSeconds")
	if !waits {
		wait = 0.4 // Vapi's
	}
	if waits || is {
		b.whole("startSpeakingPlan", "min_endpoint_ms", (wait+complete)*1000, 100, 2000)
	}
	if isOpen {
		b.whole("startSpeakingPlan", "max_endpoint_ms", (wait+open)*1000, 300, 6000)
	}
	if smart := start.object("smartEndpointingPlan").text("provider"); smart != "" {
		b.note("startSpeakingPlan.smartEndpointingPlan", "%s: the server's engines find the ends of turns; settings.turns says which", oneLine(smart))
	}
	start.drop("smartEndpointingEnabled")
	stop := s.object("stopSpeakingPlan")
	if seconds, is := take[float64](stop, "voiceSeconds"); is {
		b.whole("stopSpeakingPlan.voiceSeconds", "barge_in_ms", seconds*1000, 200, 3000)
	}
	if words, is := take[int](stop, "numWords"); is {
		b.note("stopSpeakingPlan.numWords", "%d: clear words stop the agent, whatever their number; settings.barge_in_ms counts", words)
	}
}

// vapiLimits reads how long an assistant waits and talks, and what machines get.
func (b *builder) vapiLimits(s *source) {
	longest, is := take[float64](s, "maxDurationSeconds")
	if !is {
		longest = 600 // Vapi's
	}
	b.whole("maxDurationSeconds", "max_duration_seconds", longest, 10, 7200)
	plan := s.object("messagePlan")
	silence, ends := take[float64](s, "silenceTimeoutSeconds")
	idle, asks := take[float64](plan, "idleTimeoutSeconds")
	most, counts := take[float64](plan, "idleMessageMaxSpokenCount")
	switch {
	case asks:
		b.whole("messagePlan.idleTimeoutSeconds", "idle_seconds", idle, 0, 600)
		if !counts {
			most = 3 // Vapi's
		}
		b.whole("messagePlan.idleMessageMaxSpokenCount", "idle_reprompts", most, 0, 10)
		if ends {
			b.note("silenceTimeoutSeconds", "the call ends after the last of settings.idle_reprompts")
		}
	case ends:
		b.whole("silenceTimeoutSeconds", "idle_seconds", silence, 0, 600)
		b.settings["idle_reprompts"] = 0
	}
	if text := s.text("endCallMessage"); text != "" {
		b.settings["goodbye"] = b.text("endCallMessage", text)
		b.note("endCallMessage", "is said when a limit ends the call; when the model ends it, it says goodbye in its own words")
	}
	b.vapiVoicemail(s)
	if sound := s.text("backgroundSound"); sound != "" && sound != "off" {
		b.note("backgroundSound", "has no equivalent: the agent is heard alone")
	}
	if removes, is := take[bool](s, "backgroundDenoisingEnabled"); is && !removes {
		b.engine("denoise", "off")
	}
}

func (b *builder) vapiVoicemail(s *source) {
	message := s.text("voicemailMessage")
	_, off := take[string](s, "voicemailDetection") // it is "off", or an object
	if s.has("voicemailDetection") {
		detection := s.object("voicemailDetection")
		if provider := detection.text("provider"); provider != "" {
			b.note("voicemailDetection", "%s: the server recognises machines by itself", oneLine(provider))
		}
		b.settings["on_machine"] = "hangup"
	}
	if message == "" {
		return
	}
	if b.machineMessage("voicemailMessage", message); off {
		b.settings["on_machine"] = "continue"
		b.note("voicemailDetection", "is off: the message is kept, and settings.on_machine message has it said")
	}
}

// machineMessage sets what is said after the tone of a machine.
func (b *builder) machineMessage(path, message string) {
	const most = 1000 // characters
	text := b.text(path, message)
	if r := []rune(text); len(r) > most {
		b.note(path, "is cut: %d characters are allowed", most)
		text = b.unbraced(path, string(r[:most]))
	}
	b.settings["on_machine"], b.settings["machine_message"] = "message", text
}

// vapiAfter reads what is made of a call when it is over.
func (b *builder) vapiAfter(s *source) {
	plan := s.object("analysisPlan")
	summary := plan.object("summaryPlan")
	wanted, is := take[bool](summary, "enabled")
	old := plan.text("summaryPrompt")
	messages := summary.objects("messages")
	if prompt := cmp.Or(old, firstSystem(messages)); is && wanted || prompt != "" && (wanted || !is) {
		b.analyze("summary", true)
		if prompt = oneLine(prompt); prompt != "" {
			b.note("analysisPlan.summaryPlan", "the server has words of its own for summaries; add yours to settings.analysis.summary_prompt")
		}
	}
	data := plan.object("structuredDataPlan")
	wanted, is = take[bool](data, "enabled")
	if schema := data.raw("schema"); schema != nil && (wanted || !is) {
		b.analyze("extract", schema)
	}
	if schema := plan.raw("structuredDataSchema"); schema != nil {
		b.analyze("extract", schema)
	}
	artifacts := s.object("artifactPlan")
	for _, where := range []*source{artifacts, s} {
		if recorded, is := take[bool](where, "recordingEnabled"); is {
			b.settings["record"] = recorded
		}
	}
	if _, is := b.settings["record"]; !is {
		b.note("artifactPlan.recordingEnabled", "is on at Vapi unless it says otherwise; here settings.record turns it on")
	}
}

// firstSystem is the content of the first system message.
func firstSystem(messages []*source) (content string) {
	for _, m := range messages {
		role, text := m.text("role"), m.text("content")
		if role == "system" && content == "" {
			content = strings.TrimSpace(text)
		}
	}
	return content
}
