package calls

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"parley/api"
	"parley/api/dashboard/page"
	"parley/api/dashboard/report"
	"parley/api/wire"
	"parley/billing"
	"parley/store"
	"parley/store/history"
	"parley/store/people"
)

// callView is one call: what was said, what was heard, and where the time went.
type callView struct {
	Row
	Call        wire.CallDetail
	AgentExists bool
	Live        bool
	Owner       bool           // the user is one of the account
	Listens     bool           // the user may listen in on it
	Speaks      bool           // and speak in it
	Waveform    *wire.Waveform // nil: there is none to draw
	Quality     wire.CallQuality
	Bars        []turnBar
	Timeline    *timeline // nil: nothing happened
	Lines       []spokenLine
}

// spokenLine is a line of the transcript, or a function that was called there.
type spokenLine struct {
	wire.CallLine
	Who      string
	At       time.Duration // when it began, as far as that is known
	Function *wire.CallFunction
}

// Took is how long the function took; 0: it is not known.
func (l spokenLine) Took() time.Duration {
	if f := l.Function; f.EndMS != nil {
		return time.Duration(*f.EndMS-f.StartMS) * time.Millisecond
	}
	return 0
}

// outcomeWords say how functions went.
var outcomeWords = map[string]string{"ok": "Done", "error": "Failed", "timeout": "Timed out", "cancelled": "Cancelled", "unknown_tool": "Unknown function"}

// Outcome is how the function went.
func (l spokenLine) Outcome() string {
	if l.Function.Outcome == nil {
		return "No result"
	}
	return outcomeWords[*l.Function.Outcome]
}

// Answerer is who answered a call that an agent placed, in words; empty where it was not answered.
func (v *callView) Answerer() string {
	if v.AnsweredBy == nil {
		return ""
	}
	return page.AnswererWords[*v.AnsweredBy]
}

// Vouched is what carriers say of the caller, in words; empty: nothing.
func (v *callView) Vouched() string {
	var words []string
	switch said := v.Verstat; {
	case said == nil:
	case strings.HasPrefix(*said, "TN-Validation-Passed"):
		words = append(words, "number checked")
	case strings.HasPrefix(*said, "TN-Validation-Failed"):
		words = append(words, "check of the number failed")
	}
	if v.Attested != nil {
		words = append(words, "attestation "+*v.Attested)
	}
	return strings.Join(words, ", ")
}

