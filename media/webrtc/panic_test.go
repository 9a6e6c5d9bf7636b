package webrtc_test

import (
	"errors"
	"testing"

	"parley/media/isolate"
	"parley/media/isolate/isolatetest"
)

// TestPanicEndsItsSession: the session is over and says why; the one beside it goes on.
func TestPanicEndsItsSession(t *testing.T) {
	isolatetest.Each(t, func(t *testing.T, site isolatetest.Site) {
		began := isolatetest.Watch(t)
		s, other, got := listen(t), newCaller(t), make(chan string, 1)
		stays := other.call(s, func(b []byte) { got <- string(b) })
		other.tone(400)
		conduct(t, stays, 700, func(heard []int16) bool { return hasTone(heard, 400) }) // its track is there
		wait(t, "the channel", other.open)
		if err := other.events.SendText("before"); err != nil {
			t.Fatal(err)
		}
		wait(t, "the message", got)
		isolatetest.Await(t, began) // and the fault waits for the next

		fired := isolatetest.Inject(t, site.Name)
		c := newCaller(t)
		leg := c.answered(s, c.offer(), func([]byte) {})
		c.tone(500)
		c.events.OnOpen(func() { _ = c.events.SendText("hello") })
		wait(t, "the fault", fired)
		if err := leg.Run(t.Context()); !errors.Is(err, isolate.Internal) {
			t.Errorf("it ended by %v", err)
		}

		if err := other.events.SendText("still here"); err != nil {
			t.Fatal(err)
		}
		wait(t, "the message", got)
		conduct(t, stays, 700, func(heard []int16) bool { return hasTone(heard, 400) })
	})
}
