package session_test

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"parley/billing"
	"parley/inference"
	"parley/media"
	"parley/pipeline/event"
	"parley/pipeline/reply"
	"parley/pipeline/session"
	"parley/pipeline/session/sessiontest"
	"parley/store"
	"parley/store/ledger"
)

// next is another node.
var next = store.Node{ID: "m", Epoch: 2}

// sent is what a node yields, as another one gets it.
func sent(t *testing.T, s *session.Session) *session.Moved {
	t.Helper()
	m, err := s.Yield()
	return asJSON(t, m, err)
}

// asJSON is what a node says of a session, as another one reads it.
func asJSON(t *testing.T, m *session.Moved, err error) (got *session.Moved) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(m)
	if err == nil {
		err = json.Unmarshal(text, &got)
	}
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// adopted is a session that another node has adopted.
func adopted(t *testing.T, by *sessiontest.Harness, s *session.Session) (*session.Session, *session.Moved) {
	t.Helper()
	m := sent(t, s)
	there, err := by.Expect(t.Context(), "a", s.ID())
	if err == nil {
		err = there.Adopt(t.Context(), m)
	}
	if err != nil {
		t.Fatal(err)
	}
	return there, m
}

// says has a line in a session, and the tokens of a reply.
func says(s *session.Session, text string, at time.Duration) {
	s.Observe(event.Event{Kind: event.UserLine, Text: text, At: media.FromDuration(at)})
	s.Observe(event.Event{Kind: event.Used, Turn: 1, Usage: reply.Usage{Generation: 1, Kind: "reply", Engine: "mind",
		Tokens: inference.Usage{In: 100, Out: 10, Source: inference.UsageProvider}}})
}

// seqs notes the numbers of updates.
type seqs struct{ all []uint64 }

func (s *seqs) OnUpdate(_, _ string, u session.CallUpdate) { s.all = append(s.all, u.Seq) }

// TestMove: a session goes on at another node, and in the end its books, its words and its events are those of one that stayed.
func TestMove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := new(sessiontest.FakeLedger)
		seen := new(seqs)
		from := l.Open(t, 0)
		to := l.Join(t, next, 1)
		from.Watch(seen)
		to.Watch(seen)
		s := from.Enter(sessiontest.Inbound)
		s.Begin()
		says(s, "one", time.Second)
		time.Sleep(70 * time.Second)

		there, _ := adopted(t, to, s)
		says(s, "meanwhile", 70*time.Second) // the far end is asked whether it goes on
		time.Sleep(time.Second)
		s.Release()
		s.End(media.Ended{Reason: media.Completed, Detail: "carried_on"})
		there.Keep()
		says(there, "two", 71*time.Second)
		time.Sleep(59 * time.Second)
		if got, here := to.Snapshot("a", s.ID()); !here || len(got.Transcript) != 2 || got.Status != session.CallConnected {
			t.Errorf("the other node shows %+v", got)
		}
		there.End(hungUp)

		if from.Live() != 0 || to.Live() != 0 {
			t.Errorf("%d and %d calls are left", from.Live(), to.Live())
		}
		l.Mu.Lock()
		defer l.Mu.Unlock()
		if len(l.Closings) != 1 {
			t.Fatalf("closed %+v", l.Closings)
		}
		c := l.Closings[0]
		want := billing.Usage{billing.AgentTime: 130_000, billing.LineTime: 130_000, billing.ReplyIn: 200, billing.ReplyOut: 20}
		if c.Reason != "user_hangup" || c.Usage != want || len(c.Uses) != 2 || c.Uses[0].Quantity+c.Uses[1].Quantity != 220 {
			t.Errorf("closed %+v, want %v", c, want)
		}
		if minutes := []string{"s1 2 at 50s: <nil>", "s1 3 at 1m50s: <nil>"}; !slices.Equal(l.Minutes, minutes) {
			t.Errorf("minutes %q, want %q", l.Minutes, minutes)
		}
		var last int64
		for _, r := range l.Reports {
			if r.Seq <= last {
				t.Errorf("report %d of %s comes after %d", r.Seq, r.Session.Node.ID, last)
			}
			last = r.Seq
		}
		if lines := l.Talks["s1"].Transcript; len(lines) != 2 || lines[0].Text != "one" || lines[1].Text != "two" {
			t.Errorf("said %+v", lines)
		}
		var numbers []int
		for _, e := range l.Events["s1"] {
			numbers = append(numbers, e.No)
		}
		for i, n := range numbers {
			if n != i {
				t.Fatalf("events %v", numbers)
			}
		}
		if len(numbers) != 6 { // ringing, connected, and two of each of says
			t.Errorf("events %v", numbers)
		}
		if !slices.IsSorted(seen.all) || len(slices.Compact(slices.Clone(seen.all))) != len(seen.all) {
			t.Errorf("updates %v", seen.all)
		}
	})
}

