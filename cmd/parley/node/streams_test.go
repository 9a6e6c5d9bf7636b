package node

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"parley/api/wire"
	"parley/cmd/parley/config"
	"parley/media/g711"
	"parley/store"
	"parley/store/ledger"
	"parley/store/people"
	"parley/store/storetest"
)

// part is a message of a stream.
type part struct {
	Event string
	Start struct {
		StreamSID        string `json:"streamSid"`
		AccountSID       string `json:"accountSid"`
		CallSID          string `json:"callSid"`
		CustomParameters map[string]string
	}
	Media struct {
		Track   string
		Payload []byte
	}
}

// receiver is a program of an account that takes streams which carry its secret.
type receiver struct {
	*window
	url     string
	streams chan *websocket.Conn
}

func (w *window) receiver() *receiver {
	r := &receiver{window: w, streams: make(chan *websocket.Conn, 4)}
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		if req.Header.Get("Authorization") != "Bearer of the receiver" {
			http.Error(rw, "", http.StatusUnauthorized)
			return
		}
		conn, err := (&websocket.Upgrader{}).Upgrade(rw, req, nil)
		if err != nil {
			w.Error(err)
			return
		}
		r.streams <- conn
	}))
	w.Cleanup(server.Close)
	r.url = "ws" + strings.TrimPrefix(server.URL, "http")
	if status := w.put("/v1/secrets/RECEIVER", w.key, object{"value": "of the receiver"}); status/100 != 2 {
		w.Fatalf("the secret: %d", status)
	}
	return r
}

func (w *window) put(path, credential string, body object) (status int) {
	w.Helper()
	text, err := json.Marshal(body)
	w.ok(err)
	req, err := http.NewRequestWithContext(w.Context(), http.MethodPut, w.server.URL+path, strings.NewReader(string(text)))
	w.ok(err)
	req.Header.Set("Content-Type", "application/json")
	return w.answered(req, credential, nil, nil)
}

// begins is the next stream and the beginning of what it says.
func (r *receiver) begins() (conn *websocket.Conn, start part) {
	r.Helper()
	conn = <-r.streams
	r.Cleanup(func() { conn.Close() })
	var connected part
	r.ok(conn.ReadJSON(&connected))
	r.ok(conn.ReadJSON(&start))
	if connected.Event != "connected" || start.Event != "start" || start.Start.AccountSID != r.who.Account {
		r.Fatalf("%+v, %+v", connected, start)
	}
	return conn, start
}

// hears reads a stream until so many samples of each of the tracks are loud, or until it stops.
func (r *receiver) hears(conn *websocket.Conn, enough int, tracks ...string) (loud map[string]int, stopped bool) {
	r.Helper()
	loud = map[string]int{}
	for slices.ContainsFunc(tracks, func(track string) bool { return loud[track] < enough }) {
		var p part
		r.ok(conn.ReadJSON(&p))
		if p.Event == "stop" {
			return loud, true
		}
		var pcm [160]int16
		for _, v := range pcm[:g711.PCMU.Decode(pcm[:], p.Media.Payload)] {
			if v > 2000 || v < -2000 {
				loud[p.Media.Track]++
			}
		}
	}
	return loud, false
}

// stops reads a stream to its end.
func (r *receiver) stops(conn *websocket.Conn) {
	r.Helper()
	if _, stopped := r.hears(conn, 1<<30, "inbound"); !stopped {
		r.Error("the stream does not stop")
	}
	if _, _, err := conn.ReadMessage(); !websocket.IsCloseError(err, websocket.CloseNormalClosure) {
		r.Errorf("the stream ends with %v", err)
	}
}

func allowing(t *testing.T) *window {
	return windowOf(t, deskWith(t, storetest.URL(t), func(c *config.Config) { c.ToolAllow = []string{"127.0.0.1"} }))
}

const secretly = "Bearer {{secret.RECEIVER}}"

