package worker_test

import (
	"slices"
	"testing"

	"parley/inference/worker"
	"parley/media/isolate/isolatetest"
)

// TestPanicEndsItsChild at most: another takes its place. Who listens to a child of another
// pool notices nothing.
func TestPanicEndsItsChild(t *testing.T) {
	isolatetest.Each(t, func(t *testing.T, site isolatetest.Site) {
		began := isolatetest.Watch(t)
		beside, _ := start(t, config(1))
		pids := await(t, beside, 1)
		isolatetest.Await(t, began)
		fired := isolatetest.Inject(t, site.Name)
		broken, stop := start(t, config(1))
		<-fired
		for tries := 0; !speak(t, broken); tries++ {
			if tries == 100 {
				t.Fatal("no child takes its place")
			}
		}
		if n := broken.Busy(); n != 0 {
			t.Errorf("%d slots are taken", n)
		}
		stop()
		if !speak(t, beside) || !slices.Equal(beside.PIDs(), pids) {
			t.Error("the child beside it was lost")
		}
	})
}

// speak has a child of a pool say something; false: the child was lost.
func speak(t *testing.T, p *worker.Pool) bool {
	t.Helper()
	l := newListener()
	s, err := p.Open(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	_ = s.Send(worker.Speak, []byte(hello)) // where it fails the child is lost
	return <-l.ended == "answered"
}
