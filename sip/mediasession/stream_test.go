package mediasession_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/media"
	"parley/media/codec"
	"parley/sip/mediasession"
	"parley/sip/sdp"
)

// outcome is what Watch has returned.
type outcome struct {
	ended bool
	why   error
}

// watch watches a stream on a goroutine of its own.
func watch(ctx context.Context, s *mediasession.Stream, gone <-chan struct{}) <-chan outcome {
	result := make(chan outcome, 1)
	go func() {
		ended, why := s.Watch(ctx, gone)
		result <- outcome{ended, why}
	}()
	return result
}

// Watch returns for the stream's own end, the first of several; for the far end's, and for that of its context.
func TestEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := negotiated(t, sdp.SRTPOff)
		s, first := p.begin(p.ours, p.m), errors.New("first")
		result := watch(t.Context(), s, nil)
		s.End(first)
		s.End(errors.New("second"))
		if got := <-result; got != (outcome{true, first}) {
			t.Errorf("of its own: %+v", got)
		}
		s = p.begin(p.theirs, p.far)
		gone := make(chan struct{})
		close(gone)
		if got := <-watch(t.Context(), s, gone); got != (outcome{}) {
			t.Errorf("of the far end: %+v", got)
		}
		ctx, cancel := context.WithCancel(t.Context())
		result = watch(ctx, s, nil)
		cancel()
		if got := <-result; got != (outcome{}) {
			t.Errorf("of the context: %+v", got)
		}
		result = watch(t.Context(), s, nil)
		s.End(nil)
		if got := <-result; got != (outcome{true, nil}) {
			t.Errorf("an ordinary one: %+v", got)
		}
	})
}

// Keys that nobody reads end the stream.
func TestOverflow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := negotiated(t, sdp.SRTPOff)
		s := p.begin(p.ours, p.m)
		result := watch(t.Context(), s, nil)
		for range media.EventQueue {
			s.InfoDigit('5')
		}
		if synctest.Wait(); len(result) > 0 {
			t.Fatalf("it ended before: %+v", <-result)
		}
		s.InfoDigit('6')
		got, why := <-result, (*media.Ended)(nil)
		if !got.ended || !errors.As(got.why, &why) || why.Reason != media.Failed || why.Detail != mediasession.DetailOverflow {
			t.Errorf("%+v", got)
		}
		for range media.EventQueue {
			if e := <-s.Events(); e != (media.LegEvent{Kind: media.LegDigit, Digit: '5'}) {
				t.Errorf("%+v", e)
			}
		}
	})
}

// A key counts once where each comes by RTP and by INFO: the way that brought the first one is believed.
func TestKeysOfOneWay(t *testing.T) {
	for _, first := range []string{"INFO", "RTP"} {
		p := negotiated(t, sdp.SRTPOff)
		ours, theirs := p.begin(p.ours, p.m), p.begin(p.theirs, p.far)
		ctx, stop := context.WithCancel(t.Context())
		result := watch(ctx, ours, nil)
		if first == "INFO" {
			ours.InfoDigit('1')
		}
		if err := theirs.SendDigits("123"); err != nil {
			t.Fatal(err)
		}
		keys := ""
		received := func() bool { // all three have been sent, by RTP, and more
			for len(ours.Events()) > 0 {
				if keys += string((<-ours.Events()).Digit); first == "RTP" {
					ours.InfoDigit(keys[len(keys)-1])
				}
			}
			return ours.Stats().Received > 60 && (first == "INFO" || len(keys) >= 3)
		}
		conduct(t, received, none, ours, theirs)
		stop()
		<-result
		if want := map[string]string{"INFO": "1", "RTP": "123"}[first]; keys != want {
			t.Errorf("%s first: %q", first, keys)
		}
	}
}

// Silence from the beginning is logged once, with where we are described to be.
func TestSilenceIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := negotiated(t, sdp.SRTPOff)
		var log bytes.Buffer
		p.cfg.Log = slog.New(slog.NewTextHandler(&log, nil))
		ours, err := mediasession.Open(p.cfg, sdp.Local{Addr: loopback, Codecs: []codec.Codec{codec.PCMU}})
		if err != nil {
			t.Fatal(err)
		}
		offer, err := ours.SDP.Offer()
		if err != nil {
			t.Fatal(err)
		}
		answer, _, err := p.theirs.SDP.Answer(offer)
		if err != nil {
			t.Fatal(err)
		}
		m, err := ours.SDP.Accept(answer)
		if err != nil {
			t.Fatal(err)
		}
		s := p.begin(ours, m)
		for range s.Due(time.Now()) { // it is being conducted
			s.Write(media.Frame{Samples: make([]int16, 160), Rate: media.Rate8k})
		}
		ctx, stop := context.WithCancel(t.Context())
		result := watch(ctx, s, nil)
		time.Sleep(5*time.Second - 1)
		synctest.Wait()
		if n := p.cfg.Counters.NoRTP.Load(); n != 0 {
			t.Errorf("before: %d", n)
		}
		time.Sleep(time.Hour)
		stop()
		<-result
		if n, text := p.cfg.Counters.NoRTP.Load(), log.String(); n != 1 || strings.Count(text, "no_rtp_5s") != 1 || !strings.Contains(text, "local=127.0.0.1:") {
			t.Errorf("%d: %q", n, text)
		}
	})
}
