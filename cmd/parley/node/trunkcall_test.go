package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/billing"
	"parley/cmd/parley/config"
	"parley/cmd/parley/conversation"
	"parley/cmd/parley/outbound"
	"parley/inference"
	"parley/inference/enginetest"
	"parley/media"
	"parley/pipeline/bridge"
	"parley/pipeline/session"
	"parley/pipeline/tool/crm/crmtest"
	"parley/sip"
	"parley/sip/header"
	"parley/sip/rtpport"
	"parley/sip/transport"
	"parley/sip/trunk"
	"parley/store"
	"parley/store/history"
	"parley/store/ledger"
	"parley/store/storetest"
)

// An exchange of these tests says one number in From and asserts another.
const fromNumber, assertedNumber = "+34911111111", "+34922222222"

// exchange is a telephone exchange at an address of this machine, which the desk has a
// trunk for.
func (d *desk) exchange(at string) *sip.UserAgent {
	d.Helper()
	addr, far := netip.MustParseAddr(at), d.node.phone.Addr()
	ports, err := rtpport.New(rtpport.Config{Addr: addr, First: 41000, Last: 41999})
	d.ok(err)
	ua, err := sip.New(sip.Config{Listen: netip.AddrPortFrom(addr, 0), Ports: ports, Allow: func(netip.Addr) bool { return false },
		Trunks: []trunk.Config{{Name: "desk", Targets: []trunk.Target{{Host: far.Addr().String(), Port: far.Port()}}, Flags: trunk.NoProbe | trunk.PAI, FromUser: fromNumber}}})
	d.ok(err)
	ended := make(chan error, 1)
	go func() { ended <- ua.Run(d.Context()) }()
	d.Cleanup(func() { <-ended; ports.Close() })
	return ua
}

// rung is what somebody hears who calls the desk from an exchange.
func rung(d *desk, ua *sip.UserAgent) (*sip.Leg, error) {
	return ua.Dial(d.Context(), sip.Target{Number: deskNumber, From: header.Identity{Number: assertedNumber, Display: "Bob"}, Headers: map[string]string{"X-Tier": "gold"}})
}

// presses has somebody call who presses a key, says nothing and waits for the agent to
// hang up.
func (d *desk) presses(ua *sip.UserAgent) {
	d.Helper()
	leg, err := rung(d, ua)
	d.ok(err)
	ended := make(chan error, 1)
	go func() { ended <- quiet(d.Context(), leg) }()
	d.ok(leg.SendDigits("1"))
	d.ok(<-ended)
}

