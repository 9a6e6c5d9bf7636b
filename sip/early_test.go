package sip_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"parley/media"
	"parley/sip"
)

// announcing is a handler that plays before it answers, until it is told.
func announcing(answer <-chan struct{}, results chan<- outcome) func(context.Context, *sip.Incoming) {
	return func(ctx context.Context, in *sip.Incoming) {
		early, err := in.Progress()
		if errors.Is(err, sip.ErrNoOffer) {
			in.Reject(480, "", 0)
		}
		if err != nil {
			results <- outcome{in, err}
			return
		}
		due := time.NewTimer(0)
		defer due.Stop()
		for waiting := true; waiting; {
			select {
			case <-answer:
				waiting = false
			case <-due.C:
				for n := early.Due(time.Now()); n > 0; n-- {
					early.Write(media.Frame{Samples: make([]int16, 160), Rate: media.Rate8k})
				}
				due.Reset(time.Until(early.Next()))
			}
		}
		leg, err := in.Answer(ctx)
		if err == nil {
			err = conduct(ctx, leg, nil)
		}
		results <- outcome{in, err}
	}
}

// A caller hears what is played before the answer, which then is the one announced.
func TestEarlyMedia(t *testing.T) {
	both(t, func(t *testing.T, network string) {
		answer, results := make(chan struct{}), make(chan outcome, 1)
		p := newPeer(t, serve(t, sip.Config{OnCall: announcing(answer, results)}), network)
		p.write(p.request("INVITE", p.offer()))
		early := p.response(183, "INVITE")
		heard(t, p.rtp)
		close(answer)
		res := p.response(200, "INVITE")
		if len(early.Body()) == 0 || string(early.Body()) != string(res.Body()) || value(early, "To") != value(res, "To") {
			t.Errorf("announced\n%s\nanswered\n%s", early, res)
		}
		p.toTag = res.To().Params.GetOr("tag", "")
		p.write(p.request("ACK", ""))
		heard(t, p.rtp)
		p.hangup(results)
	})
}

// What is played before the answer goes out in the codec of the answer, wideband, too.
func TestEarlyMediaInWideband(t *testing.T) {
	answer, results := make(chan struct{}), make(chan outcome, 1)
	p := newPeer(t, serve(t, sip.Config{OnCall: announcing(answer, results)}), "udp")
	p.write(p.request("INVITE", strings.Replace(p.offer(), "0 8 101", "9 101", 1)))
	p.response(183, "INVITE")
	f := &farEnd{peer: p}
	f.sentAs(9)
	close(answer)
	p.toTag = p.response(200, "INVITE").To().Params.GetOr("tag", "")
	p.write(p.request("ACK", ""))
	f.sentAs(9)
	p.hangup(results)
}

// Who does not say where it is to go gets none.
func TestEarlyMediaWithoutAnOffer(t *testing.T) {
	both(t, func(t *testing.T, network string) {
		results := make(chan outcome, 1)
		p := newPeer(t, serve(t, sip.Config{OnCall: announcing(nil, results)}), network)
		p.write(p.request("INVITE", ""))
		p.response(480, "INVITE")
		if o := wait(t, results, "the outcome"); !errors.Is(o.err, sip.ErrNoOffer) {
			t.Errorf("got %v", o.err)
		}
	})
}

// With confirmed provisional responses, an announcement after the ringing waits for the
// confirmation of that, and has the next number.
func TestEarlyMediaAfterReliableRinging(t *testing.T) {
	unconfirmed, confirmed, results := make(chan error, 1), make(chan struct{}), make(chan outcome, 1)
	p := newPeer(t, serve(t, sip.Config{OnCall: func(ctx context.Context, in *sip.Incoming) {
		if err := in.Ring(); err != nil {
			t.Error(err)
		}
		_, err := in.Progress()
		unconfirmed <- err
		<-confirmed
		_, err = in.Progress()
		results <- outcome{in, err}
		<-ctx.Done()
	}}), "udp")
	p.write(p.request("INVITE", p.offer(), "Require: 100rel"))
	ringing := p.response(180, "INVITE")
	if err := wait(t, unconfirmed, "outcome"); !errors.Is(err, sip.ErrUnconfirmed) {
		t.Errorf("before the PRACK: %v", err)
	}
	p.toTag = ringing.To().Params.GetOr("tag", "")
	p.next(200, "PRACK", "", "RAck: "+value(ringing, "RSeq")+" 1 INVITE")
	close(confirmed)
	if o := wait(t, results, "outcome"); o.err != nil {
		t.Fatal(o.err)
	}
	announced := p.response(183, "INVITE")
	first, _ := strconv.Atoi(value(ringing, "RSeq"))
	if second, _ := strconv.Atoi(value(announced, "RSeq")); second != first+1 || len(announced.Body()) == 0 {
		t.Errorf("after RSeq %d\n%s", first, announced)
	}
}
