package history

import (
	"encoding/json"
	"slices"
	"time"

	"parley/billing"
	"parley/store"
)

// waitsKey is a row of call_waits.
type waitsKey struct {
	Account string
	Day     time.Time
	Agent   string
	Kind    billing.Kind
	Wait
}

// Wait is what turns waited for.
type Wait struct {
	// Stage is total, from the caller's last word to the first audio; endpoint, from that word to the decision that the caller has
	// finished; asr, to the last of their words as text; llm, from that decision to the model's first words; tts, from its first
	// sentence to the voice's first audio.
	Stage  string
	Engine string // empty: the stage has none, several served the call, or it is not known
}

// allAgents are those of an account together.
const allAgents = "*"

// waits are the latencies of turns.
type waits map[waitsKey]histogram

// storedTurn is what a turn says of its latencies, as the conversation stores it.
type storedTurn struct {
	Endpoint *int64 `json:"endpoint_ms"`
	Model    *int64 `json:"model_ms"`
	Total    *int64 `json:"total_ms"`
	Points   struct {
		FinalText     *int64 `json:"final_text_ms"`
		FirstSentence *int64 `json:"first_sentence_ms"`
		FirstAudio    *int64 `json:"first_audio_ms"`
	} `json:"points"`
}

// add counts the turns of a call and returns how many there are, and what half of them did not exceed. Turns that are none
// do not count, so that no call holds up the others.
func (w waits) add(c *endedCall) (n int, median *int64) {
	var turns []storedTurn
	if len(c.Turns) == 0 || json.Unmarshal(c.Turns, &turns) != nil {
		return 0, nil
	}
	var by store.ServedBy
	if c.Engines != nil {
		by = *c.Engines
	}
	var totals []int64
	for i := range turns {
		t := &turns[i]
		w.count(c, Wait{Stage: "endpoint"}, t.Endpoint)
		if t.Total != nil {
			w.count(c, Wait{Stage: "total"}, t.Total)
			totals = append(totals, *t.Total)
		}
		if c.Demonstration { // the engines were another server's
			continue
		}
		w.count(c, Wait{"asr", alone(by.ASR)}, t.Points.FinalText)
		w.count(c, Wait{"llm", alone(by.LLM)}, t.Model)
		if first, audio := t.Points.FirstSentence, t.Points.FirstAudio; first != nil && audio != nil {
			voice := *audio - *first
			w.count(c, Wait{"tts", alone(by.TTS)}, &voice)
		}
	}
	if len(totals) > 0 {
		slices.Sort(totals)
		median = &totals[(len(totals)-1)/2]
	}
	return len(turns), median
}

// count counts a turn for the call's agent, and for all together; nil: it had no such stage.
func (w waits) count(c *endedCall, of Wait, ms *int64) {
	if ms == nil {
		return
	}
	for _, agent := range []string{c.Agent, allAgents} {
		key := waitsKey{c.Account, c.Day, agent, c.Kind, of}
		h := w[key]
		h.add(bucketOf(*ms), 1)
		w[key] = h
	}
}

// alone is the engine that served a stage by itself.
func alone(engines []string) string {
	if len(engines) == 1 {
		return engines[0]
	}
	return ""
}
