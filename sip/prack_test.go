package sip_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	gosip "github.com/emiago/sipgo/sip"

	"parley/sip"
)

// Reliable provisional responses of two telephones of a forked call: each is
// confirmed in its own dialog and order, the ACK has the INVITE's CSeq, and who
// answers second is hung up on.
func TestReliableRingingOfAFork(t *testing.T) {
	both(t, func(t *testing.T, network string) {
		ua := serve(t, sip.Config{})
		c := newCalled(t, ua, network)
		rings := make(chan int, 16)
		result := dial(t, ua, context.Background(), sip.Target{URI: c.uri, Ringing: func(code int) { rings <- code }})
		invite := c.rung()
		if !strings.Contains(value(invite, "Supported"), "100rel") {
			t.Errorf("Supported %q", value(invite, "Supported"))
		}
		ring := func(tag string, rseq int, body string) {
			c.tag = tag
			c.answer(invite, 183, body, "Require: 100rel", fmt.Sprint("RSeq: ", rseq))
			wait(t, rings, "ringing") // taken, before the next one can overtake it
		}
		prack := func(tag string, rseq int) {
			t.Helper()
			r := c.expect("PRACK")
			if got, want := value(r, "RAck"), fmt.Sprintf("%d %d INVITE", rseq, invite.CSeq().SeqNo); got != want {
				t.Errorf("RAck %q, want %q", got, want)
			}
			if got := r.To().Params.GetOr("tag", ""); got != tag || r.CSeq().SeqNo <= invite.CSeq().SeqNo {
				t.Errorf("PRACK for %s\n%s", tag, r)
			}
			c.confirm(r)
		}
		ring("one", 700, "")
		prack("one", 700)
		ring("one", 700, "") // its PRACK is under way
		ring("one", 702, "") // one is missing before it
		ring("one", 701, c.offer())
		prack("one", 701)
		ring("two", 5, c.offerAt(9))
		prack("two", 5)
		// An early UPDATE moves the announcement, where there is an answer already.
		c.tag = "one"
		if res := c.next(200, "UPDATE", c.offer()); !strings.Contains(string(res.Body()), "m=audio") {
			t.Errorf("answered\n%s", res)
		}
		c.next(200, "UPDATE", "")
		c.next(481, "BYE", "")
		c.tag = "stranger"
		c.next(481, "UPDATE", "")

		c.tag = "one"
		c.answer(invite, 200, "") // the description came before
		ack := c.expect("ACK")
		if ack.CSeq().SeqNo != invite.CSeq().SeqNo || ack.To().Params.GetOr("tag", "") != "one" {
			t.Errorf("ACK\n%s", ack)
		}
		l := last(wait(t, result, "answer").leg)
		heard(t, c.rtp)
		c.tag = "two"
		c.answer(invite, 200, c.offer())
		if ack = c.expect("ACK"); ack.To().Params.GetOr("tag", "") != "two" {
			t.Errorf("ACK\n%s", ack)
		}
		bye := c.expect("BYE")
		if bye.To().Params.GetOr("tag", "") != "two" || bye.CSeq().SeqNo < 5 {
			t.Errorf("BYE\n%s", bye)
		}
		c.confirm(bye)
		c.tag = "one"
		c.next(200, "OPTIONS", "")
		l.finish(c)
	})
}

// Before our offer has its answer, an early offer has to wait.
func TestEarlyOfferBeforeAnAnswer(t *testing.T) {
	both(t, func(t *testing.T, network string) {
		ua := serve(t, sip.Config{})
		c := newCalled(t, ua, network)
		rings := make(chan int, 1)
		result := dial(t, ua, context.Background(), sip.Target{URI: c.uri, Ringing: func(code int) { rings <- code }})
		invite := c.rung()
		c.answer(invite, 180, "")
		wait(t, rings, "ringing")
		c.next(491, "UPDATE", c.offer())
		c.answer(invite, 200, c.offer())
		c.expect("ACK")
		last(wait(t, result, "answer").leg).finish(c)
	})
}

// rungReliably reads the 180 of a caller that requires 100rel.
func (p *peer) rungReliably() (rack string, res *gosip.Response) {
	p.t.Helper()
	res = p.response(180, "INVITE")
	if value(res, "Require") != "100rel" || value(res, "RSeq") == "" {
		p.t.Errorf("180 is not reliable:\n%s", res)
	}
	p.toTag = res.To().Params.GetOr("tag", "")
	return fmt.Sprintf("RAck: %s %d INVITE", value(res, "RSeq"), res.CSeq().SeqNo), res
}

