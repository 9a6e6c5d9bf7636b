package dashboard

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"parley/api"
	"parley/api/calls"
	"parley/api/recording"
	"parley/api/wire"
	"parley/billing"
	"parley/store"
	"parley/store/history"
)

// callView is one call: what was said, what was heard, and where the time went.
type callView struct {
	callRow
	Call        wire.CallDetail
	AgentExists bool
	Live        bool
	Waveform    *recording.Waveform // nil: there is none to draw
	Quality     calls.CallQuality
	Bars        []turnBar
	Lines       []spokenLine
}

// spokenLine is a line of the transcript.
type spokenLine struct {
	wire.CallLine
	Who string
	At  time.Duration // when it began, as far as that is known
}

// Answerer is who answered a call that an agent placed, in words; empty where nobody did.
func (v *callView) Answerer() string {
	if v.AnsweredBy == nil {
		return ""
	}
	return answererWords[*v.AnsweredBy]
}

// FarEnd is who talks with the agent.
func (v *callView) FarEnd() string {
	if v.Call.Direction == "outbound" {
		return "Callee"
	}
	return "Caller"
}

// From is At in seconds.
func (l spokenLine) From() float64 { return l.At.Seconds() }

func callPage(q *Request) error {
	v, err := q.callView()
	if err != nil {
		return err
	}
	return q.Page("call", "Call", v)
}

// meterPart is what grows while a call lasts.
func meterPart(q *Request) error {
	v := &callView{}
	if err := q.Call(http.MethodGet, Path("/v1/calls/", q.ID("id")), nil, &v.Call); err != nil {
		return err
	}
	v.CallSummary = v.Call.CallSummary
	return q.Part("call", "meter", v)
}

func (q *Request) callView() (*callView, error) {
	id := q.ID("id")
	v := &callView{}
	if err := q.Call(http.MethodGet, Path("/v1/calls/", id), nil, &v.Call); err != nil {
		return nil, err
	}
	v.CallSummary = v.Call.CallSummary
	v.Live = v.EndedAt == nil
	v.Who = v.From
	if v.Direction == string(billing.Outbound) {
		v.Who = v.To
	}
	if err := q.nameAgent(v); err != nil {
		return nil, err
	}
	if r := v.Call.Recording; r != nil && r.State == string(history.RecordingReady) {
		var w recording.Waveform
		switch err := q.Call(http.MethodGet, Path("/v1/calls/", id, "/recording/peaks"), nil, &w); {
		case err == nil:
			v.Waveform = &w
		case api.ProblemOf(err).Status >= http.StatusInternalServerError:
			return nil, err
		}
	}
	if v.Direction != string(billing.Web) {
		if err := q.Call(http.MethodGet, Path("/v1/calls/", id, "/quality"), nil, &v.Quality); err != nil {
			return nil, err
		}
	}
	for _, l := range v.Call.Transcript {
		who := v.FarEnd()
		if l.Role == "agent" {
			who = "Agent"
		}
		at := time.Duration(l.At * float64(time.Second))
		if len(l.Words) > 0 {
			at = time.Duration(l.Words[0].StartMS) * time.Millisecond
		}
		v.Lines = append(v.Lines, spokenLine{l, who, at})
	}
	v.Bars = bars(v.Call.Turns)
	return v, nil
}

// nameAgent finds out what the agent is called, if it is still there.
func (q *Request) nameAgent(v *callView) error {
	if v.AgentID == nil {
		return nil
	}
	a, err := q.DB.Agent(q.Context(), q.Account(), *v.AgentID)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err == nil {
		v.Agent, v.AgentExists = a.Name, true
	}
	return err
}

// Spoken says who talked to whom, in words.
func (v *callView) Spoken() string {
	if v.Who == "" {
		return v.Way()
	}
	return v.Way() + ", " + v.Who
}

// Estimated says that the times of some words are an estimate.
func (v *callView) Estimated() bool {
	return slices.ContainsFunc(v.Call.Transcript, func(l wire.CallLine) bool { return l.Estimated })
}

// Listen is the address of the audio; empty: there is none.
func (v *callView) Listen() string {
	if v.Call.Recording == nil || v.Call.Recording.State != string(history.RecordingReady) {
		return ""
	}
	return Path("/v1/calls/", v.ID, "/recording")
}

// RecordingWords say how a recording stands that cannot be heard.
func (v *callView) RecordingWords() string {
	switch v.Call.Recording.State {
	case string(history.RecordingRuns):
		return "The call is being recorded."
	case string(history.RecordingEncodes):
		return "The recording will be there in a moment."
	case string(history.RecordingFailed):
		return "The call could not be recorded."
	}
	if v.Call.Recording.DeletedBy != nil && *v.Call.Recording.DeletedBy == "expiry" {
		return "The recording was kept as long as the account keeps them, and is deleted."
	}
	return "The recording was deleted."
}

// Extracted is what the analysis took out of the call, for people.
func (v *callView) Extracted() string {
	if v.Call.Analysis == nil || v.Call.Analysis.Data == nil {
		return ""
	}
	text, err := json.MarshalIndent(v.Call.Analysis.Data, "", "  ")
	if err != nil {
		return ""
	}
	return string(text)
}

// signallingView is the ladder of a call's SIP messages.
type signallingView struct {
	Dropped int
	Rows    []signal
}

// signal is one message.
type signal struct {
	calls.SIPMessage
	First string        // its first line
	After time.Duration // since the first message
}

// Offset is After in seconds, for people.
func (s signal) Offset() string { return s.After.Round(time.Millisecond).String() }

// signallingPart is asked for when somebody wants to see it.
func signallingPart(q *Request) error {
	var t calls.SIPTrace
	if err := q.Call(http.MethodGet, Path("/v1/calls/", q.ID("id"), "/sip"), nil, &t); err != nil {
		return err
	}
	v := signallingView{Dropped: t.Dropped}
	for _, m := range t.Data {
		first, _, _ := strings.Cut(m.Message, "\r\n")
		v.Rows = append(v.Rows, signal{m, first, m.At.Sub(t.Data[0].At)})
	}
	return q.Part("call", "signalling", v)
}
