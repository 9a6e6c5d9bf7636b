package sip_test

import (
	"net/netip"
	"strings"
	"testing"

	"parley/sip"
	"parley/sip/header"
	"parley/sip/trunk"
)

// A trunk's way to write numbers holds in both directions, and its extensions are no numbers.
func TestDialPlan(t *testing.T) {
	results := make(chan outcome, 1)
	c := newCallee(t)
	plan := trunk.DialPlan{Country: "DE", Strip: 1, Form: trunk.FormNational, DialPrefix: "77", Extensions: []trunk.Extension{{Match: "1xx", Agent: "helper"}, {Match: "*", Agent: "rest"}}}
	ua := serve(t, sip.Config{OnCall: answering(results), Trunks: []trunk.Config{{Name: "pbx", Account: "acc", Allow: []netip.Prefix{netip.PrefixFrom(loopback, 32)},
		Targets: []trunk.Target{c.target()}, Plan: plan, Numbers: []string{"+4934112345678"}, Flags: trunk.NoProbe | trunk.PAI}}})
	caller := serve(t, sip.Config{})
	for dialled, want := range map[string]sip.Incoming{
		"9034112345678": {Called: "+4934112345678", Extension: "rest"},
		"90301234567":   {Called: "+49301234567", Extension: "rest"},
		"101":           {Called: "01", Extension: "helper"},
		"lola":          {Called: "ola", Extension: "rest"},
	} {
		leg, err := caller.Dial(t.Context(), sip.Target{URI: "sip:" + dialled + "@" + ua.Addr().String(), From: header.Identity{Number: "030123456"}})
		if err != nil {
			t.Fatal(err)
		}
		ended := hangup(leg)
		o := wait(t, results, "end of the call")
		if o.err != nil || o.in.User != dialled || o.in.Called != want.Called || o.in.Extension != want.Extension || o.in.From.Number != "+4930123456" || o.in.Account != "acc" {
			t.Errorf("%s: called %q, extension %q, from %q of %q, %v", dialled, o.in.Called, o.in.Extension, o.in.From.Number, o.in.Account, o.err)
		}
		wait(t, ended, "goodbye")
	}

	invite := c.take(t, dial(t, ua, t.Context(), sip.Target{Trunk: "pbx", Number: "+493098765432", From: header.Identity{Number: "+4934112345678"}}))
	identity := invite.GetHeader("P-Asserted-Identity").Value()
	if got := invite.Recipient.User; got != "7703098765432" {
		t.Errorf("dialled %s", got)
	}
	if from := invite.From().Address.User; from != "034112345678" || !strings.Contains(identity, "sip:034112345678@") {
		t.Errorf("from %s, identity %s", from, identity)
	}
}
