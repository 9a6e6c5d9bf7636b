package sip_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"parley/media"
	"parley/media/g711"
	"parley/media/mediatest"
	"parley/sip"
)

// interopAtOnce bounds the SIPp processes: each is a whole phone, and a machine
// that is too busy breaks their timing, not ours.
const interopAtOnce = 4

// seen is what our side of a SIPp call saw.
type seen struct {
	heard   []int16
	digits  string
	holds   []media.LegEventKind
	latched string
	err     error
}

// scenario is one SIPp script and what must have happened here when it passed.
type scenario struct {
	name   string
	env    string // for sipp.sh
	reject int    // refuse with this code
	ring   bool   // ring until the caller gives up
	slow   bool   // takes half a minute by its nature
	root   bool   // SIPp needs it to replay a capture
	// datagram: not over TCP, where SIPp takes a repeated 200 (RFC 3261 section
	// 13.3.1.4) for a message out of place.
	datagram bool
	cfg      sip.Config
	check    func(t *testing.T, s seen, mediaPort int)
}

var scenarios = []scenario{
	{name: "call", check: heardTone(4 * time.Second)},
	{name: "late_offer", check: heardTone(2 * time.Second)},
	{name: "dtmf", root: true, check: func(t *testing.T, s seen, _ int) {
		if s.digits != "1#5" {
			t.Errorf("digits %q", s.digits)
		}
	}},
	{name: "expect_reject", env: "CODE=404", reject: 404},
	{name: "expect_reject", env: "CODE=403", reject: 403},
	{name: "expect_reject", env: "CODE=486", reject: 486},
	{name: "expect_reject", env: "CODE=503", reject: 503},
	{name: "no_common_codec", check: func(t *testing.T, s seen, _ int) {
		var e *sip.Refused
		if !errors.As(s.err, &e) || e.Code != 488 {
			t.Errorf("got %v", s.err)
		}
	}},
	{name: "cancel", ring: true, check: ended("canceled")},
	{name: "nat_latch", check: func(t *testing.T, s seen, port int) {
		heardTone(4*time.Second)(t, s, port)
		if want := fmt.Sprintf("127.0.0.1:%d", port); s.latched != want {
			t.Errorf("latched to %s, want %s", s.latched, want)
		}
	}},
	{name: "silent", cfg: sip.Config{FirstRTPTimeout: 2 * time.Second}, check: ended("media_timeout")},
	{name: "options", check: func(*testing.T, seen, int) {}},
	{name: "no_ack", slow: true, datagram: true, cfg: sip.Config{FirstRTPTimeout: time.Minute}, check: ended("no_ack")},
	{name: "hold_resume", slow: true, check: func(t *testing.T, s seen, port int) {
		if len(s.holds) != 2 || s.holds[0] != media.LegHold || s.holds[1] != media.LegResume || s.err != nil {
			t.Errorf("holds %v, %v", s.holds, s.err)
		}
	}},
}

func heardTone(least time.Duration) func(*testing.T, seen, int) {
	return func(t *testing.T, s seen, _ int) {
		if s.err != nil {
			t.Errorf("ended with %v", s.err)
		}
		if d := media.Rate8k.Duration(len(s.heard)).Duration(); d < least {
			t.Errorf("heard %v, want %v", d, least)
			return
		}
		if hz, level := mediatest.Peak(s.heard[8000:12000], media.Rate8k); hz < 435 || hz > 445 || level < -20 {
			t.Errorf("heard %.0f Hz at %.0f dBFS", hz, level)
		}
	}
}

func ended(detail string) func(*testing.T, seen, int) {
	return func(t *testing.T, s seen, _ int) {
		var e *media.Ended
		if !errors.As(s.err, &e) || e.Detail != detail {
			t.Errorf("ended with %v, want %s", s.err, detail)
		}
	}
}

