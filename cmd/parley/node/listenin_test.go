package node

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"parley/api/callcenter"
	"parley/api/wire"
	"parley/store/ledger"
	"parley/store/people"
	"parley/store/storetest"
)

// listensAs opens the socket of who listens in on a call with a credential.
func (w *window) listensAs(credential, call string) (*websocket.Conn, *http.Response, error) {
	header := http.Header{"Authorization": {"Bearer " + credential}}
	return websocket.DefaultDialer.DialContext(w.Context(), "ws"+strings.TrimPrefix(w.server.URL, "http")+"/v1/calls/"+call+"/listen", header)
}

// told is a text message of such a socket.
type told struct {
	Type       string
	CallID     string `json:"call_id"`
	SampleRate int    `json:"sample_rate"`
	Channels   int
	Data       struct{ Code string }
}

// TestListenIn: who may, hears the agent on the right until the call is over, and the call says who that was; nobody else gets in.
func TestListenIn(t *testing.T) {
	t.Parallel()
	w := newWindow(t)
	_, ear, err := people.New(w.node.db).MakeKey(storetest.At(t.Context(), w.node.db.Now()), people.NewKey{Account: w.who.Account, Name: "ear", Role: people.RoleMember, Listens: true})
	w.ok(err)
	b, err := ledger.New(w.node.db).CreateAccount(t.Context(), "C", w.node.db.RateCard())
	w.ok(err)
	_, stranger, err := people.New(w.node.db).MakeKey(storetest.At(t.Context(), w.node.db.Now()), people.NewKey{Account: b.ID, Name: "ear", Role: people.RoleMember, Listens: true})
	w.ok(err)
	id := w.dial("06", "", "")
	connected := make(chan struct{})
	over := make(chan wire.CallState, 1)
	go func() {
		seen := false
		over <- w.ended(id, func(c callcenter.Change) bool {
			if c.State.Status == "connected" && !seen {
				seen = true
				close(connected)
			}
			return false
		})
	}()
	<-connected
	for name, tt := range map[string]struct {
		credential, call string
		status           int
		code             string
	}{"without the mark": {w.key, id, 403, ""}, "another's call": {stranger, id, 101, "request.not_found"}, "no call": {ear, "ses_06er5bt0v9k1o7m2q3s4t5u6v0", 101, "request.not_found"}} {
		conn, resp, err := w.listensAs(tt.credential, tt.call)
		if resp == nil || resp.StatusCode != tt.status {
			t.Errorf("%s: %v, %v", name, resp, err)
			continue
		}
		if err != nil {
			continue
		}
		var m told
		if err := conn.ReadJSON(&m); err != nil || m.Type != "error" || m.Data.Code != tt.code {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
		conn.Close()
	}
	conn, _, err := w.listensAs(ear, id)
	w.ok(err)
	defer conn.Close()
	var first told
	w.ok(conn.ReadJSON(&first))
	if first.Type != "listening" || first.CallID != id || first.Channels != 2 || first.SampleRate != 8000 && first.SampleRate != 16000 {
		t.Fatalf("%+v", first)
	}
	var loud [2]int
	last := told{}
	for {
		kind, b, err := conn.ReadMessage()
		if err != nil {
			break
		}
		if kind == websocket.TextMessage {
			w.ok(json.Unmarshal(b, &last))
			continue
		}
		if len(b) != first.SampleRate/50*4 {
			t.Fatalf("a message of %d bytes", len(b))
		}
		for i := 0; i < len(b); i += 2 {
			if v := int16(uint16(b[i]) | uint16(b[i+1])<<8); v > 2000 || v < -2000 {
				loud[i/2%2]++
			}
		}
	}
	<-over
	if last.Type != "ended" || loud[0] < 500 || loud[1] < 500 {
		t.Errorf("the last message is %+v; loud were %v samples", last, loud)
	}
	var c wire.CallDetail
	if status := w.get(w.server.URL+"/v1/calls/"+id, w.key, nil, &c); status != 200 || len(c.Listeners) != 1 || !strings.HasPrefix(c.Listeners[0].By, "key_") || c.Listeners[0].LeftAt == nil {
		t.Errorf("%d: the call says of its listeners %+v", status, c.Listeners)
	}
}
