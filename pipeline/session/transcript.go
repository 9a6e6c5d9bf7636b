package session

import (
	"encoding/json"
	"slices"
	"time"

	"parley/pipeline/agent"
	"parley/pipeline/event"
	"parley/pipeline/reply"
	"parley/pipeline/wordtime"
	"parley/store"
	"parley/store/history"
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

func recordOf(e *event.Event) turnRecord {
	t := &e.Timing
	after := func(d time.Duration) *int64 {
		if d == reply.Never {
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
func lineOf(e *event.Event) history.TranscriptLine {
	line := history.TranscriptLine{Role: "user", Text: e.Text, AtMS: e.At.Milliseconds()}
	switch e.Kind {
	case event.AgentLine:
		line.Role = "agent"
	case event.SupervisorLine:
		line.Role = "supervisor"
	}
	if s := e.Said; s != nil {
		line.Words, line.Estimated = storedWords(s.Words), s.Estimated
		if s.Interrupted {
			line.Interruption = &history.Interruption{AtMS: s.Cut.Milliseconds(), Unheard: s.Unheard}
		}
	}
	return line
}

func storedWords(words []wordtime.Word) []history.SpokenWord {
	var out []history.SpokenWord
	for _, w := range words {
		out = append(out, history.SpokenWord{Text: w.Text, StartMS: w.From.Milliseconds(), EndMS: w.To.Milliseconds()})
	}
	return out
}

// lineBytes is about what a line takes up, beside the times of its words.
func lineBytes(l *history.TranscriptLine) int {
	n := eventBytes + len(l.Text)
	if l.Interruption != nil {
		n += len(l.Interruption.Unheard)
	}
	return n
}

// conversation is what is stored of one.
type conversation struct {
	talk  history.Conversation
	bytes int // of its transcript
	turns []turnRecord

	events int  // that were given to be stored as they happened
	torn   bool // one was not: none is that follows
	asked  asked

	functionBytes int // of what is kept of functions
	log           callLog
}

// stored is the conversation as the store takes it. What is added later does not change it.
func (h *conversation) stored() history.Conversation {
	talk, log := h.talk, h.log.CallLog
	talk.Log = &log
	if turns, err := json.Marshal(h.turns); err == nil && h.turns != nil {
		talk.Turns = turns
	}
	return talk
}

// addLine adds what was said; kept is false when the transcript is full.
func (h *conversation) addLine(e *event.Event) (line history.TranscriptLine, kept bool) {
	line = lineOf(e)
	if h.talk.Omitted > 0 || len(h.talk.Transcript) == maxTranscript || h.bytes+lineBytes(&line) > maxTranscriptBytes {
		h.talk.Omitted++
		return line, false
	}
	h.bytes += lineBytes(&line)
	h.talk.Transcript = append(h.talk.Transcript, line)
	plain := line.Plain()
	h.log.add(history.CallEvent{Line: &plain})
	return line, true
}

// replaceUser changes the caller's latest line, who went on before they heard an answer. nil: there
// is none.
func (h *conversation) replaceUser(e *event.Event) *history.Event {
	for i := len(h.talk.Transcript) - 1; i >= 0; i-- {
		if was := &h.talk.Transcript[i]; was.Role == "user" {
			now := lineOf(e)
			if h.talk.Omitted > 0 { // it may be another one, that was not kept
				return nil
			}
			h.bytes += len(now.Text) - len(was.Text)
			was.Text, was.Words, was.Estimated = now.Text, now.Words, now.Estimated
			change := history.CallEvent{Correction: &history.Correction{Line: i, Text: e.Text}}
			h.log.add(change)
			return &history.Event{CallEvent: change, Words: &history.LineWords{Words: now.Words, Estimated: now.Estimated}}
		}
	}
	return nil
}

// answered notes who answered an outbound call.
func (h *conversation) answered(by string) {
	h.talk.AnsweredBy = by
	h.log.add(history.CallEvent{AnsweredBy: by})
}

// addGeneration adds a completion with its tokens; own says that they are on a key of the account's.
// nil: there are too many.
func (h *conversation) addGeneration(e *event.Event, own bool) *store.Generation {
	if len(h.talk.Generations) == maxGenerations {
		return nil
	}
	u := &e.Usage
	g := store.Generation{Gen: u.Generation, Turn: e.Turn, Kind: u.Kind, Outcome: string(u.Outcome),
		InTokens: int64(u.Tokens.In), OutTokens: int64(u.Tokens.Out), Source: string(u.Tokens.Source), Engine: u.Engine, Own: own}
	h.talk.Generations = append(h.talk.Generations, g)
	return &g
}

// addTurn adds where the time of a turn went. nil: there are too many.
func (h *conversation) addTurn(e *event.Event) *turnRecord {
	if len(h.turns) == maxTranscript {
		return nil
	}
	t := recordOf(e)
	h.turns = append(h.turns, t)
	return &t
}

// served notes which engine served a stage. What was there may be on its way to the store,
// and does not change. nil: it has served before.
func (h *conversation) served(stage agent.Stage, engine string) *store.ServedBy {
	by := store.ServedBy{ASR: []string{}, LLM: []string{}, TTS: []string{}} // [] and not null
	if h.talk.Engines != nil {
		by = *h.talk.Engines
	}
	list := &by.TTS
	switch stage {
	case agent.StageASR:
		list = &by.ASR
	case agent.StageLLM:
		list = &by.LLM
	}
	if slices.Contains(*list, engine) {
		return nil
	}
	*list = append(slices.Clone(*list), engine)
	h.talk.Engines = &by
	return &by
}
