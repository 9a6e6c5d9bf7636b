package node

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gorilla/websocket"
	"github.com/icholy/digest"

	"parley/api/phone"
	"parley/api/trunks/preset"
	"parley/api/wire"
	"parley/store/numbers"
	"parley/store/trunks"
)

// browses has the other side speak over a WebSocket to a server, and says how the server has answered.
func (f *far) browses(server string) (status int) {
	f.Helper()
	dialer := websocket.Dialer{Subprotocols: []string{"sip"}}
	conn, res, err := dialer.DialContext(f.Context(), "ws"+strings.TrimPrefix(server, "http")+phone.Path, nil)
	if res == nil {
		f.Fatal(err)
	}
	if err != nil {
		return res.StatusCode
	}
	f.browser = conn
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			_, text, err := conn.ReadMessage()
			if err != nil {
				return
			}
			f.take(text)
		}
	}()
	f.Cleanup(func() { conn.Close(); <-done })
	return res.StatusCode
}

// browserPhone gives the account a trunk made from the preset, whose extension "help" the agent answers. Its phones are ann, with the
// password "open sesame".
func (d *desk) browserPhone() (id string) {
	d.Helper()
	n := wire.NewTrunk{Name: "web", InboundPassword: "open sesame", TrunkSettings: preset.Under(wire.TrunkSettings{Preset: "browser-phone", InboundUsername: "ann",
		Extensions: []wire.TrunkExtension{{Match: "help", AgentID: d.agent}}})}
	draft, err := d.node.lines.Draft(d.who.Account, &n)
	d.ok(err)
	made, err := trunks.New(d.node.db, d.node.secrets).Create(d.Context(), d.who.Account, draft)
	d.ok(err)
	d.ok(d.node.lines.Look(d.Context()))
	return made.ID
}

// TestPhoneOfABrowser: a page calls a number of a trunk made from the preset, and an extension, and the agent answers. Without such a
// trunk there is nothing to connect to, and a server that drains takes no more phones.
func TestPhoneOfABrowser(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	server := httptest.NewServer(d.node.Handler())
	t.Cleanup(server.Close)
	if status := d.farAt("127.0.0.1").browses(server.URL); status != 404 {
		t.Errorf("without a trunk: %d", status)
	}
	const number = "+34933333330"
	_, err := numbers.New(d.node.db).ImportOwn(t.Context(), d.who.Account, d.browserPhone(), number, d.agent)
	d.ok(err)
	for i, called := range []string{number, "help"} {
		f := d.farAt("127.0.0.1")
		if status := f.browses(server.URL); status != 101 {
			t.Fatalf("connecting: %d", status)
		}
		f.calls(shaped{preset: "browser-phone", uri: "sip:" + called + "@NODE", from: `"Ann" <sip:ann@NODE>`, to: "<sip:" + called + "@NODE>",
			headers: []string{"Contact: <sip:0dgq2lvm@df7jal23ls0d.invalid;transport=ws;ob>", "Allow: INVITE,ACK,CANCEL,BYE,UPDATE,MESSAGE,OPTIONS,REFER,INFO,NOTIFY",
				"Supported: timer,gruu,100rel,outbound", "Session-Expires: 90", "User-Agent: JsSIP 3.10.0"}}, number, "", digest.Options{Username: "ann", Password: "open sesame"})
		call := d.history(i + 1)[0]
		if call.From != "ann" || call.To != called || call.Agent == nil || *call.Agent != d.agent {
			t.Errorf("the call is from %s to %s, answered by %v", call.From, call.To, call.Agent)
		}
		d.onOwnTrunk(call.ID)
	}
	d.node.phone.Drain()
	if status := d.farAt("127.0.0.1").browses(server.URL); status != 503 {
		t.Errorf("while draining: %d", status)
	}
}
