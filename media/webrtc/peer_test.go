package webrtc_test

import (
	"context"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pion/ice/v4"
	pion "github.com/pion/webrtc/v4"

	"parley/media"
	"parley/media/mediatest"
	"parley/media/opus"
	"parley/media/webrtc"
)

// patience is for what must happen, on a machine that has much else to do.
const patience = 60 * time.Second

func listen(t *testing.T) *webrtc.Server {
	t.Helper()
	s, err := webrtc.Listen(webrtc.Config{Addr: netip.MustParseAddr("127.0.0.1")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// caller is a client by the same library, with its own settings, over loopback.
type caller struct {
	t      *testing.T
	pc     *pion.PeerConnection
	voice  *pion.TrackLocalStaticRTP
	events *pion.DataChannel
	open   chan struct{}
	said   chan string // messages that came

	mu    sync.Mutex
	heard []int16
	news  chan struct{} // capacity 1
}

func newCaller(t *testing.T) *caller {
	t.Helper()
	return newCallerOf(t, pion.RTPTransceiverDirectionSendrecv)
}

// newCallerOf is one whose audio goes in a direction.
func newCallerOf(t *testing.T, direction pion.RTPTransceiverDirection) *caller {
	t.Helper()
	var e pion.SettingEngine
	e.SetIncludeLoopbackCandidate(true)
	e.SetIPFilter(loopback)
	e.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
	m := &pion.MediaEngine{}
	if err := m.RegisterDefaultCodecs(); err != nil {
		t.Fatal(err)
	}
	pc, err := pion.NewAPI(pion.WithSettingEngine(e), pion.WithMediaEngine(m)).NewPeerConnection(pion.Configuration{})
	if err != nil {
		t.Fatal(err)
	}
	c := &caller{t: t, pc: pc, open: make(chan struct{}), said: make(chan string, 1000), news: make(chan struct{}, 1)}
	t.Cleanup(func() { _ = pc.GracefulClose() })
	if c.voice, err = pion.NewTrackLocalStaticRTP(pion.RTPCodecCapability{MimeType: pion.MimeTypeOpus, ClockRate: 48000, Channels: 2}, "mic", "me"); err != nil {
		t.Fatal(err)
	}
	if direction == pion.RTPTransceiverDirectionRecvonly {
		_, err = pc.AddTransceiverFromKind(pion.RTPCodecTypeAudio, pion.RTPTransceiverInit{Direction: direction})
	} else {
		_, err = pc.AddTransceiverFromTrack(c.voice, pion.RTPTransceiverInit{Direction: direction})
	}
	if err != nil {
		t.Fatal(err)
	}
	if c.events, err = pc.CreateDataChannel(webrtc.Label, nil); err != nil {
		t.Fatal(err)
	}
	c.events.OnOpen(func() { close(c.open) })
	c.events.OnMessage(func(m pion.DataChannelMessage) { c.said <- string(m.Data) })
	pc.OnTrack(func(tr *pion.TrackRemote, _ *pion.RTPReceiver) { c.hear(tr) })
	return c
}

func (c *caller) hear(tr *pion.TrackRemote) {
	d, err := opus.NewDecoder(media.Rate16k)
	if err != nil {
		c.t.Error(err)
		return
	}
	frame := make([]int16, 320)
	for {
		p, _, err := tr.ReadRTP()
		if err != nil {
			return
		}
		d.Decode(frame, p.Payload)
		c.mu.Lock()
		c.heard = append(c.heard, frame...)
		c.mu.Unlock()
		select {
		case c.news <- struct{}{}:
		default:
		}
	}
}

// offer is the caller's, with all candidates.
func (c *caller) offer() string {
	c.t.Helper()
	o, err := c.pc.CreateOffer(nil)
	if err != nil {
		c.t.Fatal(err)
	}
	done := pion.GatheringCompletePromise(c.pc)
	if err := c.pc.SetLocalDescription(o); err != nil {
		c.t.Fatal(err)
	}
	<-done
	return c.pc.LocalDescription().SDP
}

func (c *caller) accept(answer string) {
	c.t.Helper()
	if err := c.pc.SetRemoteDescription(pion.SessionDescription{Type: pion.SDPTypeAnswer, SDP: answer}); err != nil {
		c.t.Fatal(err)
	}
}

// call connects the caller.
func (c *caller) call(s *webrtc.Server, text func([]byte)) *webrtc.Leg {
	c.t.Helper()
	leg := c.answered(s, c.offer(), text)
	wait(c.t, "the connection", leg.Connected())
	return leg
}

func (c *caller) answered(s *webrtc.Server, sdp string, text func([]byte)) *webrtc.Leg {
	c.t.Helper()
	o, err := webrtc.ParseOffer(sdp)
	if err != nil {
		c.t.Fatal(err)
	}
	leg, answer, err := s.Answer(c.t.Context(), o, text)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = leg.Close() })
	c.accept(answer)
	return leg
}

func wait[T any](t *testing.T, what string, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(patience):
		t.Fatalf("waited %v for %s", patience, what)
	}
	return v
}

