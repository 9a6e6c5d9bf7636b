package webrtc_test

import (
	"errors"
	"fmt"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/pion/rtcp"
	"github.com/pion/rtp"
	pion "github.com/pion/webrtc/v4"

	"parley/media"
	"parley/media/webrtc"
)

// undeclared is a description that does not say which streams there are.
func undeclared(sdp string) string {
	var out strings.Builder
	for line := range strings.Lines(sdp) {
		if !strings.HasPrefix(line, "a=ssrc") {
			out.WriteString(line)
		}
	}
	return out.String()
}

// forger is a track that sends packets of any stream.
type forger struct {
	*pion.TrackLocalStaticRTP
	bound chan pion.TrackLocalWriter
}

func (f forger) Bind(c pion.TrackLocalContext) (pion.RTPCodecParameters, error) {
	f.bound <- c.WriteStream()
	return f.TrackLocalStaticRTP.Bind(c)
}

// TestOneStream: of a client that sends thousands of streams, and reports about thousands,
// one is heard, and the others leave nothing behind.
func TestOneStream(t *testing.T) {
	c := newCaller(t)
	f := forger{bound: make(chan pion.TrackLocalWriter, 1)}
	var err error
	if f.TrackLocalStaticRTP, err = pion.NewTrackLocalStaticRTP(pion.RTPCodecCapability{MimeType: pion.MimeTypeOpus, ClockRate: 48000, Channels: 2}, "mic", "me"); err != nil {
		t.Fatal(err)
	}
	if err := c.pc.GetSenders()[0].ReplaceTrack(f); err != nil {
		t.Fatal(err)
	}
	c.voice = f.TrackLocalStaticRTP
	leg := c.answered(listen(t), undeclared(c.offer()), nil)
	wait(t, "the connection", leg.Connected())
	w := wait(t, "the stream", f.bound)
	c.tone(400)
	hears := func(heard []int16) bool { return hasTone(heard, 400) && c.hears(700) }
	conduct(t, leg, 700, hears)

	before := runtime.NumGoroutine()
	for i := range uint32(2000) {
		for n := range uint16(2) {
			if _, err := w.WriteRTP(&rtp.Header{Version: 2, PayloadType: 111, SequenceNumber: n, SSRC: 1e6 + i}, []byte{0xf8, 0xff, 0xfe}); err != nil {
				t.Fatal(err)
			}
		}
		report := &rtcp.ReceiverReport{SSRC: i, Reports: []rtcp.ReceptionReport{{SSRC: 2e6 + i}}}
		if err := c.pc.WriteRTCP([]rtcp.Packet{report}); err != nil {
			t.Fatal(err)
		}
		if i%50 == 0 { // so that all of it arrives
			conduct(t, leg, 700, func(heard []int16) bool { return len(heard) >= 320 })
		}
	}
	conduct(t, leg, 700, func(heard []int16) bool { return len(heard) > 16000 && hears(heard) })
	if n := runtime.NumGoroutine(); n > before+10 {
		t.Errorf("%d goroutines, %d before", n, before)
	}
}

// TestOneChannel: a client has one channel. A few more are closed, many end the session.
func TestOneChannel(t *testing.T) {
	c, got := newCaller(t), make(chan string, 10)
	leg := c.call(listen(t), func(b []byte) { got <- string(b) })
	over := make(chan error, 1)
	go func() { over <- leg.Run(t.Context()) }()
	wait(t, "the channel", c.open)
	for i := range 4 {
		d, err := c.pc.CreateDataChannel([]string{webrtc.Label, "others"}[i%2], nil)
		if err != nil {
			t.Fatal(err)
		}
		closed := make(chan struct{})
		d.OnClose(func() { close(closed) })
		wait(t, "the end of another channel", closed)
	}
	if err := c.events.SendText("still here"); err != nil {
		t.Fatal(err)
	}
	if m := wait(t, "the client's message", got); m != "still here" {
		t.Errorf("got %q", m)
	}
	for i := range 1500 {
		if _, err := c.pc.CreateDataChannel(fmt.Sprint(i), nil); err != nil {
			break // it is over
		}
	}
	ended, ok := errors.AsType[*media.Ended](wait(t, "the end", over))
	if !ok || ended.Reason != media.Failed || ended.Detail != "too_many_channels" {
		t.Errorf("ended with %+v", ended)
	}
}

