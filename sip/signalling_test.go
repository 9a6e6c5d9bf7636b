package sip_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"strings"
	"testing"
	"time"

	"parley/media"
	"parley/sip"
	"parley/sip/header"
)

// both runs a test over both transports.
func both(t *testing.T, f func(t *testing.T, network string)) {
	for _, network := range []string{"udp", "tcp"} {
		t.Run(network, func(t *testing.T) {
			t.Parallel()
			f(t, network)
		})
	}
}

func TestCallAndBye(t *testing.T) {
	both(t, func(t *testing.T, network string) {
		results := make(chan outcome, 1)
		ua := serve(t, sip.Config{OnCall: answering(results)})
		p := newPeer(t, ua, network)
		p.write(p.request("INVITE", p.offer(),
			`P-Asserted-Identity: "Ann Lee" <sip:+15550100001;verstat=TN-Validation-Passed@carrier.example>, <tel:+15550100001>`))
		p.response(100, "INVITE")
		ringing := p.response(180, "INVITE")
		answer := p.response(200, "INVITE")
		p.toTag = answer.To().Params.GetOr("tag", "")
		if ringing.To().Params.GetOr("tag", "") != p.toTag {
			t.Error("180 and 200 have different tags")
		}
		if answer.Contact() == nil || answer.GetHeader("Allow") == nil || !strings.Contains(string(answer.Body()), "m=audio") {
			t.Errorf("the answer lacks something:\n%s", answer)
		}
		p.write(p.request("ACK", ""))
		p.next(200, "BYE", "")
		o := wait(t, results, "end of the call")
		if o.err != nil {
			t.Errorf("ended with %v", o.err)
		}
		want := header.Identity{Number: "+15550100001", Host: "carrier.example", Display: "Ann Lee", Verstat: "TN-Validation-Passed"}
		if o.in.Asserted != want {
			t.Errorf("asserted %+v", o.in.Asserted)
		}
		if o.in.Called != "+15550100002" || o.in.From.Number != "+15550100001" || o.in.From.Display != "Ann" ||
			o.in.Source.String() != p.local().String() || o.in.Transport != strings.ToUpper(network) {
			t.Errorf("%+v", o.in)
		}
		eventually(t, "no call left", func() bool { s := ua.Stats(); return s.Calls == 0 && s.Ringing == 0 })
		p.next(481, "BYE", "")
	})
}

func TestWeHangUpWithAReason(t *testing.T) {
	both(t, func(t *testing.T, network string) {
		hangup := make(chan *media.Ended)
		results := make(chan outcome, 1)
		ua := serve(t, sip.Config{OnCall: func(ctx context.Context, in *sip.Incoming) {
			leg, err := in.Answer(ctx)
			if err != nil {
				results <- outcome{in, err}
				return
			}
			ctx, cancel := context.WithCancelCause(ctx)
			go func() { cancel(<-hangup) }()
			results <- outcome{in, conduct(ctx, leg, nil)}
		}})
		for _, c := range []struct {
			cause *media.Ended
			want  string
		}{
			{&media.Ended{Reason: media.AgentHangup, Detail: "goodbye"}, `Q.850;cause=16;text="Normal call clearing"`},
			{&media.Ended{Reason: media.BalanceExhausted}, `Q.850;cause=16;text="Normal call clearing"`},
			{&media.Ended{Reason: media.MaxDuration}, `Q.850;cause=16;text="Maximum duration"`},
		} {
			p := newPeer(t, ua, network)
			p.call()
			hangup <- c.cause
			bye := p.incoming("BYE")
			if h := bye.GetHeader("Reason"); h == nil || h.Value() != c.want {
				t.Errorf("%v: Reason %v", c.cause, h)
			}
			if bye.From().Params.GetOr("tag", "") != p.toTag || bye.To().Params.GetOr("tag", "") != p.tag {
				t.Errorf("tags of BYE:\n%s", bye)
			}
			p.confirm(bye)
			if o := wait(t, results, "end of the call"); o.err != nil {
				t.Errorf("%v: %v", c.cause, o.err)
			}
		}
	})
}

