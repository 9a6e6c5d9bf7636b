package sip_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/netip"
	"strings"
	"time"

	gosip "github.com/emiago/sipgo/sip"

	"parley/media"
	"parley/sip"
	"parley/sip/trunk"
)

var scenes = []scene{
	{name: "comes by udp", play: func(s *stage) []string { return s.comes("udp") }},
	{name: "comes by tcp", play: func(s *stage) []string { return s.comes("tcp") }},
	{name: "comes by tls", play: func(s *stage) []string { return s.comes("tls") }},
	{name: "comes by ws", play: func(s *stage) []string { return s.comes("ws") },
		cfg: func(_ *stage, cfg *sip.Config) { cfg.Trunks = append(cfg.Trunks, browsers("web", "", ann)) }},
	{name: "goes out", play: func(s *stage) []string { return []string{s.dial(sip.Target{Number: number}, nil)} }},
	{name: "a reliable ring", play: func(s *stage) []string {
		s.robot.set(func() { s.robot.reliable = true })
		before, _ := s.robot.got(gosip.PRACK)
		return []string{s.dial(sip.Target{Number: number}, func() <-chan struct{} { return s.until(gosip.PRACK, before+1) })}
	}},
	{name: "a contact by name", play: func(s *stage) []string { return []string{s.dial(sip.Target{Number: number}, nil)} },
		cfg: func(s *stage, cfg *sip.Config) {
			s.robot.set(func() { s.robot.contact = fmt.Sprintf("robot.test:%d", s.robot.at.Port()) })
			cfg.Resolver = names{addrs: map[string][]netip.Addr{"robot.test": {loopback}}}
		}},
	{name: "a contact elsewhere", play: (*stage).redial,
		cfg: func(s *stage, cfg *sip.Config) {
			s.robot = newRobot(s.T, "tcp", nil)
			s.robot.set(func() { s.robot.contact = "127.0.0.2:9" }) // where nobody listens
			cfg.Trunks[0].Targets, cfg.Trunks[0].Allow = []trunk.Target{s.robot.target()}, []netip.Prefix{netip.MustParsePrefix("127.0.0.2/32")}
		}},
	{name: "an answer that comes twice", play: (*stage).twice},
	{name: "is given up", play: (*stage).givenUp},
	{name: "a silent target", play: func(s *stage) []string { return []string{s.dial(sip.Target{Number: number}, nil)} },
		cfg: func(s *stage, cfg *sip.Config) {
			deaf := newRobot(s.T, "udp", nil)
			deaf.set(func() { deaf.mute = true })
			cfg.Trunks[0].Targets = []trunk.Target{deaf.target(), s.robot.target()}
			cfg.T1 = 40 * time.Millisecond // it is listened to for 64 of these
		}},
	{name: "goes out by tls", play: (*stage).redial, cfg: func(s *stage, cfg *sip.Config) {
		s.robot = newRobot(s.T, "tls", &tls.Config{Certificates: []tls.Certificate{s.ca.issue("carrier.test")}})
		secure := secureTrunk(s.robot.at, &tls.Config{RootCAs: s.ca.pool()})
		cfg.Trunks, cfg.Resolver = secure.Trunks, secure.Resolver
	}},
	{name: "is adopted", play: (*stage).adopted},
	{name: "starts and stops", play: (*stage).starts},
}

// until is closed when the robot has got that many requests of a method.
func (s *stage) until(m gosip.RequestMethod, most int) <-chan struct{} {
	reached, end := make(chan struct{}), s.Context()
	go func() {
		for n, changed := s.robot.got(m); n < most; n, changed = s.robot.got(m) {
			select {
			case <-changed:
			case <-end.Done():
				return
			}
		}
		close(reached)
	}()
	return reached
}

// comes is a call from a far end that says its INVITE until it hears of it, connects again
// when it loses its connection, calls again when it is told 500, and hangs up when it is
// answered, unless we do.
func (s *stage) comes(network string) (ended []string) {
	var p *peer
	failed := false
	for tries := 0; ; tries++ {
		if tries == 10 {
			s.Fatal("the far end cannot call")
		}
		if p = s.peer(network); p == nil {
			continue
		}
		res := p.insist(p.secured(network, p.request("INVITE", p.offer())))
		if res != nil && res.StatusCode == 407 {
			p.write(p.request("ACK", "", "Via: "+res.Via().Value()))
			res = p.insist(p.signed(res, ann, p.offer()))
		}
		if res == nil {
			continue
		}
		if res.StatusCode == 200 {
			p.toTag = res.To().Params.GetOr("tag", "")
			break
		}
		p.write(p.secured(network, p.request("ACK", "", "Via: "+res.Via().Value())))
		failed = true
		if s.ends {
			ended = append(ended, how(wait(s.T, s.results, "end of the call that fails").err))
		}
	}
	p.write(p.secured(network, p.request("ACK", "")))
	if s.ends && !failed {
		p.confirm(p.incoming("BYE"))
	} else {
		p.seq++
		p.write(p.secured(network, p.request("BYE", "")))
		p.response(200, "BYE")
	}
	return append(ended, how(wait(s.T, s.results, "end of the call").err))
}

// secured is a request as it is written over TLS.
func (p *peer) secured(network, text string) string {
	if network == "tls" {
		text = strings.NewReplacer("SIP/2.0/TCP", "SIP/2.0/TLS", "transport=tcp", "transport=tls").Replace(text)
	}
	return text
}

