package pipeline_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/inference/enginetest"
	"parley/media"
	"parley/media/isolate/isolatetest"
	"parley/pipeline"
	"parley/pipeline/event"
	"parley/pipeline/pipelinetest"
	"parley/pipeline/session/sessiontest"
)

// mishaps reach what the conversations with golden logs do not.
var mishaps = []scenario{
	{name: "recogniser dies", said: []pipelinetest.Said{said(1000, 2500, "")}, limit: 5000,
		setup: func(s *pipelinetest.Scene) {
			s.Act = func(*pipeline.Call) {
				time.Sleep(2010 * ms)
				s.ASR.Streams()[0].Fail(broken)
			}
		}},
	{name: "scorer", said: []pipelinetest.Said{said(1000, 2500, "what time do you open")}, limit: 5000,
		setup: func(s *pipelinetest.Scene) { s.Config.Scorer = &enginetest.FakeTurnScorer{} }},
	{name: "supervisor", said: []pipelinetest.Said{said(1000, 2500, "what time do you open")}, limit: 8000,
		setup: func(s *pipelinetest.Scene) {
			s.Config.Scribe = writes("Carla here.")
			s.Act = func(c *pipeline.Call) {
				time.Sleep(4000 * ms)
				if carla := c.Supervisor("usr_carla", media.Rate16k); carla.StepIn(context.Background()) == nil {
					talks(carla, time.Second, time.Second)
					carla.StepOut()
				}
			}
		}},
	{name: "consultation", said: []pipelinetest.Said{said(1000, 2500, "sales please")}, limit: 20000,
		setup: func(s *pipelinetest.Scene) {
			handsOver(s, `{"to":"sales","summary":"A caller wants two chairs."}`)
			consults(s, func(*pipelinetest.Leg) {}, nil)
		}},
}

// beside conducts a scenario in one of two slots and returns how its session was closed. The
// caller in the other slot is silent until it is over, then speaks, is answered and hangs up,
// also when the scenario has a panic at the site. Without a site, it returns those reached.
func beside(t *testing.T, sc *scenario, site string) (closed string, sites map[string]bool) {
	synctest.Test(t, func(t *testing.T) {
		o := (&sessiontest.FakeLedger{}).Open(t, 2)
		heard := ""
		neighbour := o.Call(sessiontest.Web, func(s *pipelinetest.Scene) {
			*s = *pipelinetest.NewScene(said(100000, 101000, "are you still there"))
			s.Leg.HangUp = 110 * time.Second
			s.Config.Observe = func(e event.Event) {
				if e.Kind == event.AgentLine {
					heard += e.Text
				}
			}
		})
		synctest.Wait()
		reached := func() map[string]bool { return nil }
		if site != "" {
			isolatetest.Inject(t, site)
		} else {
			reached = isolatetest.Watch(t)
		}
		var scene *pipelinetest.Scene
		session := o.Call(sessiontest.Inbound, func(s *pipelinetest.Scene) {
			*s = *pipelinetest.NewScene(sc.said...)
			if sc.setup != nil {
				sc.setup(s)
			}
			scene = s
		})
		time.Sleep(sc.limit*ms + 10*ms)
		session.Stop(media.Ended{Reason: media.APIHangup})
		time.Sleep(20 * time.Second)
		sites = reached()
		if n := o.Live(); n != 1 {
			t.Errorf("%d slots are taken, want that of the other call", n)
		} else {
			o.Enter(sessiontest.Web).End(sessiontest.HungUp)
		}
		if n := scene.ASR.Busy() + scene.LLM.Busy() + scene.TTS.Busy(); n != 0 {
			t.Errorf("%d engine streams are still busy after the call", n)
		}
		o.Wait()
		o.WantEnd(neighbour, "1m50s user_hangup")
		if !strings.Contains(heard, "Yes I can help.") {
			t.Errorf("the other caller was answered %q", heard)
		}
		for _, c := range o.Ledger.Closings {
			if c.ID == session.ID() {
				closed += c.Reason + " " + c.Detail
			}
		}
	})
	return closed, sites
}

// TestPanicEndsItsCall: where a call panics it ends as failed/internal, its engines, its slot
// and its session are released, and the call beside it goes on. A panic of what belongs to a
// function, or comes after the end, ends the call no other way than without it. The places
// are found in the source: one that no scenario reaches fails the test.
func TestPanicEndsItsCall(t *testing.T) {
	type look struct {
		sc     *scenario
		closed string
	}
	reached := map[string]look{}
	for _, table := range [][]scenario{mishaps, functions, scenarios} {
		for i := range table {
			closed, sites := beside(t, &table[i], "")
			for site := range sites {
				if _, ok := reached[site]; !ok {
					reached[site] = look{&table[i], closed}
				}
			}
		}
	}
	isolatetest.Each(t, func(t *testing.T, site isolatetest.Site) {
		l, ok := reached[site.Name]
		if !ok {
			t.Fatal("no scenario reaches it")
		}
		want := l.closed
		if site.Ends {
			want = "failed internal"
		}
		if closed, _ := beside(t, l.sc, site.Name); closed != want {
			t.Errorf("%s: the session is closed as %q, want %q", l.sc.name, closed, want)
		}
	}, "pipeline/reply")
}
