package sip_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"parley/media"
	"parley/sip"
)

// attempted runs Hold or Resume beside the test.
func attempted(f func(context.Context) error) <-chan error {
	done := make(chan error, 1)
	go func() { done <- f(context.Background()) }()
	return done
}

// We hold a far end and take it back, by offer and answer.
func TestWeHold(t *testing.T) {
	timed(t, sip.Config{}, func(t *testing.T, _ *sip.Hands, ua *sip.UserAgent, _ chan *sip.Leg, network string) {
		c := newCalled(t, ua, network)
		l := connect(t, ua, c)
		done := attempted(l.leg.Hold)
		r := c.expect("INVITE")
		if !strings.Contains(string(r.Body()), "a=sendonly") || r.Contact() == nil {
			t.Errorf("hold\n%s", r)
		}
		c.answer(r, 200, c.offer("a=recvonly"))
		ack := c.expect("ACK")
		if ack.CSeq().SeqNo != r.CSeq().SeqNo {
			t.Errorf("ACK\n%s", ack)
		}
		if err := wait(t, done, "end of Hold"); err != nil {
			t.Error(err)
		}
		heard(t, c.rtp)
		// Our ACK was lost: the 200 comes again, and so does the ACK.
		c.answer(r, 200, c.offer("a=recvonly"))
		if again := c.incoming("ACK"); again.Via().Value() != ack.Via().Value() {
			t.Errorf("ACK\n%s", again)
		}
		// Whatever it offers meanwhile, we do not hear it.
		res := c.next(200, "UPDATE", c.offer("a=sendrecv"))
		if !strings.Contains(string(res.Body()), "a=sendonly") {
			t.Errorf("answered\n%s", res.Body())
		}
		done = attempted(l.leg.Resume)
		r = c.expect("INVITE")
		if !strings.Contains(string(r.Body()), "a=sendrecv") {
			t.Errorf("resume\n%s", r)
		}
		c.answer(r, 200, c.offer())
		c.expect("ACK")
		if err := wait(t, done, "end of Resume"); err != nil {
			t.Error(err)
		}
		l.finish(c)
	})
}

// A refused hold leaves the call as it was; one that the end of the call
// overtakes says so.
func TestHoldRefused(t *testing.T) {
	timed(t, sip.Config{}, func(t *testing.T, _ *sip.Hands, ua *sip.UserAgent, _ chan *sip.Leg, network string) {
		c := newCalled(t, ua, network)
		l := connect(t, ua, c)
		done := attempted(l.leg.Hold)
		c.answer(c.expect("INVITE"), 488, "")
		c.expect("ACK")
		var refused *sip.ChangeRefused
		if err := wait(t, done, "end of Hold"); !errors.As(err, &refused) || refused.Code != 488 {
			t.Errorf("got %v", err)
		}
		res := c.next(200, "UPDATE", c.offer())
		if !strings.Contains(string(res.Body()), "a=sendrecv") {
			t.Errorf("answered\n%s", res.Body())
		}
		done = attempted(l.leg.Hold)
		c.expect("INVITE")
		c.next(200, "BYE", "")
		if err := wait(t, done, "end of Hold"); !errors.Is(err, sip.ErrOver) {
			t.Errorf("got %v", err)
		}
		if err := wait(t, l.ended, "end"); err != nil {
			t.Error(err)
		}
		if err := l.leg.Resume(context.Background()); !errors.Is(err, sip.ErrOver) {
			t.Errorf("got %v", err)
		}
	})
}

// Both ends begin something at once: each refuses the other's, and both try
// again later, at different times.
func TestGlare(t *testing.T) {
	timed(t, sip.Config{}, func(t *testing.T, h *sip.Hands, ua *sip.UserAgent, legs chan *sip.Leg, network string) {
		p := newPeer(t, ua, network)
		c, l := arrive(t, p, legs)
		confirmed(p)
		done := attempted(l.leg.Hold)
		ours := c.expect("INVITE")
		p.turnedDown(491, p.offer())
		p.next(491, "UPDATE", p.offer())
		p.next(200, "UPDATE", "") // nothing in it that could collide
		p.answer(ours, 491, "")
		c.expect("ACK")
		// The called side waits up to 2 s and lets the other through before.
		eventually(t, "back-off", func() bool { d := h.Next(); return d > 0 && d <= 2*time.Second })
		h.Turn(2 * time.Second)
		again := c.expect("INVITE")
		if again.CSeq().SeqNo <= ours.CSeq().SeqNo || !strings.Contains(string(again.Body()), "a=sendonly") {
			t.Errorf("again\n%s", again)
		}
		p.answer(again, 200, p.offer("a=inactive"))
		c.expect("ACK")
		if err := wait(t, done, "end of Hold"); err != nil {
			t.Error(err)
		}
		l.finish(c)
	})
}

// Nothing of ours is sent while a 200 of ours is unconfirmed, and an answer that
// cannot be used ends the call.
func TestChangeWaitsAndBadAnswers(t *testing.T) {
	timed(t, sip.Config{}, func(t *testing.T, _ *sip.Hands, ua *sip.UserAgent, legs chan *sip.Leg, network string) {
		p := newPeer(t, ua, network)
		c, l := arrive(t, p, legs)
		p.next(200, "INVITE", p.offer("a=sendonly"))
		done := attempted(l.leg.Hold)
		p.response(200, "INVITE") // repeated, and no INVITE before it
		p.write(p.request("ACK", ""))
		r := c.expect("INVITE")
		p.answer(r, 200, strings.Replace(p.offer(), "RTP/AVP 0 8 101", "RTP/AVP 18", 1))
		c.expect("ACK")
		if err := wait(t, done, "end of Hold"); err == nil {
			t.Error("held")
		}
		p.confirm(c.expect("BYE"))
		var e *media.Ended
		if err := wait(t, l.ended, "end"); !errors.As(err, &e) || e.Detail != "no_common_codec" {
			t.Errorf("ended with %v", err)
		}
	})
}
