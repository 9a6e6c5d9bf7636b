package sip_test

import (
	"maps"
	"net/netip"
	"strings"
	"testing"

	"parley/sip"
	"parley/sip/header"
	"parley/sip/transport"
	"parley/sip/trunk"
)

// TestHeadersOfAnInvite: what a far end writes into its INVITE comes with the call, but for what we send there ourselves.
func TestHeadersOfAnInvite(t *testing.T) {
	both(t, func(t *testing.T, network string) {
		results := make(chan outcome, 1)
		ua := serve(t, sip.Config{OnCall: answering(results), Trunks: []trunk.Config{{Name: "pbx", Flags: trunk.NoProbe, Allow: []netip.Prefix{netip.PrefixFrom(loopback, 32)},
			Headers: map[string]string{"X-Token": "5ec2e7"}}}})
		p := newPeer(t, ua, network)
		p.write(p.request("INVITE", p.offer(), `P-Asserted-Identity: "Ann Lee" <sip:+15550100001@carrier.example;verstat=TN-Validation-Passed>`,
			"P-Attestation-Indicator: A", "P-Origination-ID: 123e4567-e89b-12d3-a456-426655440000", "x-customer-id: 42", "X-Token: 5ec2e7",
			"User-to-User: 4f726465722034322e;encoding=hex", `Diversion: "Desk" <sip:+15550100009@carrier.example>;reason=no-answer, <sip:+15550100008@carrier.example>`,
			"History-Info: <sip:+15550100008@carrier.example>;index=1"))
		res := p.response(200, "INVITE")
		p.toTag = res.To().Params.GetOr("tag", "")
		p.write(p.request("ACK", ""))
		p.next(200, "BYE", "")
		o := wait(t, results, "end of the call")
		if o.err != nil {
			t.Fatal(o.err)
		}
		h := o.in.Headers
		if want := map[string]string{"X-Customer-Id": "42", "User-to-User": "Order 42."}; !maps.Equal(h.Custom, want) {
			t.Errorf("headers %q", h.Custom)
		}
		if !o.in.Trusted || h.Attestation != "A" || h.OrigID != "123e4567-e89b-12d3-a456-426655440000" {
			t.Errorf("attested %q from %q", h.Attestation, h.OrigID)
		}
		if len(h.Diversions) != 2 || h.Diversions[0] != (header.Diversion{By: header.Identity{Number: "+15550100009", Host: "carrier.example", Display: "Desk"}, Reason: "no-answer"}) ||
			h.DivertedBy(o.in.Called) != "+15550100009" || h.FirstCalled(o.in.Called) != "+15550100008" || len(h.History) != 1 {
			t.Errorf("%+v", h)
		}
	})
}

// TestHeadersOfACall: a call that is placed carries what it is given, and nothing that the trunk sends in another way, or
// that would be a header of its own.
func TestHeadersOfACall(t *testing.T) {
	c := newCallee(t)
	ua := serve(t, sip.Config{Trunks: []trunk.Config{{Name: "carrier", Targets: []trunk.Target{c.target()}, Flags: trunk.NoProbe,
		Headers: map[string]string{"X-Token": "5ec2e7"}}}})
	var trace transport.Trace
	invite := c.take(t, dial(t, ua, t.Context(), sip.Target{Number: number, Trace: &trace, Headers: map[string]string{"x-customer-id": " 42 ", "X-TOKEN": "stolen",
		"User-to-User": "Order 42.", "X-Two": "a\r\nFrom: <sip:1@h>", "Privacy": "id", "X-Long": strings.Repeat("a", header.MaxValue+1)}}))
	for name, want := range map[string]string{"X-Customer-Id": "42", "X-Token": "5ec2e7", "User-to-User": "4f726465722034322e;encoding=hex"} {
		if hs := invite.GetHeaders(name); len(hs) != 1 || hs[0].Value() != want {
			t.Errorf("%s: %v, want %s", name, hs, want)
		}
	}
	for _, name := range []string{"Privacy", "X-Two", "X-Long"} {
		if h := invite.GetHeader(name); h != nil {
			t.Errorf("sent %s", h)
		}
	}
	list, _ := trace.Messages()
	for _, m := range list {
		if strings.Contains(m.Text, "5ec2e7") || strings.Contains(m.Text, "stolen") {
			t.Errorf("kept\n%s", m.Text)
		}
	}
}
