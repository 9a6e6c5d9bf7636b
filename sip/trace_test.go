package sip_test

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/media/srtp"
	"parley/sip"
	"parley/sip/sdp"
	"parley/sip/transport"
	"parley/sip/trunk"
)

// story is the first lines of a trace, short: < for what came, > for what was sent.
// They are sorted: on loopback the answer to a message may be there before the
// message itself counts as written.
func story(list []transport.TraceMessage) string {
	var s []string
	for _, m := range list {
		first, _, _ := strings.Cut(m.Text, "\r\n")
		f := strings.Fields(first)
		word := f[0]
		if word == "SIP/2.0" {
			word = f[1]
		}
		s = append(s, map[bool]string{true: ">", false: "<"}[m.Sent]+word)
	}
	slices.Sort(s)
	return strings.Join(s, " ")
}

// sorted is a story as one would tell it, in the order of story.
func sorted(told string) string {
	s := strings.Fields(told)
	slices.Sort(s)
	return strings.Join(s, " ")
}

// Every message of a call is kept with its time, way and addresses, and without
// the secrets in it.
func TestTrace(t *testing.T) {
	for _, network := range []string{"udp", "tcp"} {
		t.Run(network, func(t *testing.T) {
			results := make(chan outcome, 1)
			ua := serve(t, sip.Config{OnCall: answering(results), SRTP: sdp.SRTPOffered})
			p := newPeer(t, ua, network)
			key := srtp.NewKey(srtp.AESHMAC80).Inline(srtp.AESHMAC80)
			offer := p.offer("k=clear:5ec2e7", "a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:"+key)
			before := time.Now()
			p.write(p.request("INVITE", offer, `Authorization: Digest username="ann", response="5ec2e7"`+"\r\n , opaque=5ec2e7",
				"proxy-authorization: Basic 5ec2e7", `Authentication-Info: rspauth="5ec2e7"`, "Call-Info: <sip:ann:5ec2e7@127.0.0.1>"))
			res := p.response(200, "INVITE")
			p.toTag = res.To().Params.GetOr("tag", "")
			p.write(p.request("ACK", ""))
			p.next(200, "INFO", "Signal=7\r\nDuration=100\r\n", "Content-Type: application/dtmf-relay")
			p.next(200, "BYE", "")
			o := wait(t, results, "end of the call")
			if o.err != nil {
				t.Fatal(o.err)
			}
			eventually(t, "the call is over", func() bool { return ua.Stats().Calls == 0 })
			list, dropped := o.in.Trace().Messages()
			if got, want := story(list), sorted("<INVITE >100 >180 >200 <ACK <INFO >200 <BYE >200"); got != want || dropped != 0 {
				t.Errorf("kept %s, dropped %d; want %s", got, dropped, want)
			}
			ours, theirs := ua.Addr().String(), p.local().String()
			last := before
			for _, m := range list {
				from, to := theirs, ours
				if m.Sent {
					from, to = ours, theirs
				}
				if m.From != from || m.To != to || m.Transport != strings.ToUpper(network) || m.At.Before(last) {
					t.Errorf("%s from %s to %s over %s at %v", story([]transport.TraceMessage{m}), m.From, m.To, m.Transport, m.At)
				}
				last = m.At
				for _, secret := range []string{"5ec2e7", key, "Signal=7"} {
					if strings.Contains(m.Text, secret) {
						t.Errorf("%q can be read in\n%s", secret, m.Text)
					}
				}
				if strings.Contains(m.Text, "inline:") && !strings.Contains(m.Text, "inline:[masked]\r\n") {
					t.Errorf("a key can be read in\n%s", m.Text)
				}
			}
			if first := list[0].Text; !strings.Contains(first, "Call-ID: "+p.callID) || !strings.Contains(first, "m=audio") ||
				!strings.Contains(first, "ann:[masked]@127.0.0.1") || strings.Count(first, "uthorization: [masked]") != 2 {
				t.Errorf("the INVITE is kept as\n%s", first)
			}
		})
	}
}

