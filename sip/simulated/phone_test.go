package simulated_test

import (
	"context"
	"errors"
	"math"
	"net/netip"
	"strings"
	"testing"
	"time"

	"parley/media"
	"parley/media/mediatest"
	"parley/sip"
	"parley/sip/rtpport"
	"parley/sip/simulated"
)

var loopback = netip.MustParseAddr("127.0.0.1")

// server runs a user agent that answers with conductor.
func server(t *testing.T, first uint16, onCall func(context.Context, *sip.Incoming)) *sip.UserAgent {
	t.Helper()
	return serverAt(t, loopback, first, onCall)
}

func serverAt(t *testing.T, at netip.Addr, first uint16, onCall func(context.Context, *sip.Incoming)) *sip.UserAgent {
	t.Helper()
	ports, err := rtpport.New(rtpport.Config{Addr: at, First: first, Last: first + 199})
	if err != nil {
		t.Fatal(err)
	}
	ua, err := sip.New(sip.Config{Listen: netip.AddrPortFrom(at, 0), Ports: ports, OnCall: onCall,
		Allow: func(a netip.Addr) bool { return a == at }})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- ua.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		ports.Close()
	})
	return ua
}

// agent is what the server's side of a call does and saw.
type agent struct {
	tone   float64         // what it says
	digits string          // what it presses after half a second
	stay   time.Duration   // then it hangs up, when it has been told leave; 0: never
	leave  string          // keys
	frames int             // it hangs up when it has said so many; 0: never
	rung   <-chan struct{} // it answers when the caller has heard it ring; nil: at once

	heard []int16
	keys  string
	err   error
	done  chan struct{}
}

// serve conducts one call.
func (a *agent) serve(ctx context.Context, in *sip.Incoming) {
	defer close(a.done)
	if a.err = in.Ring(); a.err != nil {
		return
	}
	if a.rung != nil {
		// A 200 may overtake a 180 that is sent just before it.
		select {
		case <-a.rung:
		case <-ctx.Done():
		}
	}
	leg, err := in.Answer(ctx)
	if a.err = err; err != nil {
		return
	}
	ctx, hangup := context.WithCancelCause(ctx)
	defer hangup(nil)
	ended := make(chan error, 1)
	go func() { ended <- leg.Run(ctx) }()
	begun, said := time.Now(), 0
	tone := mediatest.Tone(a.tone, media.Rate8k, 8000, 0.3)
	for {
		select {
		case a.err = <-ended:
			return
		case e := <-leg.Events():
			if e.Kind == media.LegDigit {
				a.keys += string(rune(e.Digit))
			}
			continue
		case <-time.After(time.Until(leg.Next())):
		}
		now := time.Now()
		for f, ok := leg.Read(now); ok; f, ok = leg.Read(now) {
			a.heard = append(a.heard, f.Samples...)
		}
		for n := leg.Due(now); n > 0; n-- {
			leg.Write(media.Frame{Samples: tone[said : said+160], Rate: media.Rate8k})
			said = (said + 160) % 8000
			if a.frames--; a.frames == 0 {
				hangup(&media.Ended{Reason: media.AgentHangup})
			}
		}
		if a.digits != "" && now.Sub(begun) > 500*time.Millisecond {
			if err := leg.SendDigits(a.digits); err != nil {
				hangup(err)
			}
			a.digits = ""
		}
		if a.stay > 0 && now.Sub(begun) > a.stay && strings.HasSuffix(a.keys, a.leave) {
			hangup(&media.Ended{Reason: media.AgentHangup})
		}
	}
}

// wantTone checks that half a second of what was heard is the tone, in pieces of
// 100 ms: a busy machine leaves frames out. While keys are pressed there is none.
func wantTone(t *testing.T, who string, samples []int16, freq float64) {
	t.Helper()
	const piece = 800
	pieces := 0
	for rest := samples; len(rest) >= piece; rest = rest[piece:] {
		if got, level := mediatest.Peak(rest[:piece], media.Rate8k); math.Abs(got-freq) < 10 && level > -17 {
			pieces++
		}
	}
	if pieces < 5 {
		t.Errorf("%s heard %.0f Hz for %d ms in %d samples", who, freq, 100*pieces, len(samples))
	}
}