// tone makes the caller speak until the test ends.
func (c *caller) tone(freq float64) {
	e, err := opus.NewEncoder(opus.EncoderConfig{Rate: media.Rate16k, Complexity: 5})
	if err != nil {
		c.t.Skip(err)
	}
	done, ended := make(chan struct{}), make(chan struct{})
	c.t.Cleanup(func() { close(done); <-ended })
	go func() {
		defer close(ended)
		tick := time.NewTicker(media.FrameDuration)
		defer tick.Stop()
		buf := make([]byte, opus.MaxPacket)
		samples := mediatest.Tone(freq, media.Rate16k, 16000, 0.4) // a whole number of periods
		for i := 0; ; i++ {
			n, err := e.Encode(buf, samples[i%50*320:][:320])
			if err != nil {
				c.t.Error(err)
				return
			}
			_, _ = c.voice.Write(packet(uint16(i), uint32(i)*960, buf[:n]))
			select {
			case <-tick.C:
			case <-done:
				return
			}
		}
	}()
}

func packet(seq uint16, ts uint32, payload []byte) []byte {
	h := []byte{0x80, 111, byte(seq >> 8), byte(seq), byte(ts >> 24), byte(ts >> 16), byte(ts >> 8), byte(ts), 0, 0, 0, 1}
	return append(h, payload...)
}

// conduct speaks a tone and listens until enough says that it is.
func conduct(t *testing.T, leg *webrtc.Leg, freq float64, enough func(heard []int16) bool) {
	t.Helper()
	var heard []int16
	tone := mediatest.Tone(freq, leg.Format().Out, int(leg.Format().Out), 0.4)
	size, deadline := leg.Format().Out.FrameSamples(), time.Now().Add(patience)
	for i := 0; !enough(heard); {
		if time.Now().After(deadline) {
			t.Fatalf("%d samples heard in %v are not enough: %+v", len(heard), patience, leg.Stats())
		}
		time.Sleep(time.Until(leg.Next()))
		now := time.Now()
		for f, ok := leg.Read(now); ok; f, ok = leg.Read(now) {
			heard = append(heard, f.Samples...)
		}
		for n := leg.Due(now); n > 0; n-- {
			leg.Write(media.Frame{Samples: tone[i%50*size:][:size], Rate: leg.Format().Out})
			i++
		}
	}
}

// hasTone says whether the last 200 ms of samples are mostly a tone.
func hasTone(samples []int16, freq float64) bool {
	if len(samples) < 3200 {
		return false
	}
	samples = samples[len(samples)-3200:]
	peak, level := mediatest.Peak(samples, media.Rate16k)
	return peak > freq-10 && peak < freq+10 && level > -20
}

func (c *caller) hears(freq float64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return hasTone(c.heard, freq)
}