// The two ends of a call that are both ours have each their own, and a caller gets
// that of a call that is not answered.
func TestTraceOfBothEnds(t *testing.T) {
	for _, network := range []string{"udp", "tcp"} {
		results := make(chan outcome, 2)
		callee := serve(t, sip.Config{OnCall: answering(results)})
		caller := serve(t, sip.Config{})
		uri := fmt.Sprintf("sip:+15550100002@%s;transport=%s", callee.Addr(), network)
		var trace transport.Trace
		leg, err := caller.Dial(t.Context(), sip.Target{URI: uri, Trace: &trace})
		if err != nil {
			t.Fatal(err)
		}
		if leg.Trace() != &trace {
			t.Error("the leg has another trace")
		}
		ctx, stop := context.WithCancel(t.Context())
		stop()
		_ = leg.Run(ctx)
		wait(t, trace.Over(), "end of the signalling")
		in := wait(t, results, "end of the call").in
		list, _ := trace.Messages()
		if got, want := story(list), sorted(">INVITE <100 <180 <200 >ACK >BYE <200"); got != want {
			t.Errorf("%s: the caller keeps %s, want %s", network, got, want)
		}
		eventually(t, "the call is over", func() bool { return callee.Stats().Calls == 0 })
		list, _ = in.Trace().Messages()
		if got, want := story(list), sorted("<INVITE >100 >180 >200 <ACK <BYE >200"); got != want {
			t.Errorf("%s: the callee keeps %s, want %s", network, got, want)
		}
	}
	callee := serve(t, sip.Config{OnCall: func(_ context.Context, in *sip.Incoming) { in.Reject(486, "", 0) }})
	caller := serve(t, sip.Config{})
	var trace transport.Trace
	if _, err := caller.Dial(t.Context(), sip.Target{URI: "sip:1@" + callee.Addr().String(), Trace: &trace}); err == nil {
		t.Fatal("a busy callee answers")
	}
	list, _ := trace.Messages()
	if got := story(list); got != sorted(">INVITE <100 <486") && got != sorted(">INVITE <100 <486 >ACK") {
		t.Errorf("kept %s of a refused call", got)
	}
}

// A far end cannot make us keep more than a bound.
func TestTraceIsBounded(t *testing.T) {
	results := make(chan outcome, 1)
	ua := serve(t, sip.Config{OnCall: answering(results)})
	p := newPeer(t, ua, "udp")
	p.call()
	for range 150 {
		p.next(200, "OPTIONS", "")
	}
	p.next(200, "BYE", "")
	list, dropped := wait(t, results, "end of the call").in.Trace().Messages()
	if len(list) != 200 || len(list)+dropped < 300 || !strings.Contains(story(list[190:]), "<BYE") {
		t.Errorf("kept %d messages and dropped %d, at last %s", len(list), dropped, story(list[190:]))
	}
}

func TestTraceIsBoundedInBytes(t *testing.T) {
	results := make(chan outcome, 1)
	ua := serve(t, sip.Config{OnCall: answering(results)})
	p := newPeer(t, ua, "udp")
	p.call()
	for range 60 {
		p.next(200, "OPTIONS", "", "X-Long: "+strings.Repeat("x", 5000))
	}
	p.next(200, "BYE", "")
	list, dropped := wait(t, results, "end of the call").in.Trace().Messages()
	size := 0
	for _, m := range list {
		size += len(m.Text)
	}
	if size > 128<<10 || size < 100<<10 || dropped == 0 || len(list)+dropped < 120 {
		t.Errorf("kept %d messages of %d bytes and dropped %d", len(list), size, dropped)
	}
}

// A user agent on every interface says which of its addresses the far end saw.
func TestTraceOnEveryInterface(t *testing.T) {
	callee := serve(t, sip.Config{OnCall: func(_ context.Context, in *sip.Incoming) { in.Reject(486, "", 0) }})
	caller := serve(t, sip.Config{Listen: netip.AddrPortFrom(netip.IPv4Unspecified(), 0)})
	var trace transport.Trace
	if _, err := caller.Dial(t.Context(), sip.Target{URI: "sip:1@" + callee.Addr().String(), Trace: &trace}); err == nil {
		t.Fatal("a busy callee answers")
	}
	ours := netip.AddrPortFrom(loopback, caller.Addr().Port()).String()
	list, _ := trace.Messages()
	for _, m := range list {
		from, to := callee.Addr().String(), ours
		if m.Sent {
			from, to = to, from
		}
		if m.From != from || m.To != to {
			t.Errorf("%s from %s to %s, want %s to %s", story([]transport.TraceMessage{m}), m.From, m.To, from, to)
		}
	}
}

// What the operator has a trunk's calls carry is not shown to whoever placed them.
func TestTraceHidesTheTrunksHeaders(t *testing.T) {
	c := newCallee(t)
	ua := serve(t, sip.Config{Trunks: []trunk.Config{{Name: "carrier", Targets: []trunk.Target{c.target()}, Flags: trunk.NoProbe,
		Headers: map[string]string{"X-Telnyx-Token": "5ec2e7"}}}})
	var trace transport.Trace
	invite := c.take(t, dial(t, ua, t.Context(), sip.Target{Number: number, Trace: &trace}))
	if h := invite.GetHeader("X-Telnyx-Token"); h == nil || h.Value() != "5ec2e7" {
		t.Errorf("sent\n%s", invite)
	}
	list, _ := trace.Messages()
	var all strings.Builder // on loopback an answer may stand before its question
	for _, m := range list {
		all.WriteString(m.Text)
	}
	if text := all.String(); strings.Contains(text, "5ec2e7") || strings.Count(text, "X-Telnyx-Token: [masked]\r\n") != 1 {
		t.Errorf("kept\n%s", text)
	}
}
