package sip_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	gosip "github.com/emiago/sipgo/sip"

	"parley/media"
	"parley/sip"
)

const half, full = 900 * time.Second, 1800 * time.Second

// lapsed is when the end that waits for a refresh gives a session of full up.
const lapsed = full - 32*time.Second

// timed runs a test with a user agent whose clock the test turns.
func timed(t *testing.T, cfg sip.Config, f func(t *testing.T, h *sip.Hands, ua *sip.UserAgent, legs chan *sip.Leg, network string)) {
	both(t, func(t *testing.T, network string) {
		h, legs := sip.NewHands(), make(chan *sip.Leg, 1)
		cfg := h.On(cfg)
		cfg.OnCall = taking(t, legs)
		f(t, h, serve(t, cfg), legs, network)
	})
}

// confirmed waits until an ACK has reached the call: nothing of ours is sent before.
func confirmed(p *peer) {
	p.t.Helper()
	p.next(200, "OPTIONS", "")
}

func lost(t *testing.T, l *lasting) {
	t.Helper()
	var e *media.Ended
	if err := wait(t, l.ended, "end of the call"); !errors.As(err, &e) || e.Reason != media.Failed || e.Detail != "session_expired" {
		t.Errorf("ended with %v", err)
	}
}

// We refresh a call that came in, by UPDATE when the caller takes it, and end it
// when a refresh is not answered.
func TestSessionRefreshedByUs(t *testing.T) {
	timed(t, sip.Config{T1: 5 * time.Millisecond}, func(t *testing.T, h *sip.Hands, ua *sip.UserAgent, legs chan *sip.Leg, network string) {
		p := newPeer(t, ua, network)
		p.write(p.request("INVITE", p.offer(), "Supported: replaces, timer", "Session-Expires: 1800;refresher=uas", "Allow: INVITE, ACK, BYE, UPDATE"))
		res := p.response(200, "INVITE")
		if got := value(res, "Session-Expires"); got != "1800;refresher=uas" {
			t.Errorf("Session-Expires %q", got)
		}
		p.toTag = res.To().Params.GetOr("tag", "")
		p.write(p.request("ACK", ""))
		c, l := &called{peer: p, seen: map[string]bool{}}, last(wait(t, legs, "leg"))
		confirmed(p)
		for range 3 {
			due(t, h, half)
			r := c.expect("UPDATE")
			if got := value(r, "Session-Expires"); got != "1800;refresher=uac" || len(r.Body()) > 0 {
				t.Errorf("Session-Expires %q, body %q", got, r.Body())
			}
			p.answer(r, 200, "", "Session-Expires: 1800;refresher=uac", "Require: timer")
		}
		due(t, h, half)
		c.expect("UPDATE") // and no answer
		if bye := c.expect("BYE"); !strings.Contains(value(bye, "Reason"), "408") {
			t.Errorf("Reason %q", value(bye, "Reason"))
		} else {
			p.confirm(bye)
		}
		lost(t, l)
	})
}

// The caller refreshes, by either method; when it stops, the call ends.
func TestSessionRefreshedByThem(t *testing.T) {
	timed(t, sip.Config{}, func(t *testing.T, h *sip.Hands, ua *sip.UserAgent, legs chan *sip.Leg, network string) {
		p := newPeer(t, ua, network)
		asked := []string{"Supported: timer", "Session-Expires: 1800;refresher=uac"}
		c, l := arrive(t, p, legs, asked...)
		for _, method := range []string{"UPDATE", "INVITE", "UPDATE"} {
			h.Turn(half)
			body := ""
			if method == "INVITE" {
				body = p.offer()
			}
			res := p.next(200, method, body, asked...)
			if value(res, "Session-Expires") != "1800;refresher=uac" || value(res, "Require") != "timer" {
				t.Errorf("%s was answered\n%s", method, res)
			}
			if method == "INVITE" {
				p.write(p.request("ACK", ""))
				confirmed(p)
			}
		}
		due(t, h, lapsed)
		p.confirm(c.expect("BYE"))
		lost(t, l)
	})
}