// TestSpeaksAndHears: two sessions on one port, sound both ways in each, messages both
// ways in each, and nothing of either is left afterwards.
func TestSpeaksAndHears(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Run("two", func(t *testing.T) {
		s := listen(t)
		if a := s.Addrs(); len(a) != 1 || !a[0].Addr().IsLoopback() {
			t.Fatalf("listens on %v", a)
		}
		var wg sync.WaitGroup
		defer wg.Wait()
		for i, tones := range [][2]float64{{400, 700}, {500, 900}} {
			wg.Go(func() {
				c, got := newCaller(t), make(chan string, 1)
				leg := c.call(s, func(b []byte) { got <- string(b) })
				c.tone(tones[0])
				conduct(t, leg, tones[1], func(heard []int16) bool { return hasTone(heard, tones[0]) && c.hears(tones[1]) })
				wait(t, "the channel", c.open)
				if err := c.events.SendText(`{"type":"prompt"}`); err != nil {
					t.Error(err)
				}
				if m := wait(t, "the client's message", got); m != `{"type":"prompt"}` {
					t.Errorf("call %d: got %s", i, m)
				}
				ctx, cancel := context.WithCancelCause(t.Context())
				over := make(chan error, 1)
				go func() { over <- leg.Run(ctx) }()
				for range 100 {
					leg.Send([]byte(`{"type":"status"}`))
				}
				leg.Send([]byte("goodbye"))
				cancel(&media.Ended{Reason: media.AgentHangup})
				if err := wait(t, "the end", over); err != nil {
					t.Error(err)
				}
				for n := 0; ; n++ { // all of it, in order
					if m := wait(t, "our message", c.said); m == "goodbye" {
						if n != 100 {
							t.Errorf("call %d: goodbye after %d messages", i, n)
						}
						break
					}
				}
				if st := leg.Stats(); st.Received == 0 || st.Sent == 0 || st.Invalid > 0 || st.SendErrors > 0 {
					t.Errorf("call %d: %+v", i, st)
				}
			})
		}
	})
	for deadline := time.Now().Add(patience); runtime.NumGoroutine() > before; {
		if time.Now().After(deadline) {
			buf := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, %d before\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// TestFarEndHangsUp: a client that closes its connection has hung up.
func TestFarEndHangsUp(t *testing.T) {
	c := newCaller(t)
	leg := c.call(listen(t), nil)
	over := make(chan error, 1)
	go func() { over <- leg.Run(t.Context()) }()
	wait(t, "the channel", c.open) // before that it may have no connection to close
	if err := c.pc.Close(); err != nil {
		t.Fatal(err)
	}
	if err := wait(t, "the end", over); err != nil {
		t.Errorf("Run: %v", err)
	}
}

// TestTrickle: candidates that come after the offer are used.
func TestTrickle(t *testing.T) {
	c := newCaller(t)
	full := c.offer()
	var rest, late []string
	for line := range strings.Lines(full) {
		if strings.HasPrefix(line, "a=candidate:") || strings.HasPrefix(line, "a=end-of-candidates") {
			late = append(late, line)
		} else {
			rest = append(rest, line)
		}
	}
	leg := c.answered(listen(t), strings.Join(rest, ""), nil)
	f, err := webrtc.ParseFragment(strings.Join(late, ""))
	if err != nil {
		t.Fatal(err)
	}
	if err := leg.Trickle("another", f); err == nil {
		t.Error("candidates for another ICE session were taken")
	}
	if err := leg.Trickle(leg.Tag(), f); err != nil {
		t.Fatal(err)
	}
	wait(t, "the connection", leg.Connected())
}

// TestRestart: a client whose network has changed restarts ICE, and sound goes on.
func TestRestart(t *testing.T) {
	c := newCaller(t)
	leg := c.call(listen(t), nil)
	c.tone(400)
	conduct(t, leg, 700, func(heard []int16) bool { return hasTone(heard, 400) && c.hears(700) })
	tag := leg.Tag()

	o, err := c.pc.CreateOffer(&pion.OfferOptions{ICERestart: true})
	if err != nil {
		t.Fatal(err)
	}
	done := pion.GatheringCompletePromise(c.pc)
	if err := c.pc.SetLocalDescription(o); err != nil {
		t.Fatal(err)
	}
	<-done
	f, err := webrtc.ParseFragment(c.pc.LocalDescription().SDP)
	if err != nil {
		t.Fatal(err)
	}
	ours, err := leg.Restart(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	if leg.Tag() == tag || !strings.Contains(ours, "a=ice-ufrag:"+leg.Tag()+"\r\n") || !strings.Contains(ours, "a=candidate:") {
		t.Fatalf("tag %s after %s, answer %s", leg.Tag(), tag, ours)
	}
	if err := leg.Trickle(tag, webrtc.Fragment{}); err == nil {
		t.Error("the old ICE session is still taken")
	}
	// The client makes an answer of the fragment, as a WHIP client does.
	c.accept(merged(c.pc.RemoteDescription().SDP, ours))
	c.mu.Lock()
	c.heard = nil
	c.mu.Unlock()
	was := leg.Stats().Received
	conduct(t, leg, 800, func(heard []int16) bool {
		return len(heard) > 16000 && hasTone(heard, 400) && c.hears(800) && leg.Stats().Received > was+50
	})
	select {
	case <-leg.Gone():
		t.Error("the session has ended")
	default:
	}
}

// merged is an answer with the credentials and candidates of a fragment.
func merged(answer, fragment string) string {
	value := func(name string) string {
		_, v, _ := strings.Cut(fragment, "a="+name+":")
		v, _, _ = strings.Cut(v, "\r\n")
		return v
	}
	var out strings.Builder
	for line := range strings.Lines(answer) {
		switch {
		case strings.HasPrefix(line, "a=candidate:"), strings.HasPrefix(line, "a=end-of-candidates"):
			continue
		case strings.HasPrefix(line, "a=ice-ufrag:"):
			line = "a=ice-ufrag:" + value("ice-ufrag") + "\r\n"
		case strings.HasPrefix(line, "a=ice-pwd:"):
			line = "a=ice-pwd:" + value("ice-pwd") + "\r\n"
		}
		out.WriteString(line)
		if strings.HasPrefix(line, "a=mid:0") {
			for l := range strings.Lines(fragment) {
				if strings.HasPrefix(l, "a=candidate:") {
					out.WriteString(l)
				}
			}
		}
	}
	return out.String()
}
