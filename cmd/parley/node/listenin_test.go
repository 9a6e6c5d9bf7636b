package node

import (
	"encoding/binary"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"parley/api/callcenter"
	"parley/api/wire"
	"parley/media"
	"parley/media/mediatest"
	"parley/store/ledger"
	"parley/store/people"
	"parley/store/storetest"
)

// listensAs opens the socket of who listens in on a call with a credential.
func (w *window) listensAs(credential, call string) (*websocket.Conn, *http.Response, error) {
	return w.listensAt(w.server.URL, credential, call)
}

// listensAt does so at the address of a node.
func (w *window) listensAt(node, credential, call string) (*websocket.Conn, *http.Response, error) {
	header := http.Header{"Authorization": {"Bearer " + credential}}
	return websocket.DefaultDialer.DialContext(w.Context(), "ws"+strings.TrimPrefix(node, "http")+"/v1/calls/"+call+"/listen", header)
}

// told is a text message of such a socket.
type told struct {
	Type       string
	CallID     string `json:"call_id"`
	SampleRate int    `json:"sample_rate"`
	Channels   int
	Data       struct{ Code string }
}

// member makes a key of the account that may do what is said of it.
func (w *window) member(account string, may people.NewKey) (secret string) {
	w.Helper()
	may.Account, may.Name, may.Role = account, "supervisor", people.RoleMember
	_, secret, err := people.New(w.node.db).MakeKey(storetest.At(w.Context(), w.node.db.Now()), may)
	w.ok(err)
	return secret
}

// connected waits until a call is talked in. over gets its end.
func (w *window) connected(id string) (over <-chan wire.CallState) {
	connected, ended := make(chan struct{}), make(chan wire.CallState, 1)
	go func() {
		seen := false
		ended <- w.ended(id, func(c callcenter.Change) bool {
			if c.State.Status == "connected" && !seen {
				seen = true
				close(connected)
			}
			return false
		})
	}()
	<-connected
	return ended
}

// lasting places a call to somebody who stays on the line, on which both speak.
func (w *window) lasting() (id string) {
	w.Helper()
	return w.dial("04", "continue", "")
}

// hangUp ends a call from here.
func (w *window) hangUp(id string) {
	w.Helper()
	w.ok(w.node.cluster.Hangup(w.Context(), w.who.Account, id))
}