// TestCallerOfATrunk: whoever a trunk asserts is the caller, for everything that depends on
// it; where the trunk is not believed, the caller is who From says.
func TestCallerOfATrunk(t *testing.T) {
	t.Parallel()
	d := deskWith(t, storetest.URL(t), func(c *config.Config) {
		c.Trunks = []trunk.Config{{Name: "carrier", Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.2/32")}},
			{Name: "exchange", Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.3/32")}, Flags: trunk.DistrustIdentity}}
	})
	h := crmtest.New(t, functionSecret)
	h.AddContact(map[string]string{"firstname": "Ann", "phone": fromNumber})
	h.AddContact(map[string]string{"firstname": "Bob", "phone": assertedNumber})
	d.functions(deskNumber, h, "http://127.0.0.1:1", "http://127.0.0.1:1")
	agent, err := d.node.db.Agent(t.Context(), d.who.Account, d.agent)
	d.ok(err)
	agent.Prompt, agent.Settings = "You talk to {{call.from}}, {{call.header.x-tier}}{{call.header.x-none}}.", json.RawMessage(`{"speculative_llm":false}`)
	_, err = d.node.db.UpdateAgent(t.Context(), d.who.Account, *agent)
	d.ok(err)
	for i, tt := range []struct{ source, caller, name, other string }{
		{"127.0.0.2", assertedNumber, "Bob", fromNumber},
		{"127.0.0.3", fromNumber, "Ann", assertedNumber},
	} {
		call := func(name string) enginetest.Step {
			return enginetest.Step{Tool: &inference.ToolCall{Name: name, Arguments: "{}"}}
		}
		model := enginetest.NewFakeLLM()
		model.Replies = [][]enginetest.Step{{call("crm_lookup")}, {call("opt_out")}, {{Text: "Goodbye."}, call("end_call")}}
		d.node.engines.LLM = model
		d.changed()
		d.presses(d.exchange(tt.source))
		if c := d.history(i + 1)[0]; c.From != tt.caller {
			t.Errorf("%s: the call is from %s", tt.source, c.From)
		}
		calls := model.Calls()
		if prompt := calls[0].Request.System; !strings.HasPrefix(prompt, "You talk to "+tt.caller+", “gold”.") {
			t.Errorf("%s: the prompt is %q", tt.source, prompt)
		}
		if told := calls[len(calls)-1].Request.Messages; !slices.ContainsFunc(told, func(m inference.Message) bool {
			return m.Role == inference.RoleTool && strings.Contains(m.Text, `"name":"`+tt.name+`"`)
		}) {
			t.Errorf("%s: the customer database did not know %s: %+v", tt.source, tt.name, told)
		}
		if _, err := d.node.db.DoNotCall(t.Context(), d.who.Account, tt.caller); err != nil {
			t.Errorf("%s: opting out: %v", tt.source, err)
		}
		if _, err := d.node.db.DoNotCall(t.Context(), d.who.Account, tt.other); i == 0 && !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: opting out listed another number: %v", tt.source, err)
		}
	}
}

// TestCallOnAnotherTrunk: a trunk that lists numbers does not reach a number of another; the
// caller is told that there is none, and no call begins.
func TestCallOnAnotherTrunk(t *testing.T) {
	t.Parallel()
	d := deskWith(t, storetest.URL(t), func(c *config.Config) {
		c.Trunks = []trunk.Config{{Name: "theirs", Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.4/32")}, Numbers: []string{"+34911000000"}},
			{Name: "ours", Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.5/32")}, Numbers: []string{deskNumber}}}
	})
	leg, err := rung(d, d.exchange("127.0.0.4"))
	if e, ok := errors.AsType[*sip.NotAnswered](err); !ok || e.Code != 404 {
		t.Errorf("answered with %v, %v", leg, err)
	}
	list, err := history.New(d.node.db).Calls(t.Context(), d.who.Account, history.CallPage{Page: store.Page{Limit: 10}})
	d.ok(err)
	if len(list) != 0 {
		t.Errorf("%d calls began", len(list))
	}
}

// TestPlainTrunksAreNotAsked: on a trunk without referrals nobody is asked for a transfer,
// and none is admitted.
func TestPlainTrunksAreNotAsked(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	session, err := d.node.manager.Admit(t.Context(), session.Admission{Start: ledger.Start{Account: d.who.Account, From: "+34600123456", To: deskNumber,
		Terms: billing.Terms{Kind: billing.Inbound, Country: "ES"}}})
	d.ok(err)
	defer session.End(media.Ended{Reason: media.Failed, Detail: "answer"})
	trace := new(transport.Trace)
	leg, err := d.node.phone.Dial(t.Context(), sip.Target{Number: "+12025550106", From: header.Identity{Number: deskNumber}, Trace: trace})
	d.ok(err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- leg.Run(ctx) }()
	call := d.node.transfers.Leg(leg, new(conversation.Plan), session, outbound.Line{Caller: trunk.Caller{Number: deskNumber}}).(bridge.Transferrer)
	if err := call.Transfer(t.Context(), "+12025550103"); !errors.Is(err, bridge.ErrNoReferral) {
		t.Errorf("a transfer: %v", err)
	}
	stop()
	<-ended
	messages, _ := trace.Messages()
	for _, m := range messages {
		if strings.HasPrefix(m.Text, "REFER ") {
			t.Errorf("sent %s", m.Text)
		}
	}
	list, err := history.New(d.node.db).Calls(t.Context(), d.who.Account, history.CallPage{Page: store.Page{Limit: 10}})
	d.ok(err)
	if len(list) != 1 {
		t.Errorf("%d calls, want the one that was to be transferred", len(list))
	}
}

// TestMediaTimeout: a far end that falls silent is hung up on after the time of the setting.
func TestMediaTimeout(t *testing.T) {
	t.Parallel()
	d := deskWith(t, storetest.URL(t), func(c *config.Config) { c.MediaTimeout = 50 * time.Millisecond }) // less than a setting may be
	audio, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.MustParseAddrPort("127.0.0.1:0")))
	d.ok(err)
	defer audio.Close()
	caller := d.rings()
	const who = "From: <sip:+34911111111@127.0.0.1>;tag=ours\r\n"
	caller.send("INVITE", 1, who+"Content-Type: application/sdp\r\n",
		fmt.Sprintf("v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio %d RTP/AVP 0\r\n", audio.LocalAddr().(*net.UDPAddr).Port))
	res := caller.answer("200")
	_, rest, _ := strings.Cut(res, "To: ")
	_, caller.tag, _ = strings.Cut(strings.SplitN(rest, "\r\n", 2)[0], ">")
	caller.send("ACK", 1, who, "")
	_, rest, _ = strings.Cut(res, "m=audio ")
	var port uint16
	_, err = fmt.Sscan(rest, &port)
	d.ok(err)
	_ = audio.SetReadDeadline(time.Now().Add(30 * time.Second))
	if _, err := audio.Read(make([]byte, 2000)); err != nil { // from here on it listens
		t.Fatal("the agent says nothing: ", err)
	}
	packet := make([]byte, 172) // RFC 3550, section 5.1: version 2, payload type 0
	packet[0] = 0x80
	for seq := range byte(3) {
		packet[3], packet[7] = seq, 160*seq
		_, err = audio.WriteToUDPAddrPort(packet, netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), port))
		d.ok(err)
	}
	_ = caller.conn.SetReadDeadline(time.Now().Add(10 * time.Second)) // the default is 15
	for b := make([]byte, 4096); ; {
		n, err := caller.conn.Read(b)
		if err != nil {
			t.Fatal("nobody hung up: ", err)
		}
		if strings.HasPrefix(string(b[:n]), "BYE ") {
			break
		}
	}
	if c := d.over(); *c.EndReason != "failed" || *c.EndDetail != "media_timeout" {
		t.Errorf("the call ended %s/%s", *c.EndReason, *c.EndDetail)
	}
}
