package session_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/media"
	"parley/pipeline/agent"
	"parley/pipeline/event"
	"parley/pipeline/session"
	"parley/pipeline/session/sessiontest"
	"parley/pipeline/wordtime"
)

// eventsOf are the events of a session as they were stored by now, in short; they must be numbered from 0.
func eventsOf(t *testing.T, o *sessiontest.Harness, s *session.Session) string {
	t.Helper()
	synctest.Wait()
	var all []string
	for i, e := range o.Ledger.EventsOf(s.ID()) {
		if e.No != i || e.Account != o.Payer || e.Event.At.IsZero() {
			t.Errorf("event %d is %+v", i, e)
		}
		switch v := e.Event; {
		case v.Status != "":
			all = append(all, v.Status)
		case v.Line != nil:
			all = append(all, fmt.Sprintf("%s: %s (%d words)", v.Line.Role, v.Line.Text, len(v.Line.Words)))
		case v.Correction != nil:
			all = append(all, fmt.Sprintf("%d is %s (%d words)", v.Correction.Line, v.Correction.Text, len(v.Words.Words)))
		case v.AnsweredBy != "":
			all = append(all, "by "+v.AnsweredBy)
		case v.Turn != nil:
			all = append(all, "turn")
		case v.Served != nil:
			all = append(all, fmt.Sprint("served by ", v.Served.LLM))
		}
	}
	return strings.Join(all, "; ")
}

func line(s *session.Session, kind event.Kind, text string) {
	words := []wordtime.Word{}
	for _, w := range strings.Fields(text) {
		words = append(words, wordtime.Word{Text: w})
	}
	s.Observe(event.Event{Kind: kind, Text: text, At: media.FromDuration(time.Second), Said: &wordtime.Said{Words: words}})
}

// TestEventsAreStoredAsTheyHappen: what is said is in the store a moment later, with the times of its words, in the order in which
// it happened.
func TestEventsAreStoredAsTheyHappen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := (&sessiontest.FakeLedger{}).Open(t, 0)
		s := o.Enter(sessiontest.Inbound)
		s.Begin()
		s.Observe(event.Event{Kind: event.Served, Stage: agent.StageLLM, Text: "haiku"})
		s.Observe(event.Event{Kind: event.Served, Stage: agent.StageLLM, Text: "haiku"})
		line(s, event.AgentLine, "Good day.")
		line(s, event.UserLine, "A table")
		line(s, event.UserLineAgain, "A table for two")
		s.Observe(event.Event{Kind: event.Timed, Turn: 1})
		s.Observe(event.Event{Kind: event.Answered, Text: "human"})
		time.Sleep(200 * ms)
		want := "ringing; connected; served by [haiku]; agent: Good day. (2 words); user: A table (2 words); 1 is A table for two (4 words); turn; by human"
		if got := eventsOf(t, o, s); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
		line(s, event.AgentLine, "At what time?")
		s.End(hungUp)
		time.Sleep(200 * ms)
		if got := eventsOf(t, o, s); got != want+"; agent: At what time? (3 words)" {
			t.Errorf("%s", got)
		}
		if talk := o.Ledger.Talks[s.ID()]; len(talk.Transcript) != 3 || talk.Transcript[1].Text != "A table for two" || len(talk.Log.Events) == 0 || talk.Log.Events[1].Line.Words != nil {
			t.Errorf("%+v", talk)
		}
	})
}

// TestEventsWaitForTheDatabase: while it is away nothing is lost but what is too much, and that comes with the call's end.
func TestEventsWaitForTheDatabase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &sessiontest.FakeLedger{Away: func(at time.Duration) bool { return at > 2*time.Second && at < 10*time.Second }}
		o := l.Open(t, 0)
		s, silent := o.Enter(web), o.Enter(web)
		s.Begin()
		time.Sleep(3 * time.Second)
		line(s, event.AgentLine, "Good day.")
		line(s, event.UserLine, "Hello.")
		time.Sleep(5 * time.Second)
		if got := eventsOf(t, o, s); got != "dialing; connected" {
			t.Errorf("while the database is away: %s", got)
		}
		time.Sleep(5 * time.Second)
		if got := eventsOf(t, o, s); got != "dialing; connected; agent: Good day. (2 words); user: Hello. (1 words)" {
			t.Errorf("when it is back: %s", got)
		}
		time.Sleep(time.Second)
		for range 5000 { // at once: nobody stores them meanwhile
			line(s, event.UserLine, "Hm.")
		}
		time.Sleep(10 * time.Second)
		stored := len(o.Ledger.EventsOf(s.ID()))
		line(s, event.UserLine, "After all.")
		time.Sleep(time.Second)
		if got := len(o.Ledger.EventsOf(s.ID())); stored < 4000 || stored > 5000 || got != stored {
			t.Errorf("of too many %d are stored, and then %d", stored, got)
		}
		eventsOf(t, o, s)
		s.End(hungUp)
		silent.End(hungUp)
		if talk := o.Ledger.Talks[s.ID()]; len(talk.Transcript)+talk.Omitted != 5003 {
			t.Errorf("%d lines and %d more in the end", len(talk.Transcript), talk.Omitted)
		}
	})
}
