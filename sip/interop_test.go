package sip_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"parley/media"
	"parley/media/codec"
	"parley/media/mediatest"
	"parley/sip"
	"parley/sip/trunk"
)

// interopAtOnce bounds the SIPp processes: each is a whole phone, and a machine
// that is too busy breaks their timing, not ours.
const interopAtOnce = 4

// seen is what our side of a SIPp call saw.
type seen struct {
	heard   []int16
	rate    media.Rate // of it
	digits  string
	holds   []media.LegEventKind
	latched string
	err     error
}

// scenario is one SIPp script and what must have happened here when it passed.
type scenario struct {
	name   string
	env    string // for sipp.sh
	args   []string
	reject int  // refuse with this code
	ring   bool // ring until the caller gives up
	slow   bool // takes half a minute by its nature
	root   bool // SIPp needs it to replay a capture
	// datagram: not over TCP, where SIPp takes a repeated 200 (RFC 3261 section
	// 13.3.1.4) for a message out of place.
	datagram bool
	cfg      sip.Config
	due      time.Duration // turn the clock when something is due in this time
	check    func(t *testing.T, s seen, mediaPort int)
}

var scenarios = []scenario{
	{name: "call", check: heardTone(4 * time.Second)},
	{name: "late_offer", check: heardTone(2 * time.Second)},
	{name: "wideband", check: func(t *testing.T, s seen, port int) {
		if heardTone(4*time.Second)(t, s, port); s.rate != media.Rate16k {
			t.Errorf("heard at %v", s.rate)
		}
	}},
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
	{name: "private_contact", cfg: sip.Config{FirstRTPTimeout: time.Second}, check: ended("media_timeout")},
	{name: "auth", args: []string{"-au", sippUser.Username, "-ap", sippUser.Password}, check: heardTone(time.Second),
		cfg: sip.Config{Trunks: []trunk.Config{{Name: "carrier", Inbound: sippUser, Allow: []netip.Prefix{netip.PrefixFrom(loopback, 8)}}}}},
	{name: "session_timer", due: 45 * time.Second, check: heardTone(time.Second)},
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
		if s.rate == 0 {
			t.Fatal("nothing was heard")
		}
		if d := s.rate.Duration(len(s.heard)).Duration(); d < least {
			t.Errorf("heard %v, want %v", d, least)
		}
		checkTone(t, "the server", s.heard, s.rate)
	}
}

func ended(detail media.EndDetail) func(*testing.T, seen, int) {
	return func(t *testing.T, s seen, _ int) {
		var e *media.Ended
		if !errors.As(s.err, &e) || e.Detail != detail {
			t.Errorf("ended with %v, want %s", s.err, detail)
		}
	}
}

func TestInterop(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("sipp"); err != nil {
		t.Skip("sipp is not installed")
	}
	work := interopFiles(t)
	slots := make(chan struct{}, interopAtOnce)
	var all sync.WaitGroup
	start := func(name string, run func(t *testing.T, work, network string, ports [2]int), networks ...string) {
		for _, network := range networks {
			slots <- struct{}{}
			all.Go(func() {
				defer func() { <-slots }()
				t.Run(name+"/"+network, func(t *testing.T) {
					run(t, work, network, [2]int{mediatest.FreePorts(t), mediatest.FreePorts(t)}) // of signalling and media
				})
			})
		}
	}
	// The slow ones first: the others fit beside them.
	for _, slow := range []bool{true, false} {
		for _, s := range scenarios {
			switch {
			case s.slow != slow:
			case s.datagram:
				start("in "+s.name, s.run, "udp")
			default:
				start(fmt.Sprintf("in %s %s", s.name, s.env), s.run, "udp", "tcp")
			}
		}
		for _, s := range placements {
			if s.slow == slow {
				start(fmt.Sprintf("out %s %s", s.name, s.env), s.run, "udp", "tcp")
			}
		}
	}
	all.Wait()
}

// TestInteropHasAll: a script that is there is played.
func TestInteropHasAll(t *testing.T) {
	played := map[string]bool{}
	for _, s := range scenarios {
		played["uac_"+s.name+".xml"] = true
	}
	for _, s := range placements {
		played["uas_"+s.name+".xml"] = true
	}
	files, err := os.ReadDir("../testdata/interop/sipp")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !played[f.Name()] {
			t.Errorf("no test plays %s", f.Name())
		}
	}
	if len(files) != len(played) {
		t.Errorf("%d scripts, %d played", len(files), len(played))
	}
}

func script(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs("../testdata/interop/sipp.sh")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// interopFiles is a directory with the tone and the captures that scripts play.
func interopFiles(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, c := range map[string]codec.Codec{"tone.ulaw": codec.PCMU, "tone.g722": codec.G722} {
		var coded []byte
		e, payload := codec.NewEncoder(media.Rate8k), make([]byte, 160)
		for frame := range slices.Chunk(mediatest.Tone(440, media.Rate8k, 8000, 0.5), 160) {
			e.Encode(c, payload, frame)
			coded = append(coded, payload...)
		}
		if err := os.WriteFile(filepath.Join(dir, name), coded, 0o600); err != nil {
			t.Fatal(err)
		}
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
	audible, done := make(chan struct{}), make(chan struct{})
	defer close(done)
	cfg := s.cfg
	cfg.OnCall = func(ctx context.Context, in *sip.Incoming) { calls <- s.serve(ctx, in, audible) }
	if s.due > 0 {
		h := sip.NewHands()
		cfg = h.On(cfg)
		go func() {
			// SIPp ends a call when a request comes while it still works off the
			// steps before: once it is heard, it waits for one.
			select {
			case <-audible:
				turnWhenDue(h, s.due, done)
			case <-done:
			}
		}()
	}
	ua := serve(t, cfg)
	args := append([]string{script(t), "in", s.name, ua.Addr().String()}, s.args...)
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

// turnWhenDue turns a clock when something waits for a moment so far away.
func turnWhenDue(h *sip.Hands, d time.Duration, stop <-chan struct{}) {
	for {
		select {
		case <-time.After(time.Millisecond):
			if h.Next() == d {
				h.Turn(d)
				return
			}
		case <-stop:
			return
		}
	}
}

// serve answers as the scenario wants it, and echoes what it hears; audible is
// closed once that is half a second of sound.
func (s scenario) serve(ctx context.Context, in *sip.Incoming, audible chan<- struct{}) (got seen) {
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
	loud := 0
	got.rate = leg.Format().In
	got.err = conduct(ctx, leg, func(leg *sip.Leg, f media.Frame) []int16 {
		got.heard = append(got.heard, f.Samples...)
		if slices.Max(f.Samples) > 1000 {
			if loud++; loud == 25 {
				close(audible)
			}
		}
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
