package listenin_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"parley/api/listenin"
	"parley/api/wire"
	"parley/media"
	"parley/media/isolate/isolatetest"
	"parley/media/monitor"
)

// notes are those of a test: whom a stream was for, with "!" before a failure.
type notes struct{ joined, left chan string }

func (n notes) Joined(_ context.Context, _, call, _, _ string) (string, error) {
	n.joined <- call
	return call, nil
}

func (n notes) Spoke(context.Context, string) error { return nil }

func (n notes) Left(_ context.Context, id, failure string) error {
	if failure != "" {
		id = "!" + id
	}
	n.left <- id
	return nil
}

// TestPanicOfAStream: a stream that has a fault ends and says so, its call and the stream of another call go on.
func TestPanicOfAStream(t *testing.T) {
	isolatetest.Each(t, func(t *testing.T, site isolatetest.Site) {
		heard := make(chan string, 100)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			conn, err := (&websocket.Upgrader{}).Upgrade(w, r, nil)
			if err != nil {
				return
			}
			defer conn.Close()
			for {
				var m struct{ Event string }
				if conn.ReadJSON(&m) != nil {
					return
				}
				heard <- r.URL.Path[1:] + " " + m.Event
			}
		}))
		defer server.Close()
		n := notes{make(chan string, 4), make(chan string, 4)}
		h := &listenin.Handler{Notes: n, Log: slog.New(slog.DiscardHandler), Connect: func(ctx context.Context, _, url string, _ map[string]string) (*websocket.Conn, error) {
			conn, _, err := websocket.DefaultDialer.DialContext(ctx, url, nil)
			return conn, err
		}}
		talk := func(call string) *monitor.Monitor {
			m := monitor.New(nil)
			m.OnBegin(func() {
				h.Follow(m, "acc_1", call, "agt_1", wire.NewStream{URL: "ws" + strings.TrimPrefix(server.URL, "http") + "/" + call, Tracks: "inbound"})
			})
			m.Begin(media.Format{In: media.Rate8k, Out: media.Rate8k, Continuous: true})
			return m
		}
		says := func(m *monitor.Monitor, frame int) {
			m.Heard(media.Frame{Samples: make([]int16, 160), Rate: media.Rate8k, At: media.Time(frame) * media.FrameTime}, time.Now())
		}
		began := isolatetest.Watch(t)
		beside := talk("beside")
		says(beside, 0)
		for _, want := range []string{"beside connected", "beside start", "beside media"} {
			if got := <-heard; got != want {
				t.Fatalf("%s, want %s", got, want)
			}
		}
		isolatetest.Await(t, began)
		fired := isolatetest.Inject(t, site.Name)
		broken := talk("broken")
		<-fired
		if got := <-n.left; got != "!broken" {
			t.Errorf("what ended is %s", got)
		}
		if l, err := broken.Join(); err != nil {
			t.Errorf("its call is over: %v", err)
		} else {
			l.Leave()
		}
		broken.Close()
		says(beside, 1)
		beside.Close()
		if got := <-n.left; got != "beside" {
			t.Errorf("what ended is %s", got)
		}
		last := ""
		for got := range heard {
			if last = got; strings.HasSuffix(got, "beside stop") {
				break
			}
		}
		if last != "beside stop" {
			t.Errorf("the last message is %s", last)
		}
	}, "media/fork")
}
