package node

import (
	"encoding/json"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"parley/api/wire"
	"parley/billing"
	"parley/cmd/parley/config"
	"parley/inference/enginetest"
	"parley/media"
	"parley/pipeline/session"
	"parley/sip/simulated"
	"parley/sip/trunk"
	"parley/store"
	"parley/store/history"
	"parley/store/ledger"
	"parley/store/numbers"
	"parley/store/storetest"
	"parley/store/trunks"
)

// ruled sets the rules of the desk's number.
func (d *desk) ruled(rules string) {
	d.Helper()
	own := numbers.New(d.node.db)
	n, err := own.ByE164(d.Context(), d.who.Account, deskNumber)
	d.ok(err)
	d.ok(own.SetRules(d.Context(), d.who.Account, n.ID, json.RawMessage(rules), nil))
}

// calls calls the desk's number, presses keys after a while, and stays until the far end hangs up.
func (d *desk) calls(digits string) *simulated.PhoneResult {
	d.Helper()
	r, err := simulated.Call(d.Context(), simulated.PhoneConfig{URI: "sip:" + deskNumber + "@" + d.node.phone.Addr().String(), Number: "+34600123456",
		Digits: digits, DigitsAfter: time.Second, Wait: time.Minute, MaxDuration: time.Minute})
	d.ok(err)
	return r
}

// incoming is the newest call that came in, and those that were placed, of so many that have ended.
func (d *desk) incoming(n int) (in history.Call, out []history.Call) {
	d.Helper()
	for _, c := range d.history(n) {
		if c.Direction != billing.Inbound {
			out = append(out, c)
		} else if in.ID == "" {
			in = c
		}
	}
	return in, out
}

const closed = `{"holidays":[],"schedule":{},"closed":`

// TestRulesOfANumber: calls go where the rules of their number say: outside the hours to a message, another number or another agent,
// and in them by the keys of a menu.
func TestRulesOfANumber(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.node.engines.LLM = enginetest.NewFakeLLM()
	night, err := d.node.db.CreateAgent(t.Context(), d.who.Account, store.Agent{Name: "Eva", Voice: "F1", Language: "en", FirstMessage: "Good night.",
		Settings: json.RawMessage(`{"ring_ms":0,"max_duration_seconds":10,"idle_seconds":1,"idle_reprompts":0}`)})
	d.ok(err)

	d.ruled(closed + `{"message":"We are closed."}}`)
	if r := d.calls(""); !r.FarEnd || len(r.Heard) < 8000/2 {
		t.Errorf("message: %+v", r)
	}
	in, _ := d.incoming(1)
	if in.Agent != nil || *in.EndReason != string(media.AgentHangup) || d.charged(in.ID) == "" {
		t.Errorf("message: %+v", in)
	}

	d.ruled(closed + `{"number":"+12025550106"}}`)
	if r := d.calls(""); !r.FarEnd {
		t.Error("the person who was called never hung up")
	}
	if h := <-d.heard; h.Called != "+12025550106" {
		t.Errorf("%s was called", h.Called)
	}
	in, out := d.incoming(3)
	if *in.EndReason != "completed" || *in.EndDetail != "transferred" || d.charged(in.ID) != billing.LineTime.String() || len(out) != 1 || out[0].From != deskNumber || d.charged(out[0].ID) != billing.LineTime.String() {
		t.Errorf("forwarded: %+v, then %+v", in, out)
	}

	d.ruled(closed + `{"agent":"` + night.ID + `"},"first_message":"This is the night."}`)
	d.calls("")
	if in, _ = d.incoming(4); in.Agent == nil || *in.Agent != night.ID || d.said(in.ID) != "This is the night." {
		t.Errorf("other agent: %+v, said %q", in, d.said(in.ID))
	}

	d.ruled(`{"menu":{"prompt":"Press one.","timeout_seconds":1,"repeats":0,"options":[{"key":"1","agent":"` + night.ID + `"},{"key":"2","number":"+12025550106"}],"otherwise":{"message":"Bye."}}}`)
	d.calls("1")
	if in, _ = d.incoming(5); in.Agent == nil || *in.Agent != night.ID || d.said(in.ID) != "Good night." {
		t.Errorf("key 1: %+v, said %q", in, d.said(in.ID))
	}
	d.calls("2")
	<-d.heard
	if in, out = d.incoming(7); *in.EndReason != "completed" || *in.EndDetail != "transferred" || len(out) != 2 {
		t.Errorf("key 2: %+v", in)
	}
	if r := d.calls(""); !r.FarEnd {
		t.Error("without a key the call never ended")
	}
	if in, _ = d.incoming(8); *in.EndReason != string(media.AgentHangup) || in.Agent != nil {
		t.Errorf("without a key: %+v", in)
	}

	// Whose agent is gone, overflows.
	d.ruled(`{"open":{"agent":"ag_gone"},"overflow":{"number":"+12025550106"}}`)
	d.calls("")
	<-d.heard
	if in, out = d.incoming(10); *in.EndDetail != "transferred" || len(out) != 3 {
		t.Errorf("overflow: %+v", in)
	}
	d.verified()
}