func TestCall(t *testing.T) {
	first := uint16(36000)
	for _, network := range []string{"udp", "tcp"} {
		for _, farEnd := range []bool{false, true} {
			name := network + ", the phone hangs up"
			if farEnd {
				name = network + ", the server hangs up"
			}
			first += 200
			at := first
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				rung := make(chan struct{})
				a := &agent{tone: 600, digits: "42", rung: rung, done: make(chan struct{})}
				if farEnd {
					a.stay, a.leave = 1700*time.Millisecond, "#"
				}
				ua := server(t, at, a.serve)
				rang := 0
				cfg := simulated.PhoneConfig{
					URI:    "sip:+15550100002@" + ua.Addr().String() + ";transport=" + network,
					Number: "+15550100001", Name: `An "odd" name`,
					Play: mediatest.Tone(1000, media.Rate8k, 8*1600, 0.3), Wait: 600 * time.Millisecond,
					Digits: "1#", DigitsAfter: 1200 * time.Millisecond,
					Ringing: func(int) {
						if rang++; rang == 1 {
							close(rung)
						}
					},
				}
				if farEnd {
					cfg.Wait = time.Minute
				}
				r, err := simulated.Call(t.Context(), cfg)
				if err != nil {
					t.Fatal(err)
				}
				<-a.done
				if a.err != nil {
					t.Errorf("server: %v", a.err)
				}
				if r.FarEnd != farEnd || rang != 1 || r.Ring <= 0 || r.Duration < 1500*time.Millisecond {
					t.Errorf("far end %t, rang %d, after %v, for %v", r.FarEnd, rang, r.Ring, r.Duration)
				}
				wantTone(t, "phone", r.Heard, 600)
				wantTone(t, "server", a.heard, 1000)
				if r.Digits != "42" || a.keys != "1#" {
					t.Errorf("keys %q and %q", r.Digits, a.keys)
				}
				if r.Stats.Sent < 50 || r.Stats.Received < 50 || r.Stats.Lost > 5 {
					t.Errorf("%+v", r.Stats)
				}
			})
		}
	}
}

func TestCallIsRefusedOrNotAnswered(t *testing.T) {
	ua := server(t, 37200, func(ctx context.Context, in *sip.Incoming) {
		switch in.Called {
		case "busy":
			in.Reject(486, "", 0)
		case "nobody":
			in.Reject(404, "", 0)
		case "ringing":
			_ = in.Ring()
			<-ctx.Done()
		}
	})
	for user, want := range map[string]media.Ended{
		"busy":    {Reason: media.Busy},
		"nobody":  {Reason: media.Failed, Detail: "invalid_number"},
		"ringing": {Reason: media.NoAnswer},
	} {
		for _, network := range []string{"udp", "tcp"} {
			_, err := simulated.Call(t.Context(), simulated.PhoneConfig{
				URI:         "sip:" + user + "@" + ua.Addr().String() + ";transport=" + network,
				RingTimeout: time.Second, // the server must have said that it has the call
			})
			var e *sip.NotAnswered
			if !errors.As(err, &e) || *e.Ended() != want {
				t.Errorf("%s: %v", user, err)
			}
		}
	}
	// The server answers a CANCEL before the call's own goroutine has ended.
	until(t, func() bool { s := ua.Stats(); return s.Calls == 0 && s.Ringing == 0 })
	if _, err := simulated.Call(t.Context(), simulated.PhoneConfig{URI: "tel:+15550100002"}); err == nil {
		t.Error("called a tel: URI")
	}
}

func TestManyLegsOfOnePhone(t *testing.T) {
	const calls = 5
	results := make(chan error, calls)
	ua := server(t, 37400, func(ctx context.Context, in *sip.Incoming) {
		a := &agent{tone: 500, frames: 40, done: make(chan struct{})}
		a.serve(ctx, in)
		results <- a.err
	})
	p, err := simulated.NewPhone(loopback)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- p.Run(ctx) }()
	heard := make(chan error, calls)
	for range calls {
		go func() {
			r, err := simulated.Call(ctx, simulated.PhoneConfig{Phone: p,
				URI: "sip:x@" + ua.Addr().String(), Wait: time.Minute})
			if err == nil && r.Stats.Received < 20 {
				err = errors.New("heard nothing")
			}
			heard <- err
		}()
	}
	for range calls {
		if err := <-heard; err != nil {
			t.Error(err)
		}
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// A phone on this machine has the family of whom it calls.
func TestCallOverIPv6(t *testing.T) {
	for _, network := range []string{"udp", "tcp"} {
		a := &agent{tone: 500, done: make(chan struct{})}
		ua := serverAt(t, netip.IPv6Loopback(), 37600, func(ctx context.Context, in *sip.Incoming) { a.serve(ctx, in) })
		r, err := simulated.Call(t.Context(), simulated.PhoneConfig{URI: "sip:x@" + ua.Addr().String() + ";transport=" + network, Wait: 500 * time.Millisecond})
		if err != nil {
			t.Fatalf("%s: %v", network, err)
		}
		<-a.done
		if r.Stats.Received == 0 || a.err != nil {
			t.Errorf("%s: %d packets came, %v", network, r.Stats.Received, a.err)
		}
	}
}
