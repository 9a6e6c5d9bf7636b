package session_test

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"parley/media"
	"parley/pipeline/event"
	"parley/pipeline/session"
	"parley/pipeline/session/sessiontest"
)

// watcher notes what the agent says, and the number of each update with a line.
type watcher struct {
	mu       sync.Mutex
	speaking []session.CallUpdate
	line     uint64
}

func (w *watcher) OnUpdate(_, _ string, u session.CallUpdate) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case u.Speaking != nil:
		w.speaking = append(w.speaking, u)
	case u.Line != nil:
		w.line = u.Seq
	}
}

// TestWatchersSeeSentencesAsTheyBegin: with those before them of the same reply, up to a bound; they are no updates by themselves.
func TestWatchersSeeSentencesAsTheyBegin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, w := new(sessiontest.FakeLedger).Open(t, 0), &watcher{}
		o.Watch(w)
		s := o.Enter(web)
		begins := func(generation int, text string) {
			s.Observe(event.Event{Kind: event.AgentPartial, Generation: generation, Text: text, At: media.FromDuration(time.Second)})
		}
		begins(1, "Good morning.")
		begins(1, " How are you? ")
		s.Observe(event.Event{Kind: event.AgentLine, Text: "Good morning."})
		begins(2, strings.Repeat("a", 4000))
		begins(2, strings.Repeat("b", 4000))
		want := []string{"Good morning.", "Good morning. How are you?", strings.Repeat("a", 4000), strings.Repeat("a", 4000)}
		for i, u := range w.speaking {
			if i >= len(want) || u.Speaking.Text != want[i] || u.Speaking.Role != "agent" || u.Speaking.AtMS != 1000 {
				t.Errorf("number %d: %+v", i, u.Speaking)
			}
			if i < 2 && u.Seq != w.line-1 || i >= 2 && u.Seq != w.line {
				t.Errorf("number %d belongs to update %d; the line is %d", i, u.Seq, w.line)
			}
		}
		if len(w.speaking) != len(want) || w.line == 0 {
			t.Errorf("%d sentences, want %d", len(w.speaking), len(want))
		}
		s.End(hungUp)
		o.Wait()
	})
}

// TestSnapshotHasTheTimesOfTheDatabase: what a node shows of a call is by the clock that all
// nodes have in common, as are the call's books.
func TestSnapshotHasTheTimesOfTheDatabase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := (&sessiontest.FakeLedger{Ahead: time.Hour}).Open(t, 0)
		answered := o.Ledger.Now()
		s := o.Call(web, until(20*time.Second))
		time.Sleep(10 * time.Second)
		got, here := o.Snapshot("a", s.ID())
		if !here || !got.StartedAt.Equal(answered) || got.Duration(o.Ledger.Now()) != 10*time.Second {
			t.Errorf("here %v, started at %v, want %v; it has lasted %v", here, got.StartedAt, answered, got.Duration(o.Ledger.Now()))
		}
		o.Wait()
	})
}
