package wsagent_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/gorilla/websocket"

	"parley/api/apitest"
	"parley/api/talk"
	"parley/api/wsagent"
	"parley/media/isolate"
	"parley/media/isolate/isolatetest"
)

// TestPanicEndsItsConversation: the conversation has failed and its socket is closed; the
// one beside it goes on, and another can begin.
func TestPanicEndsItsConversation(t *testing.T) {
	isolatetest.Each(t, func(t *testing.T, site isolatetest.Site) {
		synctest.Test(t, func(t *testing.T) {
			ended := make(chan error, 3)
			s := newServer(t, apitest.InMemory, &agents{converse: func(ctx context.Context, _ talk.Change, leg *wsagent.Leg) {
				leg.Status("prompt_set", 0)
				ended <- leg.Run(ctx)
			}}, nil)
			other := s.connect(t)
			other.wantStatus("prompt_set")
			synctest.Wait() // its goroutines have begun, and the fault waits for the next
			isolatetest.Inject(t, site.Name)
			p := s.connect(t)
			_ = p.WriteMessage(websocket.TextMessage, []byte(`{"type":"prompt","data":"Be brief."}`)) // it may be closed already
			p.drain()
			synctest.Wait()
			select {
			case told := <-s.agents.told:
				if told != "fail" {
					t.Errorf("the conversation was told %q", told)
				}
			case err := <-ended:
				if !errors.Is(err, isolate.Internal) {
					t.Errorf("the conversation ended by %v", err)
				}
			default:
				t.Error("the conversation goes on")
			}
			s.connect(t).wantStatus("prompt_set")
			other.say(`{"type":"text","data":"still here"}`)
			s.wantTold(t, "type still here")
		})
	}, "api/socket")
}