// said is what the agent said first in a call.
func (d *desk) said(call string) string {
	d.Helper()
	c, err := history.New(d.node.db).Call(d.Context(), d.who.Account, call)
	d.ok(err)
	for _, l := range c.Transcript {
		return l.Text
	}
	return ""
}

// invites sends an INVITE from an address of this machine, and returns the final response that begins so.
func (d *desk) invites(name, source, status string) string {
	d.Helper()
	caller := d.ringsFrom(source)
	caller.id = name
	caller.send("INVITE", 1, "From: <sip:+34911111111@127.0.0.1>;tag=ours\r\nContent-Type: application/sdp\r\n",
		"v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 39994 RTP/AVP 0\r\n")
	return caller.answer(status)
}

// TestOverflow: a call for which no line or no money is left is redirected by the trunk, where somebody pays for that: the first minute
// is charged on the operator's, and on the account's own nothing is.
func TestOverflow(t *testing.T) {
	t.Parallel()
	d := deskWith(t, storetest.URL(t), func(c *config.Config) {
		c.ToolAllow = []string{"127.0.0.7"}
		c.Trunks = []trunk.Config{{Name: "refers", Flags: trunk.NoProbe | trunk.Refer, Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.6/32")}}}
	})
	n, books, kept := d.node, ledger.New(d.node.db), trunks.New(d.node.db, d.node.secrets)
	draft, err := n.lines.Draft(d.who.Account, &wire.NewTrunk{Name: "office", TrunkSettings: wire.TrunkSettings{Allow: []string{"127.0.0.7"}, Country: "ES"}})
	d.ok(err)
	_, err = kept.Create(t.Context(), d.who.Account, draft)
	d.ok(err)
	d.ok(n.lines.Look(t.Context()))

	var busy []*session.Session
	for {
		s, err := n.manager.Admit(t.Context(), session.Admission{Start: ledger.Start{Account: d.who.Account, Terms: billing.Terms{Kind: billing.Web}, Agent: d.agent}})
		if errors.Is(err, store.ErrConcurrency) {
			break
		}
		d.ok(err)
		busy = append(busy, s)
	}
	d.invites("no rules", "127.0.0.6", "486")
	d.ruled(`{"overflow":{"number":"+34911234599"}}`)
	if res := d.invites("operator", "127.0.0.6", "302"); !strings.Contains(res, "\r\nContact: <sip:+34911234599@") {
		t.Error(res)
	}
	d.invites("no trunk", "127.0.0.1", "486")
	d.invites("own trunk", "127.0.0.7", "302")
	d.ruled(`{"overflow":{"number":"+34911234599"},"schedule":{},"closed":{"message":"Closed."}}`)
	d.invites("closed", "127.0.0.6", "486")
	d.ruled(`{"overflow":{"number":"+34911234599"}}`)
	for _, s := range busy {
		s.End(media.Ended{Reason: media.UserHangup})
	}
	var redirected []history.Call
	for _, c := range d.history(len(busy) + 1) {
		if c.Direction == billing.Outbound {
			redirected = append(redirected, c)
		}
	}
	if len(redirected) != 1 || redirected[0].To != "+34911234599" || redirected[0].From != deskNumber || d.charged(redirected[0].ID) != billing.LineTime.String() {
		t.Errorf("charged was %+v", redirected)
	}

	_, _, err = books.Credit(t.Context(), ledger.Credit{Account: d.who.Account, Kind: ledger.Adjustment, Amount: -24_800 * billing.USD / 1000, Key: "adj:1", Source: "test"})
	d.ok(err)
	d.invites("no money", "127.0.0.6", "480")
	d.invites("no money, own trunk", "127.0.0.7", "302")
	d.verified()
}
