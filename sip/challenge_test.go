package sip_test

import (
	"context"
	"strings"
	"testing"

	gosip "github.com/emiago/sipgo/sip"

	"parley/sip"
)

// challenge asks for credentials once and returns the request that has them.
func (c *called) challenge(method, nonce string) *gosip.Request {
	c.t.Helper()
	first := c.expect(method)
	c.answer(first, 407, "", `Proxy-Authenticate: Digest realm="far", nonce="`+nonce+`", algorithm=MD5, qop="auth"`)
	second := c.expect(method)
	if got := value(second, "Proxy-Authorization"); !strings.Contains(got, `nonce="`+nonce+`"`) || !strings.Contains(got, `username="12345"`) {
		c.t.Errorf("%s without credentials: %q", method, got)
	}
	if second.CSeq().SeqNo <= first.CSeq().SeqNo || second.CallID().Value() != first.CallID().Value() ||
		string(second.Body()) != string(first.Body()) {
		c.t.Errorf("%s\n%s", method, second)
	}
	return second
}

// Every request of a call meets a challenge, and the ACK of a 2xx has the
// credentials and the CSeq of the INVITE that it belongs to.
func TestChallengesInsideACall(t *testing.T) {
	timed(t, sip.Config{}, func(t *testing.T, h *sip.Hands, ua *sip.UserAgent, _ chan *sip.Leg, network string) {
		c := newCalled(t, ua, network)
		result := dial(t, ua, context.Background(), sip.Target{URI: c.uri, Auth: sippUser})
		invite := c.rung()
		c.answer(invite, 183, c.offer(), "Require: 100rel", "RSeq: 1", "Allow: INVITE, UPDATE")
		c.answer(c.challenge("PRACK", "one"), 200, "")
		c.answer(invite, 200, "")
		if ack := c.expect("ACK"); ack.CSeq().SeqNo != invite.CSeq().SeqNo {
			t.Errorf("ACK\n%s", ack)
		}
		l := last(wait(t, result, "answer").leg)
		due(t, h, half)
		c.answer(c.challenge("UPDATE", "two"), 200, "", "Allow: INVITE, ACK, BYE")

		due(t, h, half)
		again := c.challenge("INVITE", "three")
		c.answer(again, 200, c.offer())
		for {
			ack := c.expect("ACK")
			if ack.CSeq().SeqNo < again.CSeq().SeqNo {
				continue // of the refused one
			}
			if ack.CSeq().SeqNo != again.CSeq().SeqNo || value(ack, "Proxy-Authorization") == "" {
				t.Errorf("ACK\n%s", ack)
			}
			break
		}
		transferred := make(chan error, 1)
		go func() { transferred <- l.leg.Transfer(t.Context(), "tel:+15550100077") }()
		c.answer(c.challenge("REFER", "four"), 202, "")
		c.notify(200, "terminated", "200 OK")
		if err := wait(t, transferred, "outcome"); err != nil {
			t.Error(err)
		}
		l.end(nil)
		c.confirm(c.challenge("BYE", "five"))
		if err := wait(t, l.ended, "end"); err != nil {
			t.Error(err)
		}
	})
}
