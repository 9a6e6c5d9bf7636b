package sip_test

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"slices"
	"testing"
	"time"

	"parley/media"
	"parley/media/isolate/isolatetest"
	"parley/sip"
	"parley/sip/trunk"
)

// scene is a call, or all that a user agent does from its start to its end, with far ends
// that behave as real ones do when something goes wrong: they say it again, and call again.
type scene struct {
	name string
	cfg  func(s *stage, cfg *sip.Config)
	play func(s *stage) (ended []string) // how each call ended, the first that began first
}

// stage is where a scene is played: a user agent with a call beside it.
type stage struct {
	*testing.T
	ua      *sip.UserAgent
	results chan outcome // of calls that come in
	robot   *robot
	ca      *authority
	ends    bool            // a fault of this play ends a call
	fired   <-chan struct{} // closed when it has come; nil: there is none
}

// beside plays a scene, with a fault at the site if there is one, and once more without.
// The call beside it goes on, and nothing of the scene's is left. It returns how the calls
// ended in either play, and the sites that are reached.
func (sc *scene) beside(t *testing.T, site *isolatetest.Site) (ended, again []string, reached map[string]bool) {
	began := isolatetest.Watch(t)
	s := &stage{T: t, results: make(chan outcome, 8), robot: newRobot(t, "udp", nil), ca: newAuthority(t)}
	pool := ports(t)
	cfg := sip.Config{OnCall: answering(s.results), Ports: pool, FirstRTPTimeout: time.Hour, ListenTLS: netip.AddrPortFrom(loopback, 0),
		TLS: &tls.Config{Certificates: []tls.Certificate{s.ca.issue("127.0.0.1")}}, Resolver: names{}}
	cfg.Trunks = []trunk.Config{{Name: "carrier", Targets: []trunk.Target{s.robot.target()}, Flags: trunk.NoProbe}}
	if sc.cfg != nil {
		sc.cfg(s, &cfg)
	}
	s.ua = serve(t, cfg)
	far := newCalled(t, s.ua, "udp")
	call := connect(t, s.ua, far)
	for _, network := range []string{"udp", "tcp", "tls"} { // each listener has begun
		p := s.peer(network)
		p.write(p.request("OPTIONS", ""))
		p.response(200, "OPTIONS")
	}
	eventually(t, "its goroutines have begun", func() bool { return began()["sip/media"] && began()["sip/trunk/run"] })
	eventually(t, "the trunk is found", func() bool { return len(s.ua.Trunks()[0].Targets) > 0 })

	watch := func() map[string]bool { return nil }
	if site == nil {
		watch = isolatetest.Watch(t)
		ended = sc.play(s)
	} else {
		s.fired, s.ends = isolatetest.Inject(t, site.Name), site.Ends
		ended = sc.play(s)
		wait(t, s.fired, "fault")
	}
	alone := func() bool {
		return s.ua.Stats().Calls == 1 && s.ua.Stats().Ringing == 0 && pool.Stats().InUse == 1 && s.ua.Trunks()[0].Calls == 0 && s.robot.idle()
	}
	eventually(t, "nothing is left but the call beside it", alone)
	reached = watch()
	s.fired, s.ends = nil, false
	again = sc.play(s)
	eventually(t, "nothing is left of the next one", alone)
	far.next(200, "OPTIONS", "")
	far.next(200, "BYE", "")
	if err := wait(t, call.ended, "end of the call beside it"); err != nil {
		t.Errorf("the call beside it ended with %v", err)
	}
	return ended, again, reached
}

// prove plays a scene with a fault, and compares it with one without.
func (sc *scene) prove(t *testing.T, site isolatetest.Site, want []string) {
	ended, again, _ := sc.beside(t, &site)
	switch {
	case site.Ends && (len(ended) == 0 || ended[0] != "failed internal"):
		t.Errorf("%s: the calls ended %q, want the first failed internal", sc.name, ended)
	case !site.Ends && (len(ended) < len(want) || ended[len(ended)-1] != want[len(want)-1]):
		t.Errorf("%s: the calls ended %q, want %q", sc.name, ended, want)
	}
	if !slices.Equal(again, want) {
		t.Errorf("%s: afterwards they ended %q, want %q", sc.name, again, want)
	}
}