// insist writes a request until it has a final response; nil: the connection is closed.
func (p *peer) insist(text string) *gosip.Response {
	again := time.NewTicker(200 * time.Millisecond)
	defer again.Stop()
	limit := time.After(patience)
	for {
		var err error
		if p.ws != nil {
			err = p.ws.say(text)
		} else if p.tcp != nil {
			_, err = p.tcp.Write([]byte(text))
		} else {
			_, err = p.udp.Write([]byte(text))
		}
		if err != nil {
			return nil
		}
		for wait := true; wait; {
			select {
			case m := <-p.msgs:
				if res, ok := m.(*gosip.Response); ok && !res.IsProvisional() {
					return res
				}
			case <-again.C:
				wait = false
			case <-limit:
				p.t.Fatalf("there is no response to\n%s", text)
			}
		}
	}
}

// twice is a call whose far end says its answer until it has a second ACK.
func (s *stage) twice() []string {
	before, _ := s.robot.got(gosip.ACK)
	result := dial(s.T, s.ua, context.Background(), sip.Target{Number: number})
	for ringing := s.robot.idle(); ringing; ringing = s.robot.idle() {
		_, changed := s.robot.got(gosip.INVITE)
		if s.robot.idle() {
			wait(s.T, changed, "INVITE")
		}
	}
	for n := 0; n < before+2; n, _ = s.robot.got(gosip.ACK) {
		s.robot.answer()
		time.Sleep(10 * time.Millisecond)
	}
	d := wait(s.T, result, "answer")
	if d.err != nil {
		return []string{how(d.err)}
	}
	l := last(d.leg)
	l.end(&media.Ended{Reason: media.AgentHangup})
	return []string{how(wait(s.T, l.ended, "end of the call"))}
}

// givenUp is a call of ours that we end while it rings.
func (s *stage) givenUp() []string {
	ctx, cancel := context.WithCancelCause(context.Background())
	rang := make(chan struct{}, 8)
	result := dial(s.T, s.ua, ctx, sip.Target{Number: number, Ringing: func(int) { rang <- struct{}{} }})
	wait(s.T, rang, "ringing")
	cancel(&media.Ended{Reason: media.APIHangup})
	return []string{how(wait(s.T, result, "end of Dial").err)}
}

// adopted is a call of another user agent that this one carries on until the far end hangs up.
func (s *stage) adopted() []string {
	legs := make(chan *sip.Leg, 1)
	c, l, _ := begun(s.T, other(s.T, sip.Config{OnCall: taking(s.T, legs)}), legs, "came in")
	done := adopts(s.T, s.ua, yielded(s.T, l))
	for limit := time.After(patience); ; {
		select {
		case m := <-c.msgs:
			if r, ok := m.(*gosip.Request); ok && r.Method == gosip.INVITE {
				c.ua = s.ua.Addr()
				c.answer(r, 200, c.offer())
			}
		case a := <-done:
			if a.err != nil {
				l.end(&media.Ended{Reason: media.AgentHangup})
				return []string{how(a.err)}
			}
			l.leg.Release()
			now := last(a.leg)
			c.next(200, "BYE", "")
			return []string{how(wait(s.T, now.ended, "end of the call"))}
		case <-limit:
			s.Fatal("the call is neither adopted nor refused")
		}
	}
}

// redial is a call over a connection. Where that fails, the caller calls again.
func (s *stage) redial() (ended []string) {
	ended = []string{s.dial(sip.Target{Number: number}, nil)}
	if s.fired != nil && !s.ends {
		ended = append(ended, s.dial(sip.Target{Number: number}, nil))
	}
	return ended
}

// starts is a user agent of its own that registers, probes its trunk, takes calls by each
// transport, and stops while one is up, whose far end is told.
func (s *stage) starts() (ended []string) {
	registrar, results := newRobot(s.T, "udp", nil), make(chan outcome, 8)
	carrier := account(registrar.at, "udp")
	outer, theirs := s.ua, s.robot
	defer func() { s.ua, s.robot = outer, theirs }()
	var stop func()
	s.ua, stop = start(s.T, sip.Config{OnCall: answering(results), Trunks: []trunk.Config{carrier}, Probe: 20 * time.Millisecond, FirstRTPTimeout: time.Hour,
		Allow:     func(a netip.Addr) bool { return a.IsLoopback() },
		ListenTLS: netip.AddrPortFrom(loopback, 0), TLS: &tls.Config{Certificates: []tls.Certificate{s.ca.issue("127.0.0.1")}}})
	s.robot = registrar
	wait(s.T, s.until(gosip.REGISTER, 1), "registration")
	eventually(s.T, "registered", func() bool { return registered(s.ua) })
	wait(s.T, s.until(gosip.OPTIONS, 3), "third probe")
	s.results, results = results, s.results
	for _, network := range []string{"udp", "tcp", "tls"} {
		if how := s.comes(network); how[len(how)-1] != "over" {
			ended = append(ended, how...)
		}
	}
	s.results = results
	result := dial(s.T, s.ua, context.Background(), sip.Target{Number: number, Trunk: "carrier"})
	wait(s.T, s.until(gosip.INVITE, 1), "INVITE")
	registrar.answer()
	d := wait(s.T, result, "answer")
	if d.err != nil {
		s.Fatal(d.err)
	}
	l := last(d.leg)
	stop()
	ended = append(ended, how(wait(s.T, l.ended, "end of the call")))
	if !registrar.idle() {
		s.Error("the far end was not told that the call is over")
	}
	return ended
}
