package webrtc_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base64"
	"fmt"
	"net"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pion/rtp"
	"github.com/pion/turn/v5"
	pion "github.com/pion/webrtc/v4"

	"parley/api/talk"
	"parley/api/webrtc"
	"parley/media"
	"parley/media/mediatest"
	"parley/media/opus"
)

const turnSecret = "what the relay and the server share"

// relay starts a TURN server that takes credentials which the secret has signed, and
// returns its URL.
func relay(t *testing.T) string {
	t.Helper()
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s, err := turn.NewServer(turn.ServerConfig{Realm: "parley", AuthHandler: turn.LongTermTURNRESTAuthHandler(turnSecret, nil),
		PacketConnConfigs: []turn.PacketConnConfig{{PacketConn: conn,
			RelayAddressGenerator: &turn.RelayAddressGeneratorStatic{RelayAddress: net.IPv4(127, 0, 0, 1), Address: "127.0.0.1"}}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return fmt.Sprintf("turn:%s?transport=udp", conn.LocalAddr())
}

// by is a client that gets nowhere but through a relay.
func by(url, name, credential string) pion.Configuration {
	return pion.Configuration{ICETransportPolicy: pion.ICETransportPolicyRelay,
		ICEServers: []pion.ICEServer{{URLs: []string{url}, Username: name, Credential: credential}}}
}

// TestRelay: a client whose only way is a relay gets there with the credentials that it is
// told, and is heard and hears; without them, and with those of yesterday, it does not.
func TestRelay(t *testing.T) {
	url := relay(t)
	callers, agents := tones(t, 500, 800)
	s := newServer(t, agents, webrtc.Options{Relays: &webrtc.Relays{URLs: []string{url}, Secret: turnSecret}})

	res, body := s.ask("POST", webrtc.Path, goodKey, sdpType, newCaller(t).offer(nil))
	if res.StatusCode != 201 {
		t.Fatalf("%d %s", res.StatusCode, body)
	}
	link := regexp.MustCompile(`^<([^>]+)>; rel="ice-server"; username="([^"]+)"; credential="([^"]+)"`).FindStringSubmatch(res.Header.Get("Link"))
	if link == nil || link[1] != url {
		t.Fatalf("Link: %s", res.Header.Get("Link"))
	}
	if res, body := s.ask("DELETE", res.Header.Get("Location"), goodKey, "", ""); res.StatusCode != 200 {
		t.Fatalf("%d %s", res.StatusCode, body)
	}
	until, _, _ := strings.Cut(link[2], ":")
	seconds, err := strconv.ParseInt(until, 10, 64)
	if left := time.Until(time.Unix(seconds, 0)); err != nil || left < time.Hour || left > 2*time.Hour+time.Minute { // no conversation is longer
		t.Errorf("%s is good for another %v", link[2], left)
	}

	yesterday := fmt.Sprintf("%d:rtc_1", time.Now().Add(-time.Minute).Unix())
	m := hmac.New(sha1.New, []byte(turnSecret))
	m.Write([]byte(yesterday))
	for what, cfg := range map[string]pion.Configuration{
		"of yesterday":     by(url, yesterday, base64.StdEncoding.EncodeToString(m.Sum(nil))),
		"of somebody else": by(url, link[2], "bm90aGluZyBvZiB0aGUga2luZA=="),
		"made longer":      by(url, "9"+link[2], link[3]),
	} {
		if offer := newCallerBy(t, cfg).offer(nil); strings.Contains(offer, "a=candidate:") {
			t.Errorf("credentials %s open the relay:\n%s", what, offer)
		}
	}

	c := newCallerBy(t, by(url, link[2], link[3]))
	offer := c.offer(nil)
	if n := strings.Count(offer, "a=candidate:"); n == 0 || n != strings.Count(offer, "typ relay") {
		t.Fatalf("the offer names other ways:\n%s", offer)
	}
	callers.join(c)
	c.begin(s, goodKey, "", offer)
	c.say(`{"type":"prompt","text":"x"}`)
	wait(t, "the agent's voice at the caller", callers.heard)
	wait(t, "the caller's voice at the agent", callers.understood)
	for _, st := range c.pc.GetStats() {
		if pair, ok := st.(pion.ICECandidatePairStats); ok && pair.Nominated {
			if local, ok := c.pc.GetStats()[pair.LocalCandidateID].(pion.ICECandidateStats); !ok || local.CandidateType.String() != "relay" {
				t.Errorf("sound came by %+v", local)
			}
		}
	}
}

// sound is a caller and an agent who each speak a tone and listen for the other's.
type sound struct {
	t                 *testing.T
	caller, agent     float64       // Hz
	heard, understood chan struct{} // closed when the caller hears the agent, and the other way round
}

// tones returns the callers and the agents of a test with sound.
func tones(t *testing.T, caller, agent float64) (*sound, *agents) {
	s := &sound{t: t, caller: caller, agent: agent, heard: make(chan struct{}), understood: make(chan struct{})}
	return s, &agents{converse: s.converse}
}

// converse is the agent's side: it speaks until the session ends.
func (s *sound) converse(ctx context.Context, _ talk.Change, leg talk.Leg) {
	var over atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = leg.Run(ctx)
		over.Store(true)
	}()
	defer func() { <-done }()
	out := leg.Format().Out
	tone, size := mediatest.Tone(s.agent, out, int(out), 0.4), out.FrameSamples()
	l := listener{freq: s.caller, found: s.understood}
	for i := 0; !over.Load(); {
		time.Sleep(time.Until(leg.Next()))
		now := time.Now()
		for f, ok := leg.Read(now); ok; f, ok = leg.Read(now) {
			l.listen(f.Samples)
		}
		for n := leg.Due(now); n > 0; n-- {
			leg.Write(media.Frame{Samples: tone[i%50*size:][:size], Rate: out})
			i++
		}
	}
}

// join makes a caller speak until the test ends, and listen.
func (s *sound) join(c *caller) {
	enc, err := opus.NewEncoder(opus.EncoderConfig{Rate: media.Rate16k, Complexity: 5})
	if err != nil {
		s.t.Skip(err)
	}
	c.pc.OnTrack(func(tr *pion.TrackRemote, _ *pion.RTPReceiver) {
		d, err := opus.NewDecoder(media.Rate16k)
		if err != nil {
			s.t.Error(err)
			return
		}
		l, frame := listener{freq: s.agent, found: s.heard}, make([]int16, media.Rate16k.FrameSamples())
		for {
			p, _, err := tr.ReadRTP()
			if err != nil {
				return
			}
			d.Decode(frame, p.Payload)
			l.listen(frame)
		}
	})
	done, ended := make(chan struct{}), make(chan struct{})
	s.t.Cleanup(func() { close(done); <-ended })
	go func() {
		defer close(ended)
		tick := time.NewTicker(media.FrameDuration)
		defer tick.Stop()
		tone, size := mediatest.Tone(s.caller, media.Rate16k, int(media.Rate16k), 0.4), media.Rate16k.FrameSamples()
		buf := make([]byte, opus.MaxPacket)
		p := &rtp.Packet{Header: rtp.Header{Version: 2}}
		for i := 0; ; i++ {
			n, err := enc.Encode(buf, tone[i%50*size:][:size])
			if err != nil {
				s.t.Error(err)
				return
			}
			p.SequenceNumber, p.Timestamp, p.Payload = uint16(i), uint32(i*opus.ClockRate/50), buf[:n]
			_ = c.voice.WriteRTP(p) // there may be no connection yet
			select {
			case <-tick.C:
			case <-done:
				return
			}
		}
	}()
}

// listener waits for a tone.
type listener struct {
	freq  float64
	heard []int16 // the last 200 ms
	found chan struct{}
	once  bool
}

func (l *listener) listen(samples []int16) {
	l.heard = append(l.heard, samples...)
	const window = int(media.Rate16k) / 5
	if l.once || len(l.heard) < window {
		return
	}
	l.heard = l.heard[len(l.heard)-window:]
	if peak, level := mediatest.Peak(l.heard, media.Rate16k); peak > l.freq-10 && peak < l.freq+10 && level > -20 {
		l.once = true
		close(l.found)
	}
}