// TestListenIn: who may, hears the agent on the right until the call is over, and the call says who that was; nobody else gets in.
func TestListenIn(t *testing.T) {
	t.Parallel()
	w := newWindow(t)
	ear := w.member(w.who.Account, people.NewKey{Listens: true})
	b, err := ledger.New(w.node.db).CreateAccount(t.Context(), "C", w.node.db.RateCard())
	w.ok(err)
	stranger := w.member(b.ID, people.NewKey{Listens: true})
	id := w.lasting()
	over := w.connected(id)
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
	last, hung := told{}, false
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
		if !hung && loud[0] >= 500 && loud[1] >= 500 {
			w.hangUp(id)
			hung = true
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

// TestTakeOver: who may speak is heard by the caller in the agent's place until they give the call back, and the call says who that
// was; who may only listen is refused, and so is who speaks beside another.
func TestTakeOver(t *testing.T) {
	t.Parallel()
	w := newWindow(t)
	ear, mouth := w.member(w.who.Account, people.NewKey{Listens: true}), w.member(w.who.Account, people.NewKey{Listens: true, Speaks: true})
	id := w.lasting()
	over := w.connected(id)
	sits := func(credential string) *guest {
		conn, _, err := w.listensAs(credential, id)
		w.ok(err)
		t.Cleanup(func() { conn.Close() })
		g := &guest{window: w, conn: conn}
		g.rate = g.want("listening").SampleRate
		return g
	}
	listener, speaker, second := sits(ear), sits(mouth), sits(mouth)
	listener.ask(`{"type":"take_over"}`, "error", "auth.role_not_allowed")
	listener.ask(`{"type":"whisper","text":"Be brief."}`, "error", "auth.role_not_allowed")
	listener.ask(`{"type":"coach"}`, "error", "auth.role_not_allowed")
	speaker.ask(`{"type":"coach"}`, "error", "call.not_transferred")
	speaker.ask(`{"type":"whisper","text":"Be brief."}`, "whispered", "")
	speaker.ask(`{"type":"whisper","text":""}`, "error", "validation.invalid_request_format")
	speaker.ask(`{"type":"shout"}`, "error", "validation.invalid_request_format")
	speaker.ask(`take_over`, "error", "validation.invalid_request_format")
	speaker.ask(`{"type":"take_over"}`, "taken_over", "")
	second.ask(`{"type":"take_over"}`, "error", "call.supervised")
	listener.loud = 0
	tone := mediatest.Tone(500, media.Rate(speaker.rate), speaker.rate/50, 0.7)
	for range 75 { // while the others hear
		b := make([]byte, 0, 2*len(tone))
		for _, v := range tone {
			b = binary.LittleEndian.AppendUint16(b, uint16(v))
		}
		w.ok(speaker.conn.WriteMessage(websocket.BinaryMessage, b))
		listener.frame()
	}
	if listener.loud < 25*listener.rate/50 {
		t.Errorf("of 75 frames %d samples are heard", listener.loud)
	}
	speaker.ask(`{"type":"give_back"}`, "given_back", "")
	second.ask(`{"type":"take_over"}`, "taken_over", "")
	second.conn.Close() // which gives it back
	w.hangUp(id)
	for listener.next().Type != "ended" {
	}
	<-over
	var c wire.CallDetail
	if status := w.get(w.server.URL+"/v1/calls/"+id, w.key, nil, &c); status != 200 || len(c.Listeners) != 3 {
		t.Fatalf("%d: the call says of its listeners %+v", status, c.Listeners)
	}
	for i, spoke := range []bool{false, true, true} {
		if got := c.Listeners[i].SpokeAt != nil; got != spoke {
			t.Errorf("%d spoke: %v", i, got)
		}
	}
}

// TestTakePartThroughAnotherNode: the node that a client reaches need not be the one that has the call.
func TestTakePartThroughAnotherNode(t *testing.T) {
	t.Parallel()
	url := storetest.URL(t)
	w := windowOf(t, deskOn(t, url))
	w.ok(w.node.db.IntroduceNode(t.Context(), w.node.life, strings.TrimPrefix(w.server.URL, "http://"), "1"))
	other, _ := dialling(t, url, "other", netip.MustParseAddrPort("127.0.0.1:9"))
	server := httptest.NewServer(other.Handler())
	t.Cleanup(server.Close)
	mouth := w.member(w.who.Account, people.NewKey{Listens: true, Speaks: true})
	id := w.lasting()
	over := w.connected(id)
	if _, resp, err := w.listensAt(server.URL, w.key, id); resp == nil || resp.StatusCode != http.StatusForbidden {
		t.Errorf("without the mark: %v, %v", resp, err)
	}
	conn, _, err := w.listensAt(server.URL, mouth, id)
	w.ok(err)
	defer conn.Close()
	g := &guest{window: w, conn: conn}
	g.want("listening")
	g.frame()
	g.ask(`{"type":"take_over"}`, "taken_over", "")
	g.ask(`{"type":"give_back"}`, "given_back", "")
	w.hangUp(id)
	for g.next().Type != "ended" {
	}
	<-over
	var c wire.CallDetail
	if status := w.get(server.URL+"/v1/calls/"+id, w.key, nil, &c); status != 200 || len(c.Listeners) != 1 || c.Listeners[0].SpokeAt == nil || !strings.HasPrefix(c.Listeners[0].By, "key_") {
		t.Errorf("%d: the call says of its listeners %+v", status, c.Listeners)
	}
}

// guest is somebody at the socket of a call.
type guest struct {
	*window
	conn *websocket.Conn
	rate int
	loud int // samples on the right
}

// next reads a message; one without a type is audio.
func (g *guest) next() (m told) {
	g.Helper()
	kind, b, err := g.conn.ReadMessage()
	g.ok(err)
	if kind == websocket.TextMessage {
		g.ok(json.Unmarshal(b, &m))
		return m
	}
	for i := 2; i < len(b); i += 4 {
		if v := int16(binary.LittleEndian.Uint16(b[i:])); v > 12000 || v < -12000 {
			g.loud++
		}
	}
	return m
}

// frame reads up to the next audio.
func (g *guest) frame() {
	for g.next().Type != "" {
	}
}

// want reads up to the next text message, which must be of a type.
func (g *guest) want(kind string) (m told) {
	g.Helper()
	for m = g.next(); m.Type == ""; m = g.next() {
	}
	if m.Type != kind {
		g.Fatalf("%+v, want %s", m, kind)
	}
	return m
}

// ask sends a message and reads the answer.
func (g *guest) ask(message, kind, code string) {
	g.Helper()
	g.ok(g.conn.WriteMessage(websocket.TextMessage, []byte(message)))
	if m := g.want(kind); m.Data.Code != code {
		g.Errorf("%s: %+v, want %s", message, m, code)
	}
}
