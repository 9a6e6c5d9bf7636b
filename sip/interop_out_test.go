package sip_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"

	"parley/media"
	"parley/media/mediatest"
	"parley/sip"
	"parley/sip/dialog"
	"parley/sip/header"
)

// placed is a SIPp script that we call, and what must come of it.
type placed struct {
	name string
	env  string // for sipp.sh
	slow bool   // takes a quarter of a minute or more by its nature
	auth dialog.Credentials
	// rings is after how many of them we give up; 0: never.
	rings int
	// talk conducts the answered call until it ends; nil: hear a second of tone
	// and hang up.
	talk  func(t *testing.T, h *sip.Hands, c *talk)
	fails *media.Ended // what becomes of a call that is not answered
	rang  int          // how often it rings at least
}

var sippUser = dialog.Credentials{Username: "12345", Password: "secret"}

var placements = []placed{
	{name: "hold", slow: true, talk: func(t *testing.T, _ *sip.Hands, c *talk) {
		for _, want := range []media.LegEventKind{media.LegHold, media.LegResume} {
			select {
			case kind := <-c.holds:
				if kind != want {
					t.Errorf("event %v, want %v", kind, want)
				}
			case err := <-c.over:
				t.Fatalf("the call ended before event %v: %v", want, err)
			case <-time.After(time.Minute):
				t.Fatalf("no event %v; %+v", want, c.leg.Stats())
			}
		}
		c.listen(t)
		c.hangup(media.AgentHangup)
	}},
	{name: "ring_many", slow: true, rang: 15},
	{name: "wideband", talk: func(t *testing.T, _ *sip.Hands, c *talk) {
		wait(t, c.tone, "tone")
		if f := c.leg.Format(); f.In != media.Rate16k {
			t.Errorf("the leg is at %v", f.In)
		}
		c.hangup(media.AgentHangup)
	}},
	{name: "session_timer", talk: func(t *testing.T, h *sip.Hands, c *talk) {
		wait(t, c.tone, "tone")
		due(t, h, 45*time.Second)
		eventually(t, "refreshed", func() bool { return h.Next() == 45*time.Second })
		c.listen(t)
		c.hangup(media.AgentHangup)
	}},
	{name: "answer"},
	{name: "private_contact"},
	{name: "early_media", rang: 1},
	{name: "reject", env: "CODE=486", fails: &media.Ended{Reason: media.Busy}},
	{name: "reject", env: "CODE=503", fails: &media.Ended{Reason: media.Busy}}, // its Reason header says so
	{name: "no_answer", rings: 1, fails: &media.Ended{Reason: media.NoAnswer}},
	{name: "cancel_glare", rings: 1, fails: &media.Ended{Reason: media.Failed, Detail: sip.AnsweredAfterCancel}},
	{name: "auth401", auth: sippUser},
	{name: "auth407", auth: sippUser},
	{name: "bye_auth", auth: sippUser},
	{name: "100rel", rang: 1},
	{name: "remote_bye", talk: func(*testing.T, *sip.Hands, *talk) {}},
	{name: "refer", talk: func(t *testing.T, _ *sip.Hands, c *talk) {
		wait(t, c.tone, "tone")
		if err := c.leg.Transfer(t.Context(), "tel:+15550100077"); err != nil {
			t.Errorf("Transfer: %v", err)
		}
		c.listen(t)
		c.listen(t) // it takes half a second after its last NOTIFY
		c.hangup(media.Completed)
	}},
}

// talk is an answered call to a SIPp script.
type talk struct {
	leg   *sip.Leg
	heard []int16 // when it is over
	holds chan media.LegEventKind
	keys  chan byte
	tone  chan struct{} // closed when a second of tone was heard
	end   context.CancelCauseFunc
	over  chan error
}

func (c *talk) hangup(r media.EndReason) { c.end(&media.Ended{Reason: r}) }

