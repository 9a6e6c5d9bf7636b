package session

import (
	"time"

	"parley/pipeline"
	"parley/pipeline/agent"
	"parley/pipeline/wordtime"
	"parley/store"
	"slices"
)

// Stored history is bounded: a call of two hours has far less. Of a longer one the
// transcript says how many lines are not in it.
const (
	maxTranscript      = 5000      // lines, and turns
	maxTranscriptBytes = 512 << 10 // about, of texts
	maxGenerations     = 5000
)

// turnRecord is where the time of one turn went, as it is stored.
type turnRecord struct {
	Turn       int          `json:"turn"`
	Generation int          `json:"generation"`
	AtMS       int64        `json:"at_ms"`
	EndpointMS int64        `json:"endpoint_ms"`
	ModelMS    int64        `json:"model_ms"`
	VoiceMS    int64        `json:"voice_ms"`
	TotalMS    int64        `json:"total_ms"`
	Points     pointsRecord `json:"points"`
}

// pointsRecord are the six points of a turn: the end of speech in media time of the call,
// the others since then.
type pointsRecord struct {
	SpeechEndMS     int64  `json:"speech_end_ms"`
	FinalTextMS     *int64 `json:"final_text_ms"` // null: it was not
	FirstTokenMS    *int64 `json:"first_token_ms"`
	FirstSentenceMS *int64 `json:"first_sentence_ms"`
	FirstAudioMS    *int64 `json:"first_audio_ms"`
	FirstPacketMS   *int64 `json:"first_packet_ms"`
}

func recordOf(e *pipeline.Event) turnRecord {
	t := &e.Timing
	after := func(d time.Duration) *int64 {
		if d == pipeline.Never {
			return nil
		}
		ms := d.Milliseconds()
		return &ms
	}
	return turnRecord{Turn: e.Turn, Generation: e.Generation, AtMS: e.At.Milliseconds(), EndpointMS: t.Endpoint.Milliseconds(),
		ModelMS: t.Model.Milliseconds(), VoiceMS: t.Voice.Milliseconds(), TotalMS: t.Total.Milliseconds(),
		Points: pointsRecord{SpeechEndMS: t.SpeechEnd.Milliseconds(), FinalTextMS: after(t.FinalText), FirstTokenMS: after(t.FirstToken),
			FirstSentenceMS: after(t.FirstSentence), FirstAudioMS: after(t.FirstAudio), FirstPacketMS: after(t.FirstPacket)}}
}

// lineOf is a line as it is stored.
func lineOf(e *pipeline.Event) store.TranscriptLine {
	line := store.TranscriptLine{Role: "user", Text: e.Text, AtMS: e.At.Milliseconds()}
	if e.Kind == pipeline.AgentLine {
		line.Role = "agent"
	}
	if s := e.Said; s != nil {
		line.Words, line.Estimated = storedWords(s.Words), s.Estimated
		if s.Interrupted {
			line.Interruption = &store.Interruption{AtMS: s.Cut.Milliseconds(), Unheard: s.Unheard}
		}
	}
	return line
}

func storedWords(words []wordtime.Word) []store.SpokenWord {
	var out []store.SpokenWord
	for _, w := range words {
		out = append(out, store.SpokenWord{Text: w.Text, StartMS: w.From.Milliseconds(), EndMS: w.To.Milliseconds()})
	}
	return out
}

// lineBytes is about what a line takes up, beside the times of its words.
func lineBytes(l *store.TranscriptLine) int {
	n := eventBytes + len(l.Text)
	if l.Interruption != nil {
		n += len(l.Interruption.Unheard)
	}
	return n
}

// addLine notes something that was said. Whoever follows the call is told of the line
// alone.
func (s *Session) addLine(e *pipeline.Event) {
	line := lineOf(e)
	if s.talk.Omitted > 0 || len(s.talk.Transcript) == maxTranscript || s.said+lineBytes(&line) > maxTranscriptBytes {
		s.talk.Omitted++
		return
	}
	s.said += lineBytes(&line)
	s.talk.Transcript = append(s.talk.Transcript, line)
	line = line.Plain()
	s.log.add(store.CallEvent{Line: &line})
	s.publish(CallUpdate{Line: &line})
}

// replaceUser changes the caller's latest line: they went on before they heard an answer.
func (s *Session) replaceUser(e *pipeline.Event) {
	for i := len(s.talk.Transcript) - 1; i >= 0; i-- {
		if was := &s.talk.Transcript[i]; was.Role == "user" {
			now := lineOf(e)
			if s.talk.Omitted > 0 { // it may be another one, that was not kept
				return
			}
			s.said += len(now.Text) - len(was.Text)
			was.Text, was.Words, was.Estimated = now.Text, now.Words, now.Estimated
			s.log.add(store.CallEvent{Correction: &store.Correction{Line: i, Text: e.Text}})
			s.publish(CallUpdate{Corrected: true})
			return
		}
	}
}

// served notes which engine served a stage, in the call's history. What was there may be
// on its way to the store, and does not change.
func (s *Session) served(stage agent.Stage, engine string) {
	by := store.ServedBy{ASR: []string{}, LLM: []string{}, TTS: []string{}} // [] and not null
	if s.talk.Engines != nil {
		by = *s.talk.Engines
	}
	list := &by.TTS
	switch stage {
	case agent.StageASR:
		list = &by.ASR
	case agent.StageLLM:
		list = &by.LLM
	}
	if !slices.Contains(*list, engine) {
		*list = append(slices.Clone(*list), engine)
		s.talk.Engines = &by
	}
}
