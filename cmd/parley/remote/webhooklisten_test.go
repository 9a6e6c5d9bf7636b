package remote

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"parley/api/client/clienttest"
	"parley/api/wire"
	"parley/cmd/parley/command"
	"parley/cmd/parley/command/commandtest"
)

// until runs a command line that goes on until ctx ends.
func until(ctx context.Context, args ...string) commandtest.Outcome {
	r := root()
	r.SetContext(ctx)
	return commandtest.Run(r, "", args, ExitStatus)
}

func happened(id, kind string) wire.TakenEvent {
	return wire.TakenEvent{ID: id, Type: kind, Body: `{"id":"` + id + `","type":"` + kind + `"}`,
		Headers: map[string]string{"content-type": "application/json", "webhook-id": id, "webhook-timestamp": "1614265330", "webhook-signature": "v1,x"}}
}

// TestListen: each event is posted once, as a webhook gets it, whatever the connection does, and how it went is printed and
// reported; at the end the webhook is deleted.
func TestListen(t *testing.T) {
	s := fakeServer(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var mu sync.Mutex
	var got []string
	local := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		if got = append(got, string(body)); err != nil || r.Method != "POST" || r.Header.Get("Webhook-Signature") != "v1,x" || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %v, %v", r.Method, r.Header, err)
		}
		if strings.Contains(string(body), "evt_2") {
			http.Redirect(w, r, "/elsewhere", http.StatusFound)
			return
		}
		_, _ = io.WriteString(w, "ok\x00")
	}))
	defer local.Close()
	s.Happen(happened("evt_1", "call.started"), happened("evt_2", "call.ended"), happened("evt_3", "webhook.test"))
	down := clienttest.Problem{Status: 503, Code: "service.unavailable", Error: "Wait.", Retryable: true}
	s.Refuse("/v1/webhooks/wh_1/deliveries/take", down)
	s.Refuse("/v1/webhooks/wh_1/deliveries/evt_1/attempts", down)
	reports := map[string]wire.TakenAttempt{}
	s.OnReport(func(event string, a wire.TakenAttempt) {
		if reports[event] = a; event == "evt_3" {
			stop()
		}
	})
	o := until(ctx, "listen", "--forward", local.URL+"/parley", "--events", "call.started,call.ended")
	if o.Status != command.ExitDone || strings.Count(o.ErrOut, "Wait. (service.unavailable); trying again\n") != 2 || !strings.HasPrefix(o.ErrOut, "listening\twh_1\nsecret\twhsec_made\n") {
		t.Errorf("exit status %d: %s%s", o.Status, o.Out, o.ErrOut)
	}
	if want := []string{happened("evt_1", "call.started").Body, happened("evt_2", "call.ended").Body, happened("evt_3", "webhook.test").Body}; !slices.Equal(got, want) {
		t.Errorf("posted %q", got)
	}
	lines := strings.Split(strings.TrimSpace(o.Out), "\n")
	if len(lines) != 3 || !strings.Contains(lines[0], "  evt_1  call.started  200 after ") || !strings.Contains(lines[1], "  evt_2  call.ended  302 after ") {
		t.Errorf("printed\n%s", o.Out)
	}
	if reports["evt_1"].Status != 200 || reports["evt_1"].Answer != "ok\uFFFD" || reports["evt_2"].Status != 302 || reports["evt_3"].Status != 200 {
		t.Errorf("reported %+v", reports)
	}
	if body := s.Bodies()[0]; !strings.Contains(body, `"listen":true`) || !strings.Contains(body, `"events":["call.started","call.ended"]`) {
		t.Errorf("made of %s", body)
	}
	if all := s.Requests(); all[len(all)-1] != "DELETE /v1/webhooks/wh_1" {
		t.Errorf("asked %q", all)
	}
}

// TestListenToNothing: an address where nothing answers is said, and reported, and does not end it.
func TestListenToNothing(t *testing.T) {
	s := fakeServer(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	gone := httptest.NewServer(nil)
	gone.Close()
	s.Happen(happened("evt_1", "call.ended"))
	s.OnReport(func(_ string, a wire.TakenAttempt) {
		if stop(); a.Status != 0 || !strings.Contains(a.Error, "refused") {
			t.Errorf("%+v", a)
		}
	})
	o := until(ctx, "listen", "--forward", gone.URL, "--json")
	var line struct {
		ID, Type, Error string
		Status          int
	}
	if err := json.Unmarshal([]byte(o.Out), &line); err != nil || o.Status != command.ExitDone || line.ID != "evt_1" || line.Type != "call.ended" || line.Status != 0 || line.Error == "" {
		t.Errorf("exit status %d: %s%s, %v", o.Status, o.Out, o.ErrOut, err)
	}
}

// TestListenMistakes: what cannot be done is said at once.
func TestListenMistakes(t *testing.T) {
	s := fakeServer(t)
	for _, address := range []string{"localhost:3000", "ftp://localhost/x", "/x"} {
		if o := run("", "listen", "--forward", address); o.Status != command.ExitUsage || !strings.Contains(o.ErrOut, "http://localhost:3000") {
			t.Errorf("%s: exit status %d: %s", address, o.Status, o.ErrOut)
		}
	}
	s.Refuse("/v1/webhooks/wh_1/deliveries/take", clienttest.Problem{Status: 404, Code: "request.not_found", Error: "There is no such thing."})
	if o := run("", "listen", "--forward", "http://localhost:3000"); o.Status != command.ExitNotFound {
		t.Errorf("exit status %d: %s", o.Status, o.ErrOut)
	}
	if o := run("", "listen", "--forward", "http://localhost:3000", "--curl"); o.Status != command.ExitDone || !strings.Contains(o.Out, `"listen":true`) || o.ErrOut != "" {
		t.Errorf("exit status %d: %s%s", o.Status, o.Out, o.ErrOut)
	}
}
