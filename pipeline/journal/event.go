package journal

import (
	"fmt"
	"strings"
	"time"

	"parley/inference"
)

// Event is one entry of a call's log, as a file has it. Phonemes are left out, for they follow
// from the audio.
type Event struct {
	AtUS       int64               `json:"at_us"` // media time of the call, microseconds
	Kind       string              `json:"kind"`
	Turn       int                 `json:"turn,omitempty"`
	Generation int                 `json:"generation,omitempty"`
	Text       string              `json:"text,omitempty"`
	Replaces   string              `json:"replaces,omitempty"`
	Stage      string              `json:"stage,omitempty"`
	On         *bool               `json:"on,omitempty"`
	Call       *inference.ToolCall `json:"call,omitempty"`
	Error      string              `json:"error,omitempty"`
	Usage      *Usage              `json:"usage,omitempty"`
	Timing     *Timing             `json:"timing,omitempty"`
	Words      []Word              `json:"words,omitempty"`     // of a line
	Estimated  bool                `json:"estimated,omitempty"` // some of their times
	Cut        *Cut                `json:"cut,omitempty"`       // a line of the agent's that was cut off
	Reason     string              `json:"reason,omitempty"`    // of the end
	Detail     string              `json:"detail,omitempty"`
}

// Word is a word of a line, with its media times in microseconds.
type Word struct {
	Text   string `json:"text"`
	FromUS int64  `json:"from_us"`
	ToUS   int64  `json:"to_us"`
}

// Cut is where a line was cut off, and what of it was not heard.
type Cut struct {
	AtUS    int64  `json:"at_us"`
	Unheard string `json:"unheard,omitempty"`
}

// Usage is what a completion consumed.
type Usage struct {
	Generation int    `json:"generation"`
	Kind       string `json:"kind"`
	Outcome    string `json:"outcome"`
	In         int    `json:"in_tokens"`
	Out        int    `json:"out_tokens"`
	Source     string `json:"source,omitempty"`
	Engine     string `json:"engine,omitempty"`
}

// Timing is where a turn's time went, in microseconds.
type Timing struct {
	EndpointUS int64 `json:"endpoint_us"`
	ModelUS    int64 `json:"model_us"`
	VoiceUS    int64 `json:"voice_us"`
	TotalUS    int64 `json:"total_us"`
	OverheadUS int64 `json:"overhead_us"`
	// Points are those of reply.Timing; nil in a file of minor version 0.
	Points *Points `json:"points,omitempty"`
}

// Points are the six points of a turn, in microseconds: the end of speech in media time of
// the call, the others since then; nil: there was none.
type Points struct {
	SpeechEndUS     int64  `json:"speech_end_us"`
	FinalTextUS     *int64 `json:"final_text_us,omitempty"`
	FirstTokenUS    *int64 `json:"first_token_us,omitempty"`
	FirstSentenceUS *int64 `json:"first_sentence_us,omitempty"`
	FirstAudioUS    *int64 `json:"first_audio_us,omitempty"`
	FirstPacketUS   *int64 `json:"first_packet_us,omitempty"`
}

// before is the event as files of minor version 0 have it.
func (e Event) before() Event {
	e.Words, e.Estimated, e.Cut = nil, false, nil
	if e.Timing != nil {
		t := *e.Timing
		t.Points = nil
		e.Timing = &t
	}
	return e
}

// At is when it happened.
func (e *Event) At() time.Duration { return time.Duration(e.AtUS) * time.Microsecond }

// String is the event as a line for people, with its time in seconds.
func (e *Event) String() string { return fmt.Sprintf("%9.3f  %s", e.At().Seconds(), e.What()) }

// What is the same without the time.
func (e *Event) What() string {
	parts := []string{e.Kind}
	add := func(format string, a ...any) { parts = append(parts, fmt.Sprintf(format, a...)) }
	if e.Generation > 0 {
		add("%d", e.Generation)
	}
	if e.Stage != "" {
		add("%s", e.Stage)
	}
	if e.On != nil {
		add("%v", *e.On)
	}
	if e.Call != nil {
		add("%s %s %s", e.Call.ID, e.Call.Name, e.Call.Arguments)
	}
	if e.Text != "" {
		add("%q", e.Text)
	}
	if e.Replaces != "" {
		add("in place of %q", e.Replaces)
	}
	if e.Error != "" {
		add("%s", e.Error)
	}
	if u := e.Usage; u != nil {
		add("completion %d %s %s, tokens %d in %d out", u.Generation, u.Kind, u.Outcome, u.In, u.Out)
	}
	if t := e.Timing; t != nil {
		add("endpoint %d ms, model %d, voice %d, total %d", t.EndpointUS/1000, t.ModelUS/1000, t.VoiceUS/1000, t.TotalUS/1000)
	}
	if e.Reason != "" {
		add("%s", strings.TrimSuffix(e.Reason+": "+e.Detail, ": "))
	}
	return strings.Join(parts, " ")
}
