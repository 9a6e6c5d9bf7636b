package sip_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"parley/sip"
	"parley/sip/trunk"
)

// transferring is a call that came in, with a transfer of it under way.
func transferring(t *testing.T, ctx context.Context, c *called, l *lasting, target string) (refer string, done chan error) {
	t.Helper()
	done = make(chan error, 1)
	go func() { done <- l.leg.Transfer(ctx, target) }()
	r := c.expect("REFER")
	refer = value(r, "Refer-To")
	c.refer = r
	return refer, done
}

// notify sends a notice of a transfer.
func (p *peer) notify(code int, state, status string) {
	p.t.Helper()
	body := ""
	if status != "" {
		body = "SIP/2.0 " + status + "\r\n"
	}
	p.next(code, "NOTIFY", body, "Event: refer", "Subscription-State: "+state, "Content-Type: message/sipfrag;version=2.0")
}

func TestTransfer(t *testing.T) {
	timed(t, sip.Config{}, func(t *testing.T, _ *sip.Hands, ua *sip.UserAgent, legs chan *sip.Leg, network string) {
		p := newPeer(t, ua, network)
		p.next(405, "REFER", "", "Refer-To: <sip:+19005550100@127.0.0.1>") // outside of a call
		c, l := arrive(t, p, legs, `From: "Ann" <sip:ann@pbx.example:5070>;tag=their-tag`)
		for target, want := range map[string]string{
			"tel:+15550100077":                "<tel:+15550100077>",
			"sip:desk@carrier.example;x=1":    "<sip:desk@carrier.example;x=1>",
			"+1 (555) 010-0077":               "",
			"+1-555-010-0077":                 "<sip:+15550100077@pbx.example:5070;user=phone>",
			"sip:a@b>\r\nX-Evil: 1":           "",
			"https://example.com":             "",
			"":                                "",
			"not a number":                    "",
			"<sip:+15550100077@other.invalid": "",
		} {
			if want == "" {
				if err := l.leg.Transfer(t.Context(), target); err == nil {
					t.Errorf("transferred to %q", target)
				}
				continue
			}
			refer, done := transferring(t, t.Context(), c, l, target)
			if refer != want {
				t.Errorf("Refer-To %s, want %s", refer, want)
			}
			c.answer(c.refer, 603, "")
			var e *sip.NotTransferred
			if err := wait(t, done, "outcome"); !errors.As(err, &e) || e.Code != 603 || e.Accepted {
				t.Errorf("got %v", err)
			}
		}
		p.notify(481, "active;expires=60", "100 Trying") // there was no subscription

		// The target is busy: the caller stays, and may be transferred again.
		_, done := transferring(t, t.Context(), c, l, "tel:+15550100077")
		var e *sip.NotTransferred
		if err := l.leg.Transfer(t.Context(), "tel:+1"); !errors.Is(err, sip.ErrTransferring) {
			t.Errorf("a second transfer: %v", err)
		}
		p.notify(200, "active;expires=60", "100 Trying") // faster than the response
		c.answer(c.refer, 202, "")
		p.notify(200, "active;expires=60", "180 Ringing")
		p.notify(200, "terminated;reason=noresource", "486 Busy Here")
		if err := wait(t, done, "outcome"); !errors.As(err, &e) || e.Code != 486 || e.Phrase != "Busy Here" || !e.Accepted {
			t.Errorf("got %v", err)
		}
		p.notify(200, "terminated", "486 Busy Here") // late, and taken
		p.next(489, "NOTIFY", "", "Event: presence")
		heard(t, p.rtp)

		_, done = transferring(t, t.Context(), c, l, "tel:+15550100078")
		c.answer(c.refer, 202, "")
		p.notify(200, "terminated;reason=noresource", "200 OK")
		if err := wait(t, done, "outcome"); err != nil {
			t.Errorf("got %v", err)
		}
		l.finish(c)
	})
}

