package billing

import "sync/atomic"

// Component is one thing a session is charged for; it indexes Usage and Bill.
type Component int

// The components and what their counter counts.
const (
	AgentTime Component = iota // ms of the session's clock
	LineTime                   // ms of telephone line since answer; an answered line has at least 1
	ReplyIn                    // tokens of replies that were spoken
	ReplyOut
	SpeculativeIn // tokens of replies begun in a pause and discarded
	SpeculativeOut
	SummaryIn // tokens of summaries
	SummaryOut
	TTSChars    // Unicode code points
	STTTime     // ms of audio
	DenoiseTime // ms of audio
	CRMCalls    // calls that reached the customer's CRM
	WebSearches // searches that returned an answer
	AudioIn     // tokens of audio that a realtime engine read for the first time
	AudioCached // and again, as part of the conversation
	AudioOut    // and spoke
	OwnIn       // tokens of any completion on a key of the account's own
	OwnOut
	Segments // of text messages
	NumComponents
)

var componentNames = [NumComponents]string{
	"agent", "line", "llm_reply_input", "llm_reply_output", "llm_speculative_input", "llm_speculative_output",
	"llm_summary_input", "llm_summary_output", "tts", "stt", "denoise", "crm", "web_search",
	"realtime_audio_input", "realtime_cached_audio_input", "realtime_audio_output",
	"llm_own_key_input", "llm_own_key_output", "message",
}

// String is the component's name in receipts and ledger accounts.
func (c Component) String() string {
	if c < 0 || c >= NumComponents {
		return "unknown"
	}
	return componentNames[c]
}

// Usage is what a session has used since it began, one counter for each component.
// Counters only grow: a lost or repeated report of them is harmless.
type Usage [NumComponents]int64

// Max is the larger of each counter of u and v.
func (u Usage) Max(v Usage) Usage {
	for c := range u {
		u[c] = max(u[c], v[c])
	}
	return u
}

// TokenKind says why a language model ran.
type TokenKind int

// Why a language model ran.
const (
	Reply       TokenKind = iota // its words were spoken
	Speculative                  // begun during a pause, then discarded
	Summary                      // after the call
)

// Meter counts one session's usage. The zero Meter is ready. It is safe for
// several goroutines and never blocks or allocates.
type Meter struct {
	counters [NumComponents]atomic.Int64
}

// Add counts n more of c; a negative n is ignored, for counters only grow.
func (m *Meter) Add(c Component, n int64) {
	if n > 0 {
		m.counters[c].Add(n)
	}
}

// AddTokens counts a completion's tokens.
func (m *Meter) AddTokens(k TokenKind, in, out int) {
	m.Add(ReplyIn+2*Component(k), int64(in))
	m.Add(ReplyOut+2*Component(k), int64(out))
}

// AddOwn counts a completion's tokens on a key of the account's own.
func (m *Meter) AddOwn(in, out int) {
	m.Add(OwnIn, int64(in))
	m.Add(OwnOut, int64(out))
}

// AddAudio counts what a realtime engine used for a reply; cached is part of in.
func (m *Meter) AddAudio(in, cached, out int) {
	m.Add(AudioIn, int64(in-cached))
	m.Add(AudioCached, int64(cached))
	m.Add(AudioOut, int64(out))
}

// Raise sets c to total unless it is already higher: for clocks, whose owner knows
// the total and not the step.
func (m *Meter) Raise(c Component, total int64) {
	for {
		old := m.counters[c].Load()
		if total <= old || m.counters[c].CompareAndSwap(old, total) {
			return
		}
	}
}

// Usage reads the counters. It is not a cut through all of them at one instant;
// what one reading misses the next one has.
func (m *Meter) Usage() Usage {
	var u Usage
	for c := range u {
		u[c] = m.counters[c].Load()
	}
	return u
}