// ringingUntil is a handler that rings and answers when told.
func ringingUntil(t *testing.T, go_ <-chan struct{}, results chan<- outcome) func(context.Context, *sip.Incoming) {
	return func(ctx context.Context, in *sip.Incoming) {
		if err := in.Ring(); err != nil {
			results <- outcome{in, err}
			return
		}
		select {
		case <-go_:
		case <-ctx.Done():
		}
		leg, err := in.Answer(ctx)
		if err == nil {
			err = conduct(ctx, leg, nil)
		}
		results <- outcome{in, err}
	}
}

// Who requires it hears the ringing again and again until it confirms.
func TestReliableRinging(t *testing.T) {
	both(t, func(t *testing.T, network string) {
		results, answer := make(chan outcome, 1), make(chan struct{})
		ua := serve(t, sip.Config{T1: 20 * time.Millisecond, OnCall: ringingUntil(t, answer, results)})
		p := newPeer(t, ua, network)
		p.write(p.request("INVITE", p.offer(), "Require: 100rel", "Supported: 100rel"))
		rack, _ := p.rungReliably()
		if again, _ := p.rungReliably(); again != rack {
			t.Errorf("repeated as %s, was %s", again, rack)
		}
		p.next(481, "PRACK", "", "RAck: 1 1 INVITE")
		p.next(491, "PRACK", p.offer(), rack)
		p.next(200, "PRACK", "", rack)
		p.next(481, "PRACK", "", rack)
		p.next(200, "UPDATE", "")
		p.next(500, "UPDATE", p.offer())
		p.next(200, "OPTIONS", "")
		close(answer)
		seq := p.seq
		p.seq = 1
		if res := p.response(200, "INVITE"); !strings.Contains(string(res.Body()), "m=audio") {
			t.Errorf("answered\n%s", res)
		}
		p.write(p.request("ACK", ""))
		p.seq = seq
		p.hangup(results)
	})
}

// Without an offer in the INVITE ours comes with the first reliable response, and
// the answer with its PRACK (RFC 3262 section 5).
func TestReliableRingingWithALateOffer(t *testing.T) {
	both(t, func(t *testing.T, network string) {
		results, answer := make(chan outcome, 1), make(chan struct{})
		close(answer) // at once: it has to wait for the PRACK
		ua := serve(t, sip.Config{OnCall: ringingUntil(t, answer, results)})
		p := newPeer(t, ua, network)
		p.write(p.request("INVITE", "", "Require: 100rel"))
		rack, res := p.rungReliably()
		if !strings.Contains(string(res.Body()), "RTP/AVP 9 0 8 101") {
			t.Errorf("no offer:\n%s", res)
		}
		p.seq++
		p.write(p.request("PRACK", strings.Replace(p.offer(), "0 8 101", "8", 1), rack))
		p.response(200, "PRACK")
		res = p.response(200, "INVITE")
		if len(res.Body()) > 0 {
			t.Errorf("a second offer:\n%s", res)
		}
		p.seq = 1
		p.write(p.request("ACK", ""))
		p.seq = 2
		heard(t, p.rtp)
		p.hangup(results)
	})
}

// A caller that never confirms the ringing is refused.
func TestReliableRingingUnconfirmed(t *testing.T) {
	both(t, func(t *testing.T, network string) {
		results := make(chan outcome, 1)
		ua := serve(t, sip.Config{T1: 2 * time.Millisecond, OnCall: ringingUntil(t, nil, results)})
		p := newPeer(t, ua, network)
		p.write(p.request("INVITE", p.offer(), "Require: 100rel"))
		p.response(504, "INVITE")
		eventually(t, "nothing left", func() bool { s := ua.Stats(); return s.Calls == 0 && s.Ringing == 0 })
	})
}

// A gateway that describes the call while it rings and answers under another tag,
// without a description, means the same call.
func TestGatewayChangesItsTag(t *testing.T) {
	both(t, func(t *testing.T, network string) {
		ua := serve(t, sip.Config{})
		c := newCalled(t, ua, network)
		rings := make(chan int, 1)
		result := dial(t, ua, context.Background(), sip.Target{URI: c.uri, Ringing: func(code int) { rings <- code }})
		invite := c.rung()
		c.answer(invite, 183, c.offer())
		wait(t, rings, "ringing")
		c.tag = "another"
		c.answer(invite, 200, "")
		c.expect("ACK")
		l := last(wait(t, result, "answer").leg)
		heard(t, c.rtp)
		l.finish(c)
	})
}