// Ends of a transfer that nobody reports.
func TestTransferWithoutAnOutcome(t *testing.T) {
	timed(t, sip.Config{}, func(t *testing.T, h *sip.Hands, ua *sip.UserAgent, legs chan *sip.Leg, network string) {
		p := newPeer(t, ua, network)
		c, l := arrive(t, p, legs)
		var e *sip.NotTransferred

		// Agreed to, and then silence.
		_, done := transferring(t, t.Context(), c, l, "tel:+15550100077")
		c.answer(c.refer, 202, "")
		due(t, h, time.Minute)
		if err := wait(t, done, "outcome"); !errors.As(err, &e) || !errors.Is(err, sip.ErrNoOutcome) || !e.Accepted {
			t.Errorf("got %v", err)
		}
		// A longer one is given its time.
		_, done = transferring(t, t.Context(), c, l, "tel:+15550100077")
		c.answer(c.refer, 202, "")
		p.notify(200, "active;expires=120", "180 Ringing")
		due(t, h, 2*time.Minute)
		if err := wait(t, done, "outcome"); !errors.Is(err, sip.ErrNoOutcome) {
			t.Errorf("got %v", err)
		}
		// The subscription ends without a word.
		_, done = transferring(t, t.Context(), c, l, "tel:+15550100077")
		p.notify(200, "terminated;reason=timeout", "")
		if err := wait(t, done, "outcome"); !errors.Is(err, sip.ErrNoOutcome) {
			t.Errorf("got %v", err)
		}
		c.answer(c.refer, 202, "")

		// We lose patience.
		ctx, giveUp := context.WithCancelCause(t.Context())
		_, done = transferring(t, ctx, c, l, "tel:+15550100077")
		mine := errors.New("mine")
		giveUp(mine)
		if err := wait(t, done, "outcome"); !errors.Is(err, mine) {
			t.Errorf("got %v", err)
		}
		c.answer(c.refer, 202, "")

		// It leaves before it has agreed.
		_, done = transferring(t, t.Context(), c, l, "tel:+15550100077")
		p.next(200, "BYE", "")
		if err := wait(t, done, "outcome"); !errors.Is(err, sip.ErrOver) {
			t.Errorf("got %v", err)
		}
		if err := wait(t, l.ended, "end"); err != nil {
			t.Error(err)
		}
		if err := l.leg.Transfer(t.Context(), "tel:+1"); !errors.Is(err, sip.ErrOver) {
			t.Errorf("got %v", err)
		}
	})
}

// Some far ends agree and leave for the other call without another word.
func TestTransferByeInsteadOfANotice(t *testing.T) {
	timed(t, sip.Config{}, func(t *testing.T, h *sip.Hands, ua *sip.UserAgent, legs chan *sip.Leg, network string) {
		p := newPeer(t, ua, network)
		c, l := arrive(t, p, legs)
		confirmed(p)
		_, done := transferring(t, t.Context(), c, l, "tel:+15550100077")
		c.answer(c.refer, 202, "")
		eventually(t, "the agreement is known", func() bool { return h.Next() == time.Minute })
		p.next(200, "BYE", "")
		if err := wait(t, done, "outcome"); err != nil {
			t.Errorf("got %v", err)
		}
		if err := wait(t, l.ended, "end"); err != nil {
			t.Error(err)
		}
	})
}

// Digits by INFO and by RTP at once, as some far ends send them: each key once.
func TestDigitsBothWays(t *testing.T) {
	timed(t, sip.Config{}, func(t *testing.T, _ *sip.Hands, ua *sip.UserAgent, legs chan *sip.Leg, network string) {
		for _, first := range []string{"info", "rtp"} {
			p := newPeer(t, ua, network)
			p.write(p.request("INVITE", p.offer()))
			res := p.response(200, "INVITE")
			p.toTag = res.To().Params.GetOr("tag", "")
			p.write(p.request("ACK", ""))
			leg := wait(t, legs, "leg")
			var port uint16
			_, rest, _ := strings.Cut(string(res.Body()), "m=audio ")
			if _, err := fmt.Sscan(rest, &port); err != nil {
				t.Fatal(err)
			}
			far := &farEnd{peer: p, to: addrPort(port)}
			digits := make(chan byte, 32)
			ctx, end := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- collect(ctx, leg, digits) }()
			keys := "15#*"
			for _, d := range []byte(keys) {
				info := func() {
					p.next(200, "INFO", fmt.Sprintf("Signal=%c\r\nDuration=160\r\n", d), "Content-Type: application/dtmf-relay")
				}
				if first == "info" {
					info()
				}
				far.packet(0, false, far.time, make([]byte, 160)) // audio, so that the latch closes
				far.packet(0, false, far.time+160, make([]byte, 160))
				far.time += 320
				far.Digit(d)
				if got := wait(t, digits, "digit"); got != d {
					t.Errorf("%s first: got %c, want %c", first, got, d)
				}
				if first == "rtp" {
					info()
				}
			}
			// What comes after the last key shows that no other came between.
			if first == "info" {
				p.next(200, "INFO", "9", "Content-Type: application/dtmf")
			} else {
				far.Digit('9')
			}
			if got := wait(t, digits, "digit"); got != '9' {
				t.Errorf("%s first: got %c, want 9", first, got)
			}
			end()
			p.confirm(p.incoming("BYE"))
			if err := wait(t, done, "end"); err != nil {
				t.Error(err)
			}
		}
	})
}