// listen hears a second more: a script works through its steps one by one, and
// fails when a request overtakes them. It is heard when it waits for the next one.
func (c *talk) listen(t *testing.T) {
	t.Helper()
	before := c.leg.Stats().Received
	eventually(t, "a second more", func() bool { return c.leg.Stats().Received >= before+50 })
}

// converse conducts a leg and listens.
func converse(leg *sip.Leg) *talk {
	ctx, end := context.WithCancelCause(context.Background())
	c := &talk{leg: leg, holds: make(chan media.LegEventKind, 8), tone: make(chan struct{}), end: end, over: make(chan error, 1)}
	go func() {
		heard, rate := false, leg.Format().In
		c.over <- conduct(ctx, leg, func(leg *sip.Leg, f media.Frame) []int16 {
			c.heard = append(c.heard, f.Samples...)
			if n := len(c.heard); !heard && n >= int(rate) {
				if hz, level := mediatest.Peak(c.heard[n-int(rate)/2:], rate); hz > 435 && hz < 445 && level > -20 {
					heard = true
					close(c.tone)
				}
			}
			for len(leg.Events()) > 0 {
				c.holds <- (<-leg.Events()).Kind
			}
			return f.Samples
		})
	}()
	return c
}

func (s placed) run(t *testing.T, work, network string, ports [2]int) {
	if s.slow && testing.Short() {
		t.Skip("takes a quarter of a minute")
	}
	h := sip.NewHands()
	ua := serve(t, h.On(sip.Config{}))
	args := []string{script(t), "out", s.name, strconv.Itoa(ports[0])}
	if network == "tcp" {
		args = append(args, "-t", "t1")
	}
	cmd := exec.CommandContext(t.Context(), "bash", args...)
	cmd.Dir = work
	cmd.Env = append(os.Environ(), "MEDIA="+strconv.Itoa(ports[1]), "LIMIT=90", "TRACE=1", s.env)
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait(); close(done) }()
	defer func() {
		if t.Failed() { // what the peer saw is the other half of the story; it ends at its LIMIT
			<-done
			t.Logf("SIPp: %s", complaints.Bytes())
		}
	}()
	s.call(t, h, ua, fmt.Sprintf("sip:+15550100009@127.0.0.1:%d;transport=%s", ports[0], network))
	if err := <-done; err != nil {
		t.Fatalf("%v\n%s", err, complaints.Bytes())
	}
	eventually(t, "nothing left", func() bool { return ua.Stats().Calls == 0 })
}

// call places the call and conducts it to its end.
func (s placed) call(t *testing.T, h *sip.Hands, ua *sip.UserAgent, uri string) {
	ctx, giveUp := context.WithCancelCause(t.Context())
	defer giveUp(nil)
	rang := 0
	target := sip.Target{URI: uri, Auth: s.auth, From: header.Identity{Number: "+15550100001"}, Ringing: func(int) {
		if rang++; rang == s.rings {
			giveUp(context.DeadlineExceeded) // as a ring timeout does
		}
	}}
	leg, err := ua.Dial(ctx, target)
	for end := time.Now().Add(patience); errors.Is(err, syscall.ECONNREFUSED) && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond) // SIPp does not listen yet
		leg, err = ua.Dial(ctx, target)
	}
	if s.fails != nil {
		var e *sip.NotAnswered
		if !errors.As(err, &e) || *e.Ended() != *s.fails {
			t.Errorf("got %v, want %v", err, s.fails)
		}
		return
	}
	if err != nil {
		t.Errorf("not answered: %v", err)
		return
	}
	if rang < s.rang {
		t.Errorf("rang %d times, want %d", rang, s.rang)
	}
	c := converse(leg)
	if s.talk == nil {
		wait(t, c.tone, "tone")
		c.hangup(media.AgentHangup)
	} else {
		s.talk(t, h, c)
	}
	if err := wait(t, c.over, "end of the call"); err != nil {
		t.Errorf("ended with %v", err)
	}
}