// Kept is the form of what people keep with the call.
func (v *callView) Kept() *page.Form {
	note := ""
	if v.Note != nil {
		note = *v.Note
	}
	return page.NewForm("tags", strings.Join(v.Tags, ", "), "note", note)
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

func callPage(q *page.Request) error {
	return q.Show("call", "Call")(newCallView(q))
}

// meterPart is what grows while a call lasts.
func meterPart(q *page.Request) error {
	c, err := page.Read[wire.CallDetail](q, page.Path("/v1/calls/", q.ID("id")))
	return q.ShowPart("call", "meter")(&callView{Row: Row{CallSummary: c.CallSummary}, Call: c}, err)
}

func newCallView(q *page.Request) (*callView, error) {
	id := q.ID("id")
	c, err := page.Read[wire.CallDetail](q, page.Path("/v1/calls/", id))
	if err != nil {
		return nil, err
	}
	v := &callView{Row: Row{CallSummary: c.CallSummary, Who: farEnd(c.CallSummary)}, Call: c, Live: c.EndedAt == nil, Owner: q.Browser.Membership == people.RoleOwner,
		Listens: q.Principal().Listens, Speaks: q.Principal().Speaks}
	if err := nameAgent(q, v); err != nil {
		return nil, err
	}
	if r := v.Call.Recording; r != nil && r.State == string(history.RecordingReady) {
		v.Waveform, err = page.Read[*wire.Waveform](q, page.Path("/v1/calls/", id, "/recording/peaks"))
		if err != nil && api.ProblemOf(err).Status >= http.StatusInternalServerError {
			return nil, err
		}
	}
	if v.Direction != string(billing.Web) {
		if v.Quality, err = page.Read[wire.CallQuality](q, page.Path("/v1/calls/", id, "/quality")); err != nil {
			return nil, err
		}
	}
	for _, l := range v.Call.Transcript {
		who := v.FarEnd()
		switch l.Role {
		case "agent":
			who = "Agent"
		case "supervisor":
			who = "Supervisor"
		}
		v.Lines = append(v.Lines, spokenLine{CallLine: l, Who: who, At: time.Duration(l.Began() * float64(time.Second))})
	}
	for i := range v.Call.Functions {
		f := &v.Call.Functions[i]
		v.Lines = append(v.Lines, spokenLine{Function: f, At: time.Duration(f.StartMS) * time.Millisecond})
	}
	slices.SortStableFunc(v.Lines, func(a, b spokenLine) int { return cmp.Compare(a.At, b.At) })
	v.Bars, v.Timeline = bars(v.Call.Turns), timelineOf(v)
	return v, nil
}

// nameAgent finds out what the agent is called, if it is still there.
func nameAgent(q *page.Request, v *callView) error {
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
	switch {
	case v.Who != "":
		return v.Way() + ", " + v.Who
	case v.Direction != string(billing.Web):
		return v.Way() + " call"
	case v.Agent != "":
		return "Web call with " + v.Agent
	}
	return "Web call"
}

// Estimated says that the times of some words are an estimate.
func (v *callView) Estimated() bool {
	return slices.ContainsFunc(v.Call.Transcript, func(l wire.CallLine) bool { return l.Estimated })
}

// TakesPart says that the user may listen in on the call, which is going on.
func (v *callView) TakesPart() bool { return v.Live && v.Listens }

// Whisper is the form with what the agent is to know.
func (v *callView) Whisper() *page.Form { return &page.Form{} }

// Listen is the address of the audio; empty: there is none.
func (v *callView) Listen() string {
	if v.Call.Recording == nil || v.Call.Recording.State != string(history.RecordingReady) {
		return ""
	}
	return page.Path("/v1/calls/", v.ID, "/recording")
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
	wire.SIPMessage
	First string        // its first line
	After time.Duration // since the first message
}

// Offset is After in seconds, for people.
func (s signal) Offset() string { return s.After.Round(time.Millisecond).String() }

// signallingPart is asked for when the user opens it.
func signallingPart(q *page.Request) error {
	t, err := page.Read[wire.SIPTrace](q, page.Path("/v1/calls/", q.ID("id"), "/sip"))
	v := signallingView{Dropped: t.Dropped}
	for _, m := range t.Data {
		first, _, _ := strings.Cut(m.Message, "\r\n")
		v.Rows = append(v.Rows, signal{m, first, m.At.Sub(t.Data[0].At)})
	}
	return q.ShowPart("call", "signalling")(v, err)
}

// turnBar is a turn of the agent in the waterfall; the parts lie on a line of a
// thousand units, which is the slowest turn.
type turnBar struct {
	At     time.Duration
	Over   int64 // the turn was taken to be over, in milliseconds after the caller's last sound
	Points []turnPoint
	Parts  []barPart
	Mark   int64 // where Over lies on the line
}

// turnPoint is one of the points of a turn, after its first.
type turnPoint struct {
	Class string
	Known bool
	MS    int64 // after the end of speech
	Last  bool
}

// barPart is what lies before a point and after the one before it.
type barPart struct {
	Class       string
	From, Width int64
}

// pointsOf are the points of a turn in the order in which they usually come. Of a call of
// before they were kept those are known that follow from the stages.
func pointsOf(t *wire.CallTurn) []turnPoint {
	p := t.Points
	if p == nil {
		token := t.EndpointMS + t.ModelMS
		audio := token + t.VoiceMS
		p = &wire.CallPoints{FirstTokenMS: &token, FirstAudioMS: &audio, FirstPacketMS: &t.TotalMS}
	}
	var out []turnPoint
	for _, x := range []struct {
		class string
		ms    *int64
	}{{"text", p.FinalTextMS}, {"token", p.FirstTokenMS}, {"sentence", p.FirstSentenceMS}, {"audio", p.FirstAudioMS}, {"packet", p.FirstPacketMS}} {
		point := turnPoint{Class: x.class, Known: x.ms != nil, Last: x.class == "packet"}
		if point.Known {
			point.MS = *x.ms
		}
		out = append(out, point)
	}
	return out
}

// bars lays the turns out in one scale.
func bars(turns []wire.CallTurn) []turnBar {
	out := make([]turnBar, len(turns))
	longest := int64(1)
	for i := range turns {
		t := &turns[i]
		out[i] = turnBar{At: time.Duration(t.AtMS) * time.Millisecond, Over: t.EndpointMS, Points: pointsOf(t)}
		for _, p := range out[i].Points {
			longest = max(longest, p.MS)
		}
	}
	for i := range out {
		b := &out[i]
		b.Mark = min(1000, max(0, b.Over*1000/longest))
		at := int64(0)
		for _, p := range b.Points {
			to := p.MS * 1000 / longest
			if held := min(b.Mark, to); p.Last && held > at { // what was ready was not sent before the turn was over
				b.Parts = append(b.Parts, barPart{"held", at, held - at})
				at = held
			}
			if p.Known && to > at {
				b.Parts = append(b.Parts, barPart{p.Class, at, to - at})
				at = to
			}
		}
	}
	return out
}

// Used is what the engines used in the call, and for it afterwards.
func (v *callView) Used() report.UsedEngines { return report.EnginesOf(v.Call.Usage) }