// A bare number takes the form of the call's trunk.
func TestTransferTakesTheTrunksForm(t *testing.T) {
	carrier := trunk.Config{Name: "carrier", Flags: trunk.ReferTel, Allow: []netip.Prefix{netip.PrefixFrom(loopback, 8)}}
	timed(t, sip.Config{Trunks: []trunk.Config{carrier}}, func(t *testing.T, _ *sip.Hands, ua *sip.UserAgent, legs chan *sip.Leg, network string) {
		c, l := arrive(t, newPeer(t, ua, network), legs)
		refer, done := transferring(t, t.Context(), c, l, "+15550100077")
		if refer != "<tel:+15550100077>" {
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

// TestJoin: the far end is asked to call another of its trunk in our place, by the tags of that one, if that one knows how.
func TestJoin(t *testing.T) {
	for name, tt := range map[string]struct {
		flags     trunk.Flags
		supported string
		joins     bool
	}{
		"both know it":              {trunk.Refer, "Supported: timer, replaces", true},
		"the other does not":        {trunk.Refer, "Supported: timer", false},
		"transfers are not for it":  {0, "Supported: replaces", false},
		"in the short form, by tel": {trunk.Refer | trunk.ReferTel, "k: replaces", true},
	} {
		t.Run(name, func(t *testing.T) {
			other := newCallee(t)
			at := netip.MustParseAddrPort(other.conn.LocalAddr().String())
			pbx := trunk.Config{Name: "pbx", Flags: tt.flags | trunk.NoProbe, CPS: 10, Allow: []netip.Prefix{netip.PrefixFrom(loopback, 8)},
				Targets: []trunk.Target{{Host: at.Addr().String(), Port: at.Port()}}}
			legs := make(chan *sip.Leg, 1)
			ua := serve(t, sip.Config{Trunks: []trunk.Config{pbx}, OnCall: taking(t, legs)})
			result := dial(t, ua, t.Context(), sip.Target{Trunk: "pbx", Number: "+15550100009"})
			invite := other.expect("INVITE")
			other.answer("INVITE", 200, "theirs+1", calleeSDP, tt.supported)
			other.expect("ACK")
			second := wait(t, result, "answer")
			if second.err != nil {
				t.Fatal(second.err)
			}
			c, l := arrive(t, newPeer(t, ua, "udp"), legs)
			if got := l.leg.Joins(second.leg); got != tt.joins {
				t.Errorf("it joins the two: %v", got)
			}
			if tt.joins {
				done := make(chan error, 1)
				go func() { done <- l.leg.Join(t.Context(), second.leg) }()
				c.refer = c.expect("REFER")
				to := invite.To().Address
				want := "<" + to.String() + "?Replaces=" + url.QueryEscape(invite.CallID().Value()+";to-tag=theirs+1;from-tag="+invite.From().Params.GetOr("tag", "")) + ">"
				if refer := value(c.refer, "Refer-To"); refer != want {
					t.Errorf("Refer-To %s, want %s", refer, want)
				}
				c.answer(c.refer, 202, "")
				c.notify(200, "terminated", "200 OK")
				if err := wait(t, done, "outcome"); err != nil {
					t.Errorf("got %v", err)
				}
			}
			l.finish(c)
			hang(t, other, second)
		})
	}
}