func TestInterop(t *testing.T) {
	if _, err := exec.LookPath("sipp"); err != nil {
		t.Skip("sipp is not installed")
	}
	work := interopFiles(t)
	slots := make(chan struct{}, interopAtOnce)
	var all sync.WaitGroup
	// The slow ones first: the others fit beside them.
	n := 0
	for _, slow := range []bool{true, false} {
		for _, s := range scenarios {
			if s.slow != slow {
				continue
			}
			for _, network := range []string{"udp", "tcp"} {
				if s.datagram && network == "tcp" {
					continue
				}
				n++
				name := fmt.Sprintf("%s %s/%s", s.name, s.env, network)
				ports := [2]int{15000 + 10*n, 16000 + 20*n} // of signalling and media
				all.Go(func() {
					slots <- struct{}{}
					defer func() { <-slots }()
					t.Run(name, func(t *testing.T) { s.run(t, work, network, ports) })
				})
			}
		}
	}
	all.Wait()
}

// interopFiles is a directory with the tone and the captures that scripts play.
func interopFiles(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	tone := mediatest.Tone(440, media.Rate8k, 8000, 0.5)
	coded := make([]byte, len(tone))
	g711.PCMU.Encode(coded, tone)
	if err := os.WriteFile(filepath.Join(dir, "tone.ulaw"), coded, 0o600); err != nil {
		t.Fatal(err)
	}
	if found, _ := filepath.Glob("/usr/share/*/g711a.pcap"); len(found) > 0 {
		if err := os.Symlink(filepath.Dir(found[0]), filepath.Join(dir, "pcap")); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func (s scenario) run(t *testing.T, work, network string, ports [2]int) {
	if s.slow && testing.Short() {
		t.Skip("takes half a minute")
	}
	if s.root && os.Geteuid() != 0 {
		t.Skip("SIPp needs root to replay a capture")
	}
	calls := make(chan seen, 1)
	cfg := s.cfg
	cfg.OnCall = func(ctx context.Context, in *sip.Incoming) { calls <- s.serve(ctx, in) }
	ua := serve(t, cfg)
	script, err := filepath.Abs("../testdata/interop/sipp.sh")
	if err != nil {
		t.Fatal(err)
	}
	args := []string{script, "in", s.name, ua.Addr().String()}
	if network == "tcp" {
		args = append(args, "-t", "t1")
	}
	cmd := exec.CommandContext(t.Context(), "bash", args...)
	cmd.Dir = work
	cmd.Env = append(os.Environ(), "PORT="+strconv.Itoa(ports[0]), "MEDIA="+strconv.Itoa(ports[1]), "LIMIT=90", "TRACE=1", s.env)
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, complaints.Bytes())
	}
	if s.name != "options" {
		got := wait(t, calls, "end of the call")
		if s.check != nil {
			s.check(t, got, ports[1])
		}
	}
	eventually(t, "nothing left", func() bool { st := ua.Stats(); return st.Calls == 0 && st.Ringing == 0 })
}

// serve answers as the scenario wants it, and echoes what it hears.
func (s scenario) serve(ctx context.Context, in *sip.Incoming) (got seen) {
	if s.reject > 0 {
		in.Reject(s.reject, "", 0)
		return got
	}
	if got.err = in.Ring(); got.err != nil {
		return got
	}
	if s.ring {
		<-ctx.Done()
		got.err = context.Cause(ctx)
		return got
	}
	leg, err := in.Answer(ctx)
	if err != nil {
		got.err = err
		return got
	}
	got.err = conduct(ctx, leg, func(leg *sip.Leg, f media.Frame) []int16 {
		got.heard = append(got.heard, f.Samples...)
		for len(leg.Events()) > 0 {
			switch e := <-leg.Events(); e.Kind {
			case media.LegDigit:
				got.digits += string(rune(e.Digit))
			default:
				got.holds = append(got.holds, e.Kind)
			}
		}
		return f.Samples
	})
	got.latched = leg.Stats().Latched.String()
	return got
}
