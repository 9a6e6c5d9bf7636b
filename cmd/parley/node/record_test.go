package node

import (
	"bufio"
	"context"
	"encoding/hex"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"parley/api/callcenter"
	"parley/cmd/parley/config"
	"parley/cmd/parley/metrics"
	"parley/cmd/parley/trace"
	"parley/cmd/parley/trace/tracetest"
	"parley/store/history"
	"parley/store/storetest"
)

// traced gives the desk's node a collector.
func (d *desk) traced() *tracetest.Collector {
	d.Helper()
	to := tracetest.New(d.T)
	traces, err := trace.New(d.Context(), trace.Config{Endpoint: to.URL, Node: "desk", Log: slog.New(slog.DiscardHandler)})
	d.ok(err)
	d.node.maker.Metrics = metrics.New(prometheus.NewRegistry(), traces, d.node.log)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- traces.Run(ctx) }()
	d.Cleanup(func() { stop(); <-done })
	return to
}

// read asks for the events of a call.
func (w *window) read(key, id, accept string) (status int, kind, text string) {
	w.Helper()
	r, err := http.NewRequestWithContext(w.Context(), http.MethodGet, w.server.URL+"/v1/calls/"+id+"/events", nil)
	w.ok(err)
	r.Header.Set("Authorization", "Bearer "+key)
	r.Header.Set("Accept", accept)
	res, err := w.server.Client().Do(r)
	w.ok(err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	w.ok(err)
	return res.StatusCode, res.Header.Get("Content-Type"), string(body)
}

type eventList struct {
	Data []struct {
		At    time.Time
		Event json.RawMessage
	}
	Omitted  int
	Complete bool
}

// TestRecordOfACall: after a call that a client's trace asked for its trace is at the
// collector, and its events can be read, as they were followed.
func TestRecordOfACall(t *testing.T) {
	t.Parallel()
	w := newWindow(t)
	to := w.traced()
	const client = "0af7651916cd43dd8448eb211c80319c"
	status, placed, _ := w.ask(w.key, "POST", "/callcenter/dial", object{"from": deskNumber, "to": "+12025550100", "agent_id": w.agent, "consent_confirmed": true},
		"traceparent", "00-"+client+"-b7ad6b7169203331-01")
	if status != http.StatusOK {
		t.Fatal(status, placed)
	}
	calls, err := history.New(w.node.db).Calls(t.Context(), w.who.Account, history.CallPage{})
	w.ok(err)
	id := calls[0].ID
	var live []callcenter.Change
	greeted := false
	w.ended(id, func(c callcenter.Change) bool {
		if c.Kind != callcenter.Alive {
			live = append(live, c)
		}
		if !greeted {
			_, _, text := w.read(w.key, id, "application/json")
			var now eventList
			if err := json.Unmarshal([]byte(text), &now); err != nil || now.Complete || len(now.Data) != 1 || !strings.Contains(string(now.Data[0].Event), `"type":"snapshot"`) {
				t.Errorf("while it lasts: %v %s", err, text)
			}
		}
		greeted = greeted || c.Kind == callcenter.LineAdded && c.Line.Role == "agent"
		return greeted && c.State.AnsweredBy != ""
	})

	status, kind, text := w.read(w.key, id, "application/json")
	var list eventList
	w.ok(json.Unmarshal([]byte(text), &list))
	if status != http.StatusOK || kind != "application/json" || !list.Complete || list.Omitted != 0 || len(list.Data) < len(live) {
		t.Fatalf("%d %s %s, followed were %v", status, kind, text, live)
	}
	var types string
	last := list.Data[0].At
	for _, e := range list.Data {
		var event struct{ Type, Status, Text, Role string }
		w.ok(json.Unmarshal(e.Event, &event))
		types += event.Type + ":" + event.Status + event.Role + " "
		if e.At.Before(last) {
			t.Errorf("%s comes before what was before it", e.Event)
		}
		last = e.At
	}
	for _, want := range []string{"snapshot:dialing ", "status:connected ", "transcript:agent ", "ended:ended "} {
		_, after, found := strings.Cut(types, want)
		if !found {
			t.Errorf("%s is not in %s in its turn", want, text)
		}
		types = after
	}
	status, kind, stream := w.read(w.key, id, "text/event-stream")
	if status != http.StatusOK || kind != "text/event-stream" {
		t.Errorf("%d %s", status, kind)
	}
	n := 0
	for lines := bufio.NewScanner(strings.NewReader(stream)); lines.Scan(); {
		if event, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			if n >= len(list.Data) || event != string(list.Data[n].Event) {
				t.Errorf("event %d of the stream is %s", n, event)
			}
			n++
		}
	}
	if n != len(list.Data) {
		t.Errorf("%d events in the stream, %d in the list", n, len(list.Data))
	}
	for _, accept := range []string{"application/json", "text/event-stream"} {
		if status, _, text := w.read(w.other, id, accept); status != http.StatusNotFound || !strings.Contains(text, "code") {
			t.Errorf("another account is told %d %s", status, text)
		}
	}

	eventually(t, "the trace arrives", func() bool { spans, _ := to.Spans(); return len(spans["call"]) == 1 })
	spans, told := to.Spans()
	if call := spans["call"][0]; hex.EncodeToString(call.TraceId) != client || !strings.Contains(call.String(), id) || !strings.Contains(call.String(), "api_hangup") || len(spans["reply"]) == 0 {
		t.Errorf("%v", spans)
	}
	if strings.Contains(told, "2025550100") || strings.Contains(told, strings.TrimPrefix(deskNumber, "+")) || strings.Contains(told, "clinic") {
		t.Errorf("the trace tells whose call it was: %s", told)
	}
}

// TestTracingIsWired: a node with a collector's address makes traces, and stops doing so
// last of all; one without has no part in it.
func TestTracingIsWired(t *testing.T) {
	t.Parallel()
	for _, endpoint := range []string{"", tracetest.New(t).URL} {
		cfg, _, err := config.Load(config.Sources{Env: []string{"PARLEY_NODE=wired", "PARLEY_SIP_ADDR=off", "PARLEY_OTLP_ENDPOINT=" + endpoint}})
		if err != nil {
			t.Fatal(err)
		}
		n, err := Open(t.Context(), cfg, storetest.URL(t), "a master secret of a test, long enough", prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		if first := n.Parts()[0].Name; (n.traces != nil) != (endpoint != "") || (first == "traces") != (endpoint != "") {
			t.Errorf("with %q the first part is %s", endpoint, first)
		}
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	}
}