func TestRefusals(t *testing.T) {
	both(t, func(t *testing.T, network string) {
		type decision struct {
			code  int
			after time.Duration
		}
		decisions := make(chan decision, 1)
		ua := serve(t, sip.Config{OnCall: func(_ context.Context, in *sip.Incoming) {
			d := <-decisions
			if d.code == 0 {
				return
			}
			in.Reject(d.code, "", d.after)
			in.Reject(200, "", 0) // too late
			if _, err := in.Answer(context.Background()); !errors.Is(err, sip.ErrDecided) {
				t.Errorf("Answer after Reject: %v", err)
			}
		}})
		for _, c := range []decision{{404, 0}, {486, 0}, {480, 0}, {603, 0}, {503, 7 * time.Second}, {0, 0}} {
			decisions <- c
			p := newPeer(t, ua, network)
			p.write(p.request("INVITE", p.offer()))
			want := c.code
			if want == 0 {
				want = 500 // the handler forgot
			}
			res := p.response(want, "INVITE")
			if h := res.GetHeader("Retry-After"); c.after > 0 && (h == nil || h.Value() != fmt.Sprint(c.after.Seconds())) {
				t.Errorf("Retry-After %v", h)
			}
			p.toTag = res.To().Params.GetOr("tag", "")
			p.write(p.request("ACK", "", "Via: "+res.Via().Value()))
		}
		eventually(t, "nothing left", func() bool { s := ua.Stats(); return s.Calls == 0 && s.Ringing == 0 })
	})
}

func TestCallerCancels(t *testing.T) {
	both(t, func(t *testing.T, network string) {
		rung, causes := make(chan struct{}), make(chan error, 1)
		ua := serve(t, sip.Config{OnCall: func(ctx context.Context, in *sip.Incoming) {
			if err := in.Ring(); err != nil {
				t.Error(err)
			}
			close(rung)
			<-ctx.Done()
			causes <- context.Cause(ctx)
			if _, err := in.Answer(ctx); err == nil {
				t.Error("a canceled call was answered")
			}
		}})
		p := newPeer(t, ua, network)
		invite := p.request("INVITE", p.offer())
		p.write(invite)
		p.response(180, "INVITE")
		<-rung
		p.write(p.request("CANCEL", "", "Via:"+headerOf(invite, "Via")))
		p.response(200, "CANCEL")
		res := p.response(487, "INVITE")
		p.toTag = res.To().Params.GetOr("tag", "")
		p.write(p.request("ACK", "", "Via:"+headerOf(invite, "Via")))
		var e *media.Ended
		if err := wait(t, causes, "cause"); !errors.As(err, &e) || e.Reason != media.UserHangup || e.Detail != "canceled" {
			t.Errorf("cause %v", err)
		}
		eventually(t, "nothing left", func() bool { s := ua.Stats(); return s.Calls == 0 && s.Ringing == 0 })
	})
}

