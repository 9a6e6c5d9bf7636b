package sip_test

import (
	"net/netip"
	"strconv"
	"testing"

	"parley/sip"
	"parley/sip/header"
	"parley/sip/trunk"
)

// An address is called at the one of a trunk's targets that it names, and its user is as it is written: the way in which the trunk
// writes numbers is not for it. A trunk does not lead elsewhere, nor does another account's.
func TestAddressOnATrunk(t *testing.T) {
	first, second := newCallee(t), newCallee(t)
	ua := serve(t, sip.Config{Trunks: []trunk.Config{
		{Name: "others", Account: "b", Targets: []trunk.Target{second.target()}, Flags: trunk.NoProbe},
		{Name: "pbx", Account: "a", Targets: []trunk.Target{first.target(), second.target()}, Flags: trunk.NoProbe | trunk.UserPhone,
			Plan: trunk.DialPlan{Country: "DE", Form: trunk.FormNational, DialPrefix: "77"}},
	}})
	at := "@127.0.0.1:" + strconv.Itoa(int(second.port()))
	invite := second.take(t, dial(t, ua, t.Context(), sip.Target{Trunk: "pbx", URI: "sip:200" + at, From: header.Identity{Number: "+493412345"}}))
	if got := invite.Recipient.String(); got != "sip:200"+at {
		t.Errorf("called was %s", got)
	}
	if from := invite.From().Address.User; from != "03412345" {
		t.Errorf("from %s", from)
	}
	first.untouched(t)

	for _, uri := range []string{"sip:200@127.0.0.9", "sip:200" + at + ";transport=tcp", "sip:200@127.0.0.1:1", "tel:200", "200"} {
		if _, err := ua.Dial(t.Context(), sip.Target{Trunk: "pbx", URI: uri}); err == nil {
			t.Errorf("%s was called", uri)
		}
	}
	if _, err := ua.Dial(t.Context(), sip.Target{Trunk: "gone", URI: "sip:200" + at}); err == nil {
		t.Error("called on a trunk that there is not")
	}

	for _, tt := range []struct {
		account string
		to      trunk.Target
		want    string
	}{
		{"a", trunk.Target{Host: "127.0.0.1", Port: second.port()}, "pbx"}, {"a", trunk.Target{Host: "127.0.0.1", Port: first.port(), Transport: "udp"}, "pbx"},
		{"b", trunk.Target{Host: "127.0.0.1", Port: second.port()}, "others"}, {"b", trunk.Target{Host: "127.0.0.1"}, "others"},
		{"b", trunk.Target{Host: "127.0.0.1", Port: first.port()}, ""}, {"c", trunk.Target{Host: "127.0.0.1"}, ""}, {"", trunk.Target{Host: "127.0.0.1"}, ""},
		{"a", trunk.Target{Host: "127.0.0.1", Transport: "tls"}, ""}, {"a", trunk.Target{Host: "pbx.example.com"}, ""},
	} {
		if got, ok := ua.TrunkTo(tt.account, tt.to); got.Name != tt.want || ok != (tt.want != "") {
			t.Errorf("%+v: %q, %t", tt, got.Name, ok)
		}
	}
}

// The usual ports are those of addresses and targets without one, and names are the same in capitals.
func TestLeads(t *testing.T) {
	t.Parallel()
	c := trunk.Config{Targets: []trunk.Target{{Host: "PBX.example.com"}, {Host: "sbc.example.com", Transport: "tls"}, {Host: "2001:db8::7", Port: 5080, Transport: "tcp"}}}
	for _, tt := range []struct {
		to   trunk.Target
		want bool
	}{
		{trunk.Target{Host: "pbx.example.com"}, true}, {trunk.Target{Host: "pbx.example.com", Port: 5060}, true}, {trunk.Target{Host: "pbx.example.com", Port: 5061}, false},
		{trunk.Target{Host: "sbc.example.com"}, true}, {trunk.Target{Host: "sbc.example.com", Port: 5061, Transport: "tls"}, true}, {trunk.Target{Host: "sbc.example.com", Port: 5060}, false},
		{trunk.Target{Host: "sbc.example.com", Transport: "udp"}, false}, {trunk.Target{Host: "2001:db8::7", Port: 5080}, true}, {trunk.Target{Host: "example.com"}, false},
	} {
		if got := c.Leads(tt.to); got != tt.want {
			t.Errorf("%+v: %t", tt.to, got)
		}
	}
}

// The far end is asked to call an address in our place where it finds that, as it is written.
func TestTransferToAnAddress(t *testing.T) {
	pbx := trunk.Config{Name: "pbx", Account: "a", Flags: trunk.Refer | trunk.NoProbe, Allow: []netip.Prefix{netip.PrefixFrom(loopback, 8)},
		Targets: []trunk.Target{{Host: "pbx.example.com", Transport: "tcp"}}, Plan: trunk.DialPlan{DialPrefix: "77"}}
	timed(t, sip.Config{Trunks: []trunk.Config{pbx}}, func(t *testing.T, _ *sip.Hands, ua *sip.UserAgent, legs chan *sip.Leg, network string) {
		c, l := arrive(t, newPeer(t, ua, network), legs)
		const address = "sip:200@pbx.example.com;transport=tcp"
		if !l.leg.Leads(address) || l.leg.Leads("sip:200@elsewhere.example.com") || l.leg.Leads("+34911234567") {
			t.Error("the trunk leads elsewhere")
		}
		refer, done := transferring(t, t.Context(), c, l, address)
		if refer != "<"+address+">" {
			t.Errorf("Refer-To %s", refer)
		}
		c.answer(c.refer, 202, "")
		c.notify(200, "terminated", "200 OK")
		if err := wait(t, done, "outcome"); err != nil {
			t.Errorf("got %v", err)
		}
		l.finish(c)
	})
}