// TestStreams: who may has a call sent to a program of theirs, until they end that or the call is over, and the call says where it went;
// nobody else has, and nothing goes where functions may not.
func TestStreams(t *testing.T) {
	t.Parallel()
	w := allowing(t)
	r := w.receiver()
	ear := w.member(w.who.Account, people.NewKey{Listens: true})
	b, err := ledger.New(w.node.db).CreateAccount(t.Context(), "C", w.node.db.RateCard())
	w.ok(err)
	stranger := w.member(b.ID, people.NewKey{Listens: true})
	id := w.lasting()
	over := w.connected(id)
	headers := object{"Authorization": secretly}
	for name, tt := range map[string]struct {
		credential, call string
		body             object
		status           int
		code             string
	}{
		"without the mark":   {w.key, id, object{"url": r.url, "headers": headers}, 403, "auth.role_not_allowed"},
		"another's call":     {stranger, id, object{"url": r.url, "headers": headers}, 404, "request.not_found"},
		"no call":            {ear, "ses_06er5bt0v9k1o7m2q3s4t5u6v0", object{"url": r.url, "headers": headers}, 404, "request.not_found"},
		"no socket":          {ear, id, object{"url": "https://example.com/"}, 400, "validation.invalid_request_format"},
		"a secret in it":     {ear, id, object{"url": "wss://{{secret.RECEIVER}}.example.com/"}, 400, "validation.invalid_request_format"},
		"no such secret":     {ear, id, object{"url": r.url, "headers": object{"Authorization": "{{secret.NOBODYS}}"}}, 400, "validation.invalid_request_format"},
		"refused by it":      {ear, id, object{"url": r.url}, 400, "call.receiver_unreachable"},
		"inside the network": {ear, id, object{"url": "wss://10.0.0.1/"}, 400, "validation.invalid_request_format"},
	} {
		var problem struct{ Code string }
		if status := w.post("/v1/calls/"+tt.call+"/streams", tt.credential, tt.body, &problem); status != tt.status || problem.Code != tt.code {
			t.Errorf("%s: %d %q", name, status, problem.Code)
		}
	}

	starts := func(body object) (made wire.Stream) {
		t.Helper()
		body["url"], body["headers"] = r.url+"/calls?key=1", headers
		if status := w.post("/v1/calls/"+id+"/streams", ear, body, &made); status != 201 || made.CallID != id || made.Host != "127.0.0.1" {
			t.Fatalf("%d: %+v", status, made)
		}
		return made
	}
	both := starts(object{"parameters": object{"team": "sales"}})
	conn, start := r.begins()
	if start.Start.StreamSID != both.ID || start.Start.CallSID != id || start.Start.CustomParameters["team"] != "sales" {
		t.Errorf("%+v", start)
	}
	r.hears(conn, 200, "inbound", "outbound")
	stop := func(credential, call string) int {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, w.server.URL+"/v1/calls/"+call+"/streams/"+both.ID, nil)
		w.ok(err)
		return w.answered(req, credential, nil, nil)
	}
	if status := stop(stranger, id); status != 404 {
		t.Errorf("a stranger stops it: %d", status)
	}
	if status := stop(ear, id); status != 204 {
		t.Errorf("it is stopped: %d", status)
	}
	r.stops(conn)
	if status := stop(ear, id); status != 404 {
		t.Errorf("it is stopped twice: %d", status)
	}

	one := starts(object{"tracks": "outbound"})
	conn, _ = r.begins()
	left := starts(object{})
	gone, _ := r.begins()
	w.ok(gone.Close())
	heard, _ := r.hears(conn, 500, "outbound")
	w.hangUp(id)
	loud, _ := r.hears(conn, 1<<30, "inbound")
	if loud["outbound"] += heard["outbound"]; heard["inbound"]+loud["inbound"] > 0 || loud["outbound"] == 0 {
		t.Errorf("of the other side alone %v samples are loud", loud)
	}
	<-over
	var c wire.CallDetail
	if status := w.get(w.server.URL+"/v1/calls/"+id, w.key, nil, &c); status != 200 || len(c.Listeners) != 3 {
		t.Fatalf("%d: the call says of its listeners %+v", status, c.Listeners)
	}
	for i, want := range []string{both.ID, one.ID, left.ID} {
		l := c.Listeners[i]
		if l.ID != want || l.Host == nil || *l.Host != "127.0.0.1" || !strings.HasPrefix(l.By, "key_") || (l.Failure != nil) != (want == left.ID) {
			t.Errorf("listener %d: %+v", i, l)
		}
	}
}

// TestStreamsOfAnAgent: calls of an agent that wants it are sent on from their first word, and where that fails the call goes on and
// says so.
func TestStreamsOfAnAgent(t *testing.T) {
	t.Parallel()
	w := allowing(t)
	r := w.receiver()
	talks := func(to object) (c wire.CallDetail) {
		settings, err := json.Marshal(object{"stream": to})
		w.ok(err)
		made, err := w.node.db.CreateAgent(t.Context(), w.who.Account, store.Agent{Name: "Eva", Voice: "F1", Language: "en", FirstMessage: "Hello, this is Eva of the dental clinic.", Settings: settings})
		w.ok(err)
		w.agent = made.ID
		id := w.dial("06", "", "")
		over := w.connected(id)
		if to["headers"] != nil {
			conn, start := r.begins()
			if start.Start.CallSID != id {
				t.Errorf("%+v", start)
			}
			r.hears(conn, 200, "inbound", "outbound")
			r.stops(conn)
		}
		if last := <-over; last.EndReason == "failed" {
			t.Errorf("the call ended: %+v", last)
		}
		if status := w.get(w.server.URL+"/v1/calls/"+id, w.key, nil, &c); status != 200 || len(c.Listeners) != 1 || c.Listeners[0].By != made.ID {
			t.Fatalf("%d: the call says of its listeners %+v", status, c.Listeners)
		}
		return c
	}
	if c := talks(object{"url": r.url, "headers": object{"Authorization": secretly}}); c.Listeners[0].Failure != nil {
		t.Errorf("%+v", c.Listeners)
	}
	if c := talks(object{"url": r.url}); c.Listeners[0].Failure == nil || !strings.Contains(*c.Listeners[0].Failure, "Unauthorized") {
		t.Errorf("%+v", c.Listeners)
	}
}
