package session_test

import (
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"parley/billing"
	"parley/media"
	"parley/pipeline/event"
	"parley/pipeline/session"
	"parley/pipeline/session/sessiontest"
	"parley/store"
)

// progress is how far a session is, as another node reads it.
func progress(t *testing.T, s *session.Session) *session.Moved {
	t.Helper()
	m, err := s.Progress()
	return asJSON(t, m, err)
}

// spoken is what the caller says.
func spoken(text string, at time.Duration) event.Event {
	return event.Event{Kind: event.UserLine, Text: text, At: media.FromDuration(at)}
}

// TestTakeOver: a session goes on at another node after its own died, with what was stored of it. The agent costs nothing from the last
// checkpoint until it is back; the line goes on. The former node, which is not dead, leaves without a word.
func TestTakeOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := new(sessiontest.FakeLedger)
		from := l.Open(t, 0)
		to := l.Join(t, next, 1)
		s := from.Enter(sessiontest.Inbound)
		s.Begin()
		says(s, "one", time.Second)
		time.Sleep(4 * time.Second)
		m := progress(t, s)
		var left atomic.Int64
		s.Rescuable(func() { left.Store(int64(time.Since(from.Begun))) })
		s.Observe(spoken("two", 4*time.Second))
		time.Sleep(3500 * time.Millisecond) // a checkpoint is stored at 6 s

		there, err := to.Expect(t.Context(), "a", s.ID())
		if err != nil {
			t.Fatal(err)
		}
		said, err := there.TakeOver(t.Context(), m)
		if err != nil || len(said.Transcript) != 2 {
			t.Fatalf("%v, said %+v", err, said.Transcript)
		}
		if _, err := there.TakeOver(t.Context(), m); !errors.Is(err, store.ErrFenced) {
			t.Errorf("taken over twice: %v", err)
		}
		time.Sleep(500 * time.Millisecond)
		there.Keep() // at 8 s
		time.Sleep(4 * time.Second)
		if at := time.Duration(left.Load()); at != 11*time.Second || !s.Released() { // with its next checkpoint
			t.Errorf("the former node left at %v", at)
		}
		s.End(media.Ended{Reason: media.Completed, Detail: "carried_on"})
		there.Observe(spoken("three", 12*time.Second))
		time.Sleep(18 * time.Second)
		if got, here := to.Snapshot("a", s.ID()); !here || len(got.Transcript) != 3 || got.Status != session.CallConnected {
			t.Errorf("the other node shows %+v", got)
		}
		there.End(hungUp)

		l.Mu.Lock()
		defer l.Mu.Unlock()
		if len(l.Closings) != 1 {
			t.Fatalf("closed %+v", l.Closings)
		}
		want := billing.Usage{billing.AgentTime: 28_000, billing.LineTime: 30_000, billing.ReplyIn: 100, billing.ReplyOut: 10}
		if c := l.Closings[0]; c.Usage != want || len(c.Uses) != 2 {
			t.Errorf("closed %+v, want %v", c, want)
		}
		if !slices.Equal(l.Absences, []time.Duration{2 * time.Second}) {
			t.Errorf("away for %v", l.Absences)
		}
		if lines := l.Talks["s1"].Transcript; len(lines) != 3 || lines[0].Text != "one" || lines[1].Text != "two" || lines[2].Text != "three" {
			t.Errorf("said %+v", lines)
		}
		for i, e := range l.Events["s1"] {
			if e.No != i {
				t.Fatalf("event %d has number %d", i, e.No)
			}
		}
		var last int64
		for _, r := range l.Reports {
			if r.Seq <= last {
				t.Errorf("report %d of %s comes after %d", r.Seq, r.Session.Node.ID, last)
			}
			last = r.Seq
		}
	})
}

// TestTakeOverAndMove: what the agent was away for stays free when the session moves on.
func TestTakeOverAndMove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := new(sessiontest.FakeLedger)
		from := l.Open(t, 0)
		to := l.Join(t, next, 1)
		third := l.Join(t, store.Node{ID: "o", Epoch: 3}, 1)
		s := from.Enter(sessiontest.Inbound)
		s.Begin()
		time.Sleep(5500 * time.Millisecond) // a checkpoint is stored at 1 s
		m := progress(t, s)
		there, err := to.Expect(t.Context(), "a", s.ID())
		if err != nil {
			t.Fatal(err)
		}
		if _, err = there.TakeOver(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		time.Sleep(1500 * time.Millisecond)
		there.Keep()
		time.Sleep(3 * time.Second)
		last, _ := adopted(t, third, there)
		there.Release()
		last.Keep()
		time.Sleep(10 * time.Second)
		last.End(hungUp)
		l.Mu.Lock()
		defer l.Mu.Unlock()
		if c := l.Closings; len(c) != 1 || c[0].Usage[billing.AgentTime] != 14_000 || c[0].Usage[billing.LineTime] != 20_000 {
			t.Errorf("closed %+v", c)
		}
	})
}

// TestNobodyTookOver: the session of a node that was taken for dead, which nobody has taken over, ends as lost.
func TestNobodyTookOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := new(sessiontest.FakeLedger)
		l.Beat = func(at time.Duration) error {
			if at > 5*time.Second {
				return store.ErrFenced
			}
			return nil
		}
		o := l.Open(t, 0)
		s := o.Call(sessiontest.Inbound, nil)
		s.Rescuable(func() { t.Error("it has left") })
		o.Wait()
		o.WantEnd(s, "26s failed: node_lost")
	})
}

// TestMuted: a node that cannot say that it lives, while others can, keeps the sessions silent that those can take over, and goes on with
// them when none has.
func TestMuted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := new(sessiontest.FakeLedger)
		l.Beat = func(at time.Duration) error {
			if at > 10*time.Second && at < 25*time.Second {
				return store.ErrUnavailable
			}
			return nil
		}
		o := l.Open(t, 0)
		kept := o.Call(sessiontest.Inbound, sessiontest.Until(40*time.Second))
		kept.Rescuable(func() { t.Error("it has left") })
		other := o.Call(sessiontest.Inbound, sessiontest.Until(40*time.Second))
		muted := map[int]bool{}
		for at := range 30 {
			muted[at] = kept.Muted()
			o.Heard()
			time.Sleep(time.Second)
		}
		if muted[9] || muted[16] || !muted[20] || !muted[24] || muted[28] {
			t.Errorf("muted %v", muted)
		}
		o.Wait()
		o.WantEnd(kept, "40s user_hangup")
		if o.Ended[other.ID()] == "40s user_hangup" {
			t.Error("the other has ended late")
		}
	})
}