// TestPanicEndsItsCall: where a call has a fault, it ends as failed/internal, the far end is
// told, its ports and its place on the trunk are free; the call beside it goes on, and so
// does the user agent. A fault of what serves all calls, or comes after the end, ends none:
// a far end that says it again is heard. The places are found in the source: one that no
// scene reaches fails the test.
func TestPanicEndsItsCall(t *testing.T) {
	type look struct {
		sc    *scene
		ended []string
	}
	reached := map[string]look{}
	for i := range scenes {
		t.Run(scenes[i].name, func(t *testing.T) {
			ended, _, sites := scenes[i].beside(t, nil)
			for site := range sites {
				if _, ok := reached[site]; !ok {
					reached[site] = look{&scenes[i], ended}
				}
			}
		})
	}
	isolatetest.Each(t, func(t *testing.T, site isolatetest.Site) {
		l, ok := reached[site.Name]
		if !ok {
			t.Fatal("no scene reaches it")
		}
		l.sc.prove(t, site, l.ended)
	}, "sip/transport", "sip/trunk")
}

// TestPanicEndsItsCallOnStreams: over a connection, too.
func TestPanicEndsItsCallOnStreams(t *testing.T) {
	for _, name := range []string{"comes by tcp", "comes by tls"} {
		sc := &scenes[slices.IndexFunc(scenes, func(s scene) bool { return s.name == name })]
		ended, _, sites := sc.beside(t, nil)
		for _, site := range isolatetest.Sites(t, "..") {
			if sites[site.Name] {
				t.Run(name+" "+site.Name, func(t *testing.T) { sc.prove(t, site, ended) })
			}
		}
	}
}

// broken says that the fault of this play has come.
func (s *stage) broken() bool {
	select {
	case <-s.fired:
		return s.ends
	default:
		return false
	}
}

// how says how a call ended.
func how(err error) string {
	var unanswered *sip.NotAnswered
	if errors.As(err, &unanswered) {
		e := unanswered.Ended()
		return string(e.Reason) + " " + string(e.Detail)
	}
	if e, ok := errors.AsType[*media.Ended](err); ok {
		return string(e.Reason) + " " + string(e.Detail)
	}
	if err != nil {
		return err.Error()
	}
	return "over"
}

// peer is a far end that calls, over a connection of its own.
func (s *stage) peer(network string) *peer {
	s.Helper()
	switch network {
	case "ws":
		b, err := browse(s.T, s.ua, network)
		if err != nil {
			return nil // it was closed
		}
		p := newPeer(s.T, s.ua, "udp")
		p.ws = b
		go b.read(p.msgs)
		return p
	case "udp", "tcp":
		return newPeer(s.T, s.ua, network)
	}
	p := newPeer(s.T, s.ua, "udp")
	conn, err := tls.DialWithDialer(&net.Dialer{Timeout: patience}, "tcp", s.ua.TLSAddr().String(), &tls.Config{RootCAs: s.ca.pool()})
	if err != nil {
		return nil // it was closed
	}
	s.Cleanup(func() { conn.Close() })
	p.tcp = conn
	go p.readTCP()
	return p
}

// dial conducts a call of ours to the robot, which answers when ready says so, or when it
// rings, and ends it.
func (s *stage) dial(target sip.Target, ready func() <-chan struct{}) (ended string) {
	s.Helper()
	rang := make(chan struct{}, 8)
	target.Ringing = func(int) { rang <- struct{}{} }
	result := dial(s.T, s.ua, context.Background(), target)
	if ready == nil {
		ready = func() <-chan struct{} { return rang }
	}
	var d dialed
	select {
	case d = <-result:
	case <-ready():
		if !s.broken() {
			s.robot.answer()
		}
		d = wait(s.T, result, "end of Dial")
	case <-time.After(patience):
		s.Fatal("it does not ring")
	}
	if d.err != nil {
		return how(d.err)
	}
	l := last(d.leg)
	if s.ends {
		wait(s.T, s.fired, "fault")
	} else {
		l.end(&media.Ended{Reason: media.AgentHangup})
	}
	return how(wait(s.T, l.ended, "end of the call"))
}
