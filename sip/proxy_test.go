package sip_test

import (
	"context"
	"net/netip"
	"strings"
	"testing"

	gosip "github.com/emiago/sipgo/sip"

	"parley/media"
	"parley/sip"
	"parley/sip/dialog"
	"parley/sip/header"
	"parley/sip/trunk"
)

// routes are the Route headers of a request.
func routes(r *gosip.Request) string {
	var all []string
	for _, h := range r.GetHeaders("route") {
		all = append(all, h.Value())
	}
	return strings.Join(all, ", ")
}

// TestOutboundProxy: what goes to a trunk's target goes to the proxy, with a Route to it and the target in the Request-URI:
// OPTIONS, REGISTER and INVITE, also with credentials, and what follows an INVITE hop by hop. Once a call is answered, its
// Record-Route decides alone (RFC 3261 section 12.1.2).
func TestOutboundProxy(t *testing.T) {
	t.Parallel()
	c := newCallee(t)
	ua := serve(t, sip.Config{Trunks: []trunk.Config{{Name: "carrier", Targets: []trunk.Target{{Host: "sip.carrier.example", Port: 5080}}, Proxy: c.target(),
		Auth: dialog.Credentials{Username: "me", Password: "p"}, Flags: trunk.Register}}})
	self := c.conn.LocalAddr().String()
	through := func(method, uri string) {
		t.Helper()
		r := c.expect(method)
		if routes(r) != "<sip:"+self+";lr>" || r.Recipient.String() != uri {
			t.Errorf("%s %s has the Route %q", method, r.Recipient.String(), routes(r))
		}
	}
	const registrar, callee = "sip:sip.carrier.example:5080", "sip:" + number + "@sip.carrier.example:5080"
	through("OPTIONS", registrar)
	c.answer("OPTIONS", 200, "far", "")
	through("REGISTER", registrar)
	c.answer("REGISTER", 401, "far", "", `WWW-Authenticate: Digest realm="r", nonce="n", algorithm=MD5`)
	eventually(t, "it shows credentials", func() bool {
		through("REGISTER", registrar)
		return c.last["REGISTER"].GetHeader("Authorization") != nil
	})
	c.answer("REGISTER", 200, "far", "", "Expires: 600")
	eventually(t, "it is registered", func() bool { return registered(ua) })

	ctx, giveUp := context.WithCancel(t.Context())
	result := dial(t, ua, ctx, sip.Target{Number: number})
	through("INVITE", callee)
	c.answer("INVITE", 180, "one", "")
	giveUp()
	through("CANCEL", callee)
	c.answer("CANCEL", 200, "one", "")
	c.answer("INVITE", 487, "one", "")
	through("ACK", callee)
	if d := wait(t, result, "end of the call"); d.err == nil {
		t.Error("a call that was given up is answered")
	}

	for _, record := range []string{"", "<sip:" + self + ";lr;x=1>"} {
		result := dial(t, ua, t.Context(), sip.Target{Number: number})
		through("INVITE", callee)
		var headers []string
		if record != "" {
			headers = []string{"Record-Route: " + record}
		}
		c.answer("INVITE", 200, "two", calleeSDP, headers...)
		inside := func(method string) {
			t.Helper()
			if r := c.expect(method); routes(r) != record || r.Recipient.User != "callee" {
				t.Errorf("%s %s has the Route %q, want %q", method, r.Recipient.String(), routes(r), record)
			}
		}
		inside("ACK")
		d := wait(t, result, "answer")
		if d.err != nil {
			t.Fatal(d.err)
		}
		call := last(d.leg)
		call.end(&media.Ended{Reason: media.AgentHangup})
		inside("BYE")
		c.answer("BYE", 200, "two", "")
		if err := wait(t, call.ended, "end of the call"); err != nil {
			t.Error(err)
		}
	}
}

// TestShownAddress: on a trunk with an address and a name of its own, far ends see these, also of calls that come in; we listen
// where we did.
func TestShownAddress(t *testing.T) {
	t.Parallel()
	const public, name = "203.0.113.9", "voice.example.com"
	for _, host := range []string{"", name} {
		c, results := newCallee(t), make(chan outcome, 1)
		ua := serve(t, sip.Config{OnCall: answering(results), Trunks: []trunk.Config{{Name: "carrier", Targets: []trunk.Target{c.target()}, PublicIP: netip.MustParseAddr(public), ContactHost: host,
			Allow: []netip.Prefix{netip.PrefixFrom(loopback, 32)}, Flags: trunk.PAI}}})
		contact := host
		if host == "" {
			contact = public
		}
		shows := func(m gosip.Message, contacts *gosip.ContactHeader) {
			t.Helper()
			if contacts == nil || contacts.Address.Host != contact || contacts.Address.Port != int(ua.Addr().Port()) {
				t.Errorf("the Contact is %v", contacts)
			}
			if body := string(m.Body()); body != "" && (!strings.Contains(body, "c=IN IP4 "+public+"\r\n") || strings.Contains(body, "127.0.0.1")) {
				t.Errorf("the audio is described as\n%s", body)
			}
		}
		options := c.expect("OPTIONS")
		shows(options, options.Contact())
		c.answer("OPTIONS", 200, "far", "")
		result := dial(t, ua, t.Context(), sip.Target{Number: number, From: header.Identity{Number: "+15550100001"}})
		invite := c.expect("INVITE")
		shows(invite, invite.Contact())
		if via := invite.Via(); via.Host != public || invite.From().Address.Host != public || !strings.Contains(value(invite, "P-Asserted-Identity"), "@"+public+">") {
			t.Errorf("the INVITE is\n%s", invite.String())
		}
		c.answer("INVITE", 200, "one", calleeSDP)
		c.expect("ACK")
		hang(t, c, wait(t, result, "answer"))

		p := newPeer(t, ua, "udp")
		res := p.call()
		shows(res, res.Contact())
		p.hangup(results)
	}
}