// TestSendsNothingToStrangers: what a client names as its addresses gets no packet, however
// often it restarts ICE, and it may not do that often.
func TestSendsNothingToStrangers(t *testing.T) {
	victim, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer victim.Close()
	_, port, _ := net.SplitHostPort(victim.LocalAddr().String())
	var named strings.Builder
	for i := range 60 {
		fmt.Fprintf(&named, "a=candidate:%d 1 udp %d 127.0.0.1 %s typ host\r\n", i+1, 2130706431-i, port)
	}
	c := newCaller(t)
	offer := strings.Replace(c.offer(), "a=candidate:", named.String()+"a=candidate:", 1)
	leg := c.answered(listen(t), offer, nil)
	wait(t, "the connection", leg.Connected())
	wait(t, "that of the caller", c.open) // a restart amid its handshake ends it
	for i := range 4 {
		f, err := webrtc.ParseFragment(fmt.Sprintf("a=ice-ufrag:again%d\r\na=ice-pwd:0123456789012345678901234\r\n%s", i, &named))
		if err != nil {
			t.Fatal(err)
		}
		if err := leg.Trickle(leg.Tag(), webrtc.Fragment{}); err != nil {
			t.Errorf("candidates: %v", err)
		}
		if _, err = leg.Restart(t.Context(), f); err != nil && i < 3 || i == 3 && !errors.Is(err, webrtc.ErrOften) {
			t.Errorf("restart %d: %v", i+1, err)
		}
	}
	wait(t, "checks, if there were any", time.After(time.Second))
	if err := victim.SetReadDeadline(time.Now()); err != nil {
		t.Fatal(err)
	}
	if n, _, err := victim.ReadFrom(make([]byte, 1500)); err == nil {
		t.Errorf("got a packet of %d bytes", n)
	}
}

// TestSpeaksOnly: a client that only sends, as WHIP clients do, is heard, and nothing is
// sent to it; with a client that only listens it is the other way round.
func TestSpeaksOnly(t *testing.T) {
	for _, tt := range []struct {
		direction       pion.RTPTransceiverDirection
		strip           func(string) string
		answer          string
		speaks, listens bool
	}{
		{pion.RTPTransceiverDirectionSendonly, strings.Clone, "a=recvonly\r\n", true, false},
		{pion.RTPTransceiverDirectionSendonly, undeclared, "a=recvonly\r\n", true, false},
		{pion.RTPTransceiverDirectionRecvonly, strings.Clone, "a=sendonly\r\n", false, true},
	} {
		t.Run(tt.direction.String(), func(t *testing.T) {
			c := newCallerOf(t, tt.direction)
			leg := c.answered(listen(t), tt.strip(c.offer()), nil)
			if answer := c.pc.RemoteDescription().SDP; !strings.Contains(answer, tt.answer) {
				t.Errorf("answered with\n%s", answer)
			}
			wait(t, "the connection", leg.Connected())
			if tt.speaks {
				c.tone(400)
			}
			conduct(t, leg, 700, func(heard []int16) bool {
				return len(heard) > 16000 && (!tt.speaks || hasTone(heard, 400)) && (!tt.listens || c.hears(700))
			})
			if st := leg.Stats(); (st.Sent > 0) != tt.listens || (st.Received > 0) != tt.speaks || st.Invalid > 0 || st.SendErrors > 0 {
				t.Errorf("%+v", st)
			}
		})
	}
}