// TestReclaim: a session that no other node has goes on where it was, and stores what happened meanwhile at its end.
func TestReclaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := new(sessiontest.FakeLedger)
		o := l.Open(t, 0)
		s := o.Enter(sessiontest.Inbound)
		s.Begin()
		time.Sleep(7 * time.Second)
		sent(t, s)
		before := len(l.Reports)
		says(s, "one", 7*time.Second)
		time.Sleep(20 * time.Second)
		if _, err := s.Yield(); !errors.Is(err, session.ErrBusy) {
			t.Errorf("yielded twice: %v", err)
		}
		if n := len(l.Reports) - before; n != 0 {
			t.Errorf("%d checkpoints of a session that is yielded", n)
		}
		s.Reclaim()
		synctest.Wait()
		if n := o.Reported("s1", 27*time.Second); n != 1 {
			t.Errorf("%d checkpoints of one that is back", n)
		}
		s.End(hungUp)
		if c, talk := l.Closings[0], l.Talks["s1"]; c.Usage[billing.AgentTime] != 27_000 || len(talk.Transcript) != 1 {
			t.Errorf("closed %+v after %+v", c, talk)
		}
	})
}

// TestMoveFails: a session whose call does not go on at the other node is given back, with its books.
func TestMoveFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := new(sessiontest.FakeLedger)
		from := l.Open(t, 0)
		to := l.Join(t, next, 1)
		s := from.Enter(sessiontest.Inbound)
		s.Begin()
		time.Sleep(7 * time.Second)
		there, m := adopted(t, to, s)
		ended := make(chan struct{})
		go func() { // the caller hangs up before it is decided
			s.End(hungUp)
			close(ended)
		}()
		if another, err := to.Expect(t.Context(), "a", s.ID()); another != nil || !errors.Is(err, session.ErrFull) {
			t.Errorf("a full node expects another: %v", err)
		}
		if err := there.GiveUp(t.Context(), m); err != nil {
			t.Error(err)
		}
		there.End(hungUp) // nothing more is done
		time.Sleep(30 * time.Second)
		s.Reclaim()
		<-ended
		if to.Live() != 0 || len(l.Closings) != 1 || l.Closings[0].Usage[billing.AgentTime] != 7_000 || l.Closings[0].Reason != "user_hangup" {
			t.Errorf("%d calls are left; closed %+v", to.Live(), l.Closings)
		}
	})
}

// TestMovedElsewhere: of a session that another node has meanwhile, none is adopted.
func TestMovedElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := new(sessiontest.FakeLedger)
		from, to, third := l.Open(t, 0), l.Join(t, next, 0), l.Join(t, store.Node{ID: "o", Epoch: 3}, 0)
		s := from.Enter(sessiontest.Inbound)
		s.Begin()
		m := sent(t, s)
		first, err1 := to.Expect(t.Context(), "a", s.ID())
		second, err2 := third.Expect(t.Context(), "a", s.ID())
		if err := errors.Join(err1, err2, first.Adopt(t.Context(), m)); err != nil {
			t.Fatal(err)
		}
		if err := second.Adopt(t.Context(), m); !errors.Is(err, store.ErrFenced) {
			t.Errorf("adopted twice: %v", err)
		}
		if err := second.GiveUp(t.Context(), nil); err != nil {
			t.Error(err)
		}
		if _, err := to.Expect(t.Context(), "b", s.ID()); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("of another account: %v", err)
		}
		s.Release()
		s.End(hungUp)
		first.Keep()
		first.End(hungUp)
		if len(l.Closings) != 1 {
			t.Errorf("closed %+v", l.Closings)
		}
	})
}

// TestCannotYield: work, a line without an agent, and a call that ends or has not begun stay.
func TestCannotYield(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := new(sessiontest.FakeLedger).Open(t, 0)
		begun := o.Enter(sessiontest.Inbound)
		begun.Begin()
		before, after := o.Enter(sessiontest.Inbound), o.Enter(sessiontest.Inbound)
		line, err := o.Admit(t.Context(), session.Admission{Start: ledger.Start{Account: "a", Terms: sessiontest.Inbound}, LineOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		line.Begin()
		after.Begin()
		after.Stop(hungUp)
		for name, s := range map[string]*session.Session{"not begun": before, "stopped": after, "a line": line} {
			if _, err := s.Yield(); !errors.Is(err, session.ErrBusy) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := begun.Yield(); err != nil {
			t.Error(err)
		}
		begun.Reclaim()
		for _, s := range []*session.Session{begun, before, after, line} {
			s.End(hungUp)
		}
	})
}
