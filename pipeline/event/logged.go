package event

import (
	"time"

	"parley/media"
	"parley/pipeline/journal"
	"parley/pipeline/reply"
)

// Logged is the event as the call's log has it.
func (e *Event) Logged() journal.Event {
	us := func(t media.Time) int64 { return t.Duration().Microseconds() }
	out := journal.Event{AtUS: us(e.At), Kind: e.Kind.String(), Turn: e.Turn, Generation: e.Generation,
		Text: e.Text, Replaces: e.Replaces, Stage: string(e.Stage), Reason: string(e.Ended.Reason), Detail: string(e.Ended.Detail)}
	if e.Err != nil {
		out.Error = e.Err.Error()
	}
	switch e.Kind {
	case Ducked:
		out.On = &e.On
	case ToolAsked, ToolBegun, ToolEnded:
		out.Call = &e.Call
	case Used:
		u := &e.Usage
		out.Usage = &journal.Usage{Generation: u.Generation, Kind: u.Kind, Outcome: string(u.Outcome), In: u.Tokens.In, Out: u.Tokens.Out,
			Source: string(u.Tokens.Source), Engine: u.Engine}
	case Timed:
		t := &e.Timing
		after := func(d time.Duration) *int64 {
			if d == reply.Never {
				return nil
			}
			us := d.Microseconds()
			return &us
		}
		out.Timing = &journal.Timing{EndpointUS: t.Endpoint.Microseconds(), ModelUS: t.Model.Microseconds(), VoiceUS: t.Voice.Microseconds(),
			TotalUS: t.Total.Microseconds(), OverheadUS: t.Overhead.Microseconds(),
			Points: &journal.Points{SpeechEndUS: us(t.SpeechEnd), FinalTextUS: after(t.FinalText), FirstTokenUS: after(t.FirstToken),
				FirstSentenceUS: after(t.FirstSentence), FirstAudioUS: after(t.FirstAudio), FirstPacketUS: after(t.FirstPacket)}}
	}
	if s := e.Said; s != nil {
		for _, w := range s.Words {
			out.Words = append(out.Words, journal.Word{Text: w.Text, FromUS: us(w.From), ToUS: us(w.To)})
		}
		out.Estimated = s.Estimated
		if s.Interrupted {
			out.Cut = &journal.Cut{AtUS: us(s.Cut), Unheard: s.Unheard}
		}
	}
	return out
}
