package sip_test

import (
	"strings"
	"testing"
	"time"

	"parley/sip"
)

// A refresh by re-INVITE changes nothing, also while the far end holds us; its ACK is sent again
// when the far end has lost it.
func TestRefreshKeepsWhatIsInForce(t *testing.T) {
	timed(t, sip.Config{}, func(t *testing.T, h *sip.Hands, ua *sip.UserAgent, _ chan *sip.Leg, network string) {
		c := newCalled(t, ua, network)
		l := connect(t, ua, c)
		res := c.next(200, "UPDATE", c.offer("a=sendonly"))
		if !strings.Contains(string(res.Body()), "a=recvonly") {
			t.Errorf("answered\n%s", res.Body())
		}
		due(t, h, half)
		r := c.expect("INVITE")
		if !strings.Contains(string(r.Body()), "a=recvonly") || r.Contact() == nil {
			t.Errorf("refresh\n%s", r)
		}
		c.answer(r, 200, c.offer("a=sendonly"))
		ack := c.expect("ACK")
		if ack.CSeq().SeqNo != r.CSeq().SeqNo {
			t.Errorf("ACK\n%s", ack)
		}
		// Our ACK was lost: the 200 comes again, and so does the ACK.
		c.answer(r, 200, c.offer("a=sendonly"))
		if again := c.incoming("ACK"); again.Via().Value() != ack.Via().Value() {
			t.Errorf("ACK\n%s", again)
		}
		res = c.next(200, "UPDATE", c.offer("a=sendrecv"))
		if !strings.Contains(string(res.Body()), "a=sendrecv") {
			t.Errorf("answered\n%s", res.Body())
		}
		heard(t, c.rtp)
		due(t, h, half)
		r = c.expect("INVITE")
		if !strings.Contains(string(r.Body()), "a=sendrecv") {
			t.Errorf("refresh\n%s", r)
		}
		c.answer(r, 200, c.offer())
		c.expect("ACK")
		l.finish(c)
	})
}

// A refused refresh leaves the call as it was; one that the end of the call overtakes
// is forgotten.
func TestRefreshRefused(t *testing.T) {
	timed(t, sip.Config{}, func(t *testing.T, h *sip.Hands, ua *sip.UserAgent, _ chan *sip.Leg, network string) {
		c := newCalled(t, ua, network)
		l := connect(t, ua, c)
		due(t, h, half)
		c.answer(c.expect("INVITE"), 488, "")
		c.expect("ACK")
		eventually(t, "it is to be asked again", func() bool { return h.Next() == full/8 })
		res := c.next(200, "UPDATE", c.offer())
		if !strings.Contains(string(res.Body()), "a=sendrecv") {
			t.Errorf("answered\n%s", res.Body())
		}
		due(t, h, half)
		c.expect("INVITE")
		c.next(200, "BYE", "")
		if err := wait(t, l.ended, "end"); err != nil {
			t.Error(err)
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
		due(t, h, half)
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
		if again.CSeq().SeqNo <= ours.CSeq().SeqNo || string(again.Body()) != string(ours.Body()) {
			t.Errorf("again\n%s", again)
		}
		p.answer(again, 200, p.offer("a=inactive"))
		c.expect("ACK")
		l.finish(c)
	})
}

// Nothing of ours is sent while a 200 of ours is unconfirmed, and an answer that
// cannot be used changes nothing.
func TestRefreshWaitsAndBadAnswers(t *testing.T) {
	timed(t, sip.Config{}, func(t *testing.T, h *sip.Hands, ua *sip.UserAgent, legs chan *sip.Leg, network string) {
		p := newPeer(t, ua, network)
		c, l := arrive(t, p, legs)
		p.next(200, "INVITE", p.offer("a=sendonly"))
		due(t, h, half)
		p.response(200, "INVITE") // repeated, and no INVITE before it
		p.write(p.request("ACK", ""))
		r := c.expect("INVITE")
		p.answer(r, 200, strings.Replace(p.offer(), "RTP/AVP 0 8 101", "RTP/AVP 18", 1))
		c.expect("ACK")
		res := p.next(200, "UPDATE", p.offer("a=sendonly"))
		if !strings.Contains(string(res.Body()), "a=recvonly") {
			t.Errorf("answered\n%s", res.Body())
		}
		l.finish(c)
	})
}