// A caller that knows nothing of session timers is asked by us, by re-INVITE.
func TestSessionOfASimpleCaller(t *testing.T) {
	timed(t, sip.Config{}, func(t *testing.T, h *sip.Hands, ua *sip.UserAgent, legs chan *sip.Leg, network string) {
		p := newPeer(t, ua, network)
		c, l := arrive(t, p, legs)
		confirmed(p)
		due(t, h, half)
		r := c.expect("INVITE")
		first := string(r.Body())
		if !strings.Contains(first, "a=sendrecv") || !strings.Contains(first, "RTP/AVP 0 101") {
			t.Errorf("offer\n%s", first)
		}
		p.answer(r, 200, p.offer())
		if ack := c.expect("ACK"); ack.CSeq().SeqNo != r.CSeq().SeqNo {
			t.Errorf("ACK\n%s", ack)
		}
		// It forgets to answer the offer: nothing changes.
		due(t, h, half)
		p.answer(c.expect("INVITE"), 200, "")
		c.expect("ACK")
		// It does not like the next one; the call goes on, and it is asked again.
		due(t, h, half)
		r = c.expect("INVITE")
		if string(r.Body()) != first {
			t.Errorf("a refresh changes the description:\n%s", r.Body())
		}
		p.answer(r, 488, "")
		due(t, h, full/8)
		p.answer(c.expect("INVITE"), 481, "")
		p.confirm(c.expect("BYE"))
		lost(t, l)
	})
}

func TestSessionTooShort(t *testing.T) {
	timed(t, sip.Config{}, func(t *testing.T, _ *sip.Hands, ua *sip.UserAgent, legs chan *sip.Leg, network string) {
		p := newPeer(t, ua, network)
		short := []string{"Supported: timer", "Session-Expires: 60"}
		if res := p.turnedDown(422, p.offer(), short...); value(res, "Min-SE") != "90" {
			t.Errorf("Min-SE %q", value(res, "Min-SE"))
		}
		p.seq++
		c, l := arrive(t, p, legs)
		for _, res := range []*gosip.Response{p.next(422, "UPDATE", "", short...), p.turnedDown(422, p.offer(), short...)} {
			if value(res, "Min-SE") != "90" {
				t.Errorf("refused with\n%s", res)
			}
		}
		// A proxy's wish on a call of somebody who could not lengthen it is borne.
		p.next(200, "UPDATE", "", "Session-Expires: 60")
		l.finish(c)
	})
}

// Our own call: the callee wants longer sessions, does not take UPDATE, and
// begins something at the same time.
func TestSessionOfOurCall(t *testing.T) {
	timed(t, sip.Config{}, func(t *testing.T, h *sip.Hands, ua *sip.UserAgent, _ chan *sip.Leg, network string) {
		c := newCalled(t, ua, network)
		result := dial(t, ua, context.Background(), sip.Target{URI: c.uri})
		first := c.rung()
		if value(first, "Session-Expires") != "1800" || !strings.Contains(value(first, "Supported"), "timer") {
			t.Errorf("INVITE\n%s", first)
		}
		c.answer(first, 422, "", "Min-SE: 3600")
		second := c.rung()
		if value(second, "Session-Expires") != "3600" || value(second, "Min-SE") != "3600" ||
			second.CSeq().SeqNo != first.CSeq().SeqNo+1 || second.CallID().Value() != first.CallID().Value() {
			t.Errorf("INVITE\n%s", second)
		}
		c.answer(second, 200, c.offer(), "Session-Expires: 3600;refresher=uac", "Require: timer", "Allow: INVITE, ACK, BYE, UPDATE")
		if ack := c.expect("ACK"); ack.CSeq().SeqNo != second.CSeq().SeqNo {
			t.Errorf("ACK\n%s", ack)
		}
		l := last(wait(t, result, "answer").leg)
		due(t, h, full)
		update := c.expect("UPDATE")
		if value(update, "Session-Expires") != "3600;refresher=uac" || value(update, "Min-SE") != "3600" {
			t.Errorf("UPDATE\n%s", update)
		}
		c.answer(update, 405, "")
		c.answer(c.expect("INVITE"), 491, "")
		c.expect("ACK")
		eventually(t, "back-off of who began the call", func() bool {
			d := h.Next()
			return d >= 2100*time.Millisecond && d <= 4*time.Second
		})
		h.Turn(4 * time.Second)
		c.answer(c.expect("INVITE"), 200, c.offer(), "Session-Expires: 3600;refresher=uac")
		c.expect("ACK")
		l.finish(c)
	})
}

// A callee that refreshes by itself is not asked, and given up when it stops.
func TestSessionRefreshedByTheCallee(t *testing.T) {
	timed(t, sip.Config{}, func(t *testing.T, h *sip.Hands, ua *sip.UserAgent, _ chan *sip.Leg, network string) {
		c := newCalled(t, ua, network)
		l := connect(t, ua, c, "Session-Expires: 1800;refresher=uas")
		h.Turn(half)
		c.next(200, "UPDATE", "", "Supported: timer", "Session-Expires: 1800;refresher=uac")
		due(t, h, lapsed)
		c.confirm(c.expect("BYE"))
		lost(t, l)
	})
}