func headerOf(text, name string) string {
	for l := range strings.Lines(text) {
		if n, v, ok := strings.Cut(l, ":"); ok && n == name {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

func TestForeignAndStaleRequestsDoNotAct(t *testing.T) {
	both(t, func(t *testing.T, network string) {
		results := make(chan outcome, 1)
		ua := serve(t, sip.Config{OnCall: answering(results)})
		p := newPeer(t, ua, network)
		p.seq = 10
		p.call()
		for _, c := range []struct {
			name   string
			change func(*peer)
			code   int
		}{
			{"old CSeq", func(q *peer) { q.seq = 4 }, 500},
			{"same CSeq", func(q *peer) { q.seq = 9 }, 500},
			{"another caller", func(q *peer) { q.tag = "someone-else" }, 481},
			{"another callee", func(q *peer) { q.toTag = "guessed" }, 481},
			{"another call", func(q *peer) { q.callID += "x" }, 481},
			{"no dialog", func(q *peer) { q.toTag = "" }, 481},
		} {
			q := *p
			c.change(&q)
			q.next(c.code, "BYE", "")
			if s := ua.Stats(); s.Calls != 1 {
				t.Fatalf("%s: the call is gone", c.name)
			}
		}
		p.hangup(results)
	})
}

func TestUnknownSources(t *testing.T) {
	nobody := func(netip.Addr) bool { return false }
	both(t, func(t *testing.T, network string) {
		called := func(context.Context, *sip.Incoming) { t.Error("a stranger reached the handler") }
		silent := serve(t, sip.Config{Allow: nobody, OnCall: called})
		p := newPeer(t, silent, network)
		p.write(p.request("OPTIONS", ""))
		eventually(t, "counted", func() bool { return silent.Stats().Unknown > 0 })
		select {
		case m := <-p.msgs:
			t.Errorf("a stranger was told something:\n%s", m)
		case <-time.After(50 * time.Millisecond):
		}
		loud := serve(t, sip.Config{Allow: nobody, RejectUnknown: true, OnCall: called})
		q := newPeer(t, loud, network)
		q.write(q.request("INVITE", q.offer()))
		q.response(403, "INVITE")
		q.next(403, "OPTIONS", "")
	})
}

func TestDrain(t *testing.T) {
	both(t, func(t *testing.T, network string) {
		results := make(chan outcome, 1)
		ua := serve(t, sip.Config{OnCall: answering(results)})
		up := newPeer(t, ua, network)
		up.call()
		p := newPeer(t, ua, network)
		p.next(200, "OPTIONS", "")
		ua.Drain()
		for _, r := range []string{"OPTIONS", "INVITE"} {
			p.callID += r
			res := p.next(503, r, "")
			if res.GetHeader("Retry-After") == nil {
				t.Errorf("%s: no Retry-After", r)
			}
		}
		up.next(200, "OPTIONS", "") // the call that asks whether it lives goes on
		up.hangup(results)
	})
}

func TestFloodIsBounded(t *testing.T) {
	const most = 3
	release := make(chan struct{})
	ua := serve(t, sip.Config{MaxRinging: most, OnCall: func(_ context.Context, in *sip.Incoming) {
		<-release
		in.Reject(486, "", 0)
	}})
	p := newPeer(t, ua, "udp")
	id := p.callID
	for i := range most {
		p.callID = fmt.Sprint(id, i)
		p.write(p.request("INVITE", p.offer()))
		p.response(100, "INVITE")
	}
	for i := range 20 {
		p.callID = fmt.Sprint(id, "more", i)
		p.write(p.request("INVITE", p.offer()))
		if res := p.response(503, "INVITE"); res.GetHeader("Retry-After") == nil {
			t.Fatal("no Retry-After")
		}
	}
	if s := ua.Stats(); s.Ringing != most || s.Overload != 20 {
		t.Errorf("%+v", s)
	}
	close(release)
	eventually(t, "nothing rings", func() bool { s := ua.Stats(); return s.Ringing == 0 && s.Calls == 0 })
}

func TestMergedRequest(t *testing.T) {
	results := make(chan outcome, 1)
	ua := serve(t, sip.Config{OnCall: answering(results)})
	p := newPeer(t, ua, "udp")
	p.call()
	q := *p
	q.toTag = ""
	q.write(q.request("INVITE", q.offer())) // same Call-ID, tag and CSeq by another way
	q.response(482, "INVITE")
	p.hangup(results)
}

func TestNoPortIs503AndNoCodecIs488(t *testing.T) {
	results := make(chan outcome, 1)
	pool := ports(t)
	for {
		pair, err := pool.Open()
		if err != nil {
			break
		}
		defer pair.Release()
	}
	ua := serve(t, sip.Config{Ports: pool, OnCall: answering(results)})
	p := newPeer(t, ua, "udp")
	p.next(503, "INVITE", p.offer())
	var refused *sip.Refused
	if o := wait(t, results, "refusal"); !errors.As(o.err, &refused) || refused.Code != 503 {
		t.Errorf("got %v", o.err)
	}
	ua = serve(t, sip.Config{OnCall: answering(results)})
	for body, code := range map[string]int{
		"v=0\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nm=audio 6000 RTP/AVP 18\r\n": 488,
		"this is not a description\r\n":                                   400,
	} {
		p := newPeer(t, ua, "udp")
		p.next(code, "INVITE", body)
		if o := wait(t, results, "refusal"); !errors.As(o.err, &refused) || refused.Code != code {
			t.Errorf("got %v", o.err)
		}
	}
}

func TestEndOfTheUserAgentEndsCalls(t *testing.T) {
	results := make(chan outcome, 1)
	ctx, stop := context.WithCancelCause(context.Background())
	ua, err := sip.New(sip.Config{Listen: netip.AddrPortFrom(loopback, 0), Ports: ports(t),
		Allow: func(netip.Addr) bool { return true }, OnCall: answering(results)})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- ua.Run(ctx) }()
	p := newPeer(t, ua, "udp")
	p.call()
	heard(t, p.rtp)
	stop(&media.Ended{Reason: media.APIHangup, Detail: "drain"})
	p.confirm(p.incoming("BYE"))
	if o := wait(t, results, "end of the call"); o.err != nil {
		t.Error(o.err)
	}
	if err := wait(t, done, "end of Run"); err != nil {
		t.Error(err)
	}
	if _, err := ua.Dial(context.Background(), sip.Target{URI: "sip:a@127.0.0.1"}); !errors.Is(err, sip.ErrClosed) {
		t.Errorf("Dial: %v", err)
	}
}

// Whatever way calls end, they leave no goroutine, dialog or port behind.
func TestManyCallsLeaveNothing(t *testing.T) {
	const rounds = 30
	pool := ports(t)
	ua := serve(t, sip.Config{Ports: pool, OnCall: func(ctx context.Context, in *sip.Incoming) {
		if in.Ring() != nil {
			return
		}
		if in.From.Display == "cancel" {
			<-ctx.Done()
			return
		}
		if leg, err := in.Answer(ctx); err == nil && in.From.Display != "return" {
			_ = leg.Run(ctx)
		}
	}})
	p := newPeer(t, ua, "udp")
	before := runtime.NumGoroutine()
	for i := range rounds {
		for _, way := range []string{"bye", "cancel", "return", "codec"} {
			p.callID, p.toTag, p.seq = fmt.Sprint(way, i), "", 1
			body := p.offer()
			if way == "codec" {
				body = strings.Replace(body, "RTP/AVP 0 8", "RTP/AVP 18 3", 1)
			}
			invite := p.request("INVITE", body, fmt.Sprintf("From: %q <sip:a@127.0.0.1>;tag=%s", way, p.tag))
			p.write(invite)
			switch way {
			case "cancel":
				p.response(180, "INVITE")
				p.write(p.request("CANCEL", "", "Via:"+headerOf(invite, "Via")))
				p.response(487, "INVITE")
				p.write(p.request("ACK", "", "Via:"+headerOf(invite, "Via")))
				continue
			case "codec":
				p.response(488, "INVITE")
				p.write(p.request("ACK", "", "Via:"+headerOf(invite, "Via")))
				continue
			}
			p.toTag = p.response(200, "INVITE").To().Params.GetOr("tag", "")
			p.write(p.request("ACK", ""))
			if way == "bye" {
				p.next(200, "BYE", "")
			} else {
				p.confirm(p.incoming("BYE"))
			}
		}
	}
	eventually(t, "all given back", func() bool {
		s := ua.Stats()
		return s.Calls == 0 && s.Ringing == 0 && pool.Stats().InUse == 0 && runtime.NumGoroutine() <= before+5
	})
}

// A description may have company: a location, or a message of the telephone network.
func TestMultipart(t *testing.T) {
	both(t, func(t *testing.T, network string) {
		results := make(chan outcome, 1)
		p := newPeer(t, serve(t, sip.Config{OnCall: answering(results)}), network)
		mixed := func(parts ...string) string {
			return "--b1\r\n" + strings.Join(parts, "\r\n--b1\r\n") + "\r\n--b1--\r\n"
		}
		isup := "Content-Type: application/ISUP;version=itu-t92+\r\nContent-Disposition: signal;handling=optional\r\n\r\n\x01\x00\x11"
		kind := `Content-Type: multipart/mixed;boundary="b1"`
		p.turnedDown(415, mixed(isup), kind)
		p.seq++
		p.write(p.request("INVITE", mixed(isup, "Content-Type: application/sdp\r\n\r\n"+p.offer()), kind))
		p.toTag = p.response(200, "INVITE").To().Params.GetOr("tag", "")
		p.write(p.request("ACK", ""))
		heard(t, p.rtp)
		p.hangup(results)
	})
}
