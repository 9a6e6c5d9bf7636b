package socket_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/gorilla/websocket"

	"parley/api/apitest"
	"parley/api/socket"
	"parley/media/isolate"
	"parley/media/isolate/isolatetest"
)

// TestPanicEndsItsSocket: its work learns why and its client is disconnected; the socket
// beside it goes on.
func TestPanicEndsItsSocket(t *testing.T) {
	isolatetest.Each(t, func(t *testing.T, site isolatetest.Site) {
		synctest.Test(t, func(t *testing.T) {
			causes, got := make(chan error, 2), make(chan string, 1)
			s := newServer(t, apitest.InMemory, socket.Incoming{Text: func(b []byte) { got <- string(b) }}, func(ctx context.Context, k *socket.Socket) {
				k.SendText([]byte("hello"))
				<-ctx.Done()
				causes <- context.Cause(ctx)
			})
			other := s.connect(t)
			if _, _, err := other.ReadMessage(); err != nil {
				t.Fatal(err)
			}
			synctest.Wait() // its own reader has begun, and the fault waits for the next
			isolatetest.Inject(t, site.Name)
			broken := s.connect(t)
			for _, _, err := broken.ReadMessage(); err == nil; _, _, err = broken.ReadMessage() {
			}
			if cause := <-causes; !errors.Is(cause, isolate.Internal) {
				t.Errorf("it ended by %v", cause)
			}
			broken.Close()
			synctest.Wait()
			if n := s.set.Open(); n != 1 {
				t.Errorf("%d are open, want 1", n)
			}
			if err := other.WriteMessage(websocket.TextMessage, []byte("still here")); err != nil {
				t.Fatal(err)
			}
			if m := <-got; m != "still here" {
				t.Errorf("got %q", m)
			}
		})
	})
}
