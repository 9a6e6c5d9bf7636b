package sip_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pion/ice/v4"
	prtp "github.com/pion/rtp"
	"github.com/pion/stun/v4"
	pion "github.com/pion/webrtc/v4"

	"parley/media"
	"parley/media/codec"
	"parley/media/dtls"
	"parley/media/g711"
	"parley/media/mediatest"
	"parley/media/srtp"
	"parley/sip"
	"parley/sip/sdp"
)

// peerConnection is the media of a browser phone, by another library. It sends a tone and keeps what it hears.
type peerConnection struct {
	t     *testing.T
	pc    *pion.PeerConnection
	voice *pion.TrackLocalStaticRTP

	mu    sync.Mutex
	heard []int16
}

func newPeerConnection(t *testing.T, set ...func(*pion.SettingEngine)) *peerConnection {
	t.Helper()
	var e pion.SettingEngine
	for _, f := range set {
		f(&e)
	}
	e.SetIncludeLoopbackCandidate(true)
	e.SetIPFilter(func(ip net.IP) bool { return ip.Equal(net.IPv4(127, 0, 0, 1)) })
	e.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
	e.SetHandleUndeclaredSSRCWithoutAnswer(true) // as browsers do; it makes a second stream of what it hears, see offer
	m := &pion.MediaEngine{}
	if err := m.RegisterDefaultCodecs(); err != nil {
		t.Fatal(err)
	}
	pc, err := pion.NewAPI(pion.WithSettingEngine(e), pion.WithMediaEngine(m)).NewPeerConnection(pion.Configuration{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pc.GracefulClose() })
	b := &peerConnection{t: t, pc: pc}
	if b.voice, err = pion.NewTrackLocalStaticRTP(pion.RTPCodecCapability{MimeType: pion.MimeTypePCMU, ClockRate: 8000}, "mic", "me"); err != nil {
		t.Fatal(err)
	}
	if _, err := pc.AddTransceiverFromTrack(b.voice, pion.RTPTransceiverInit{Direction: pion.RTPTransceiverDirectionSendrecv}); err != nil {
		t.Fatal(err)
	}
	pc.OnTrack(func(tr *pion.TrackRemote, _ *pion.RTPReceiver) {
		for {
			p, _, err := tr.ReadRTP()
			if err != nil {
				return
			}
			frame := make([]int16, len(p.Payload))
			g711.PCMU.Decode(frame, p.Payload)
			b.mu.Lock()
			b.heard = append(b.heard, frame...)
			b.mu.Unlock()
		}
	})
	return b
}

// offer is an offer with all candidates. The library's second stream is left out, which no browser has.
func (b *peerConnection) offer(o *pion.OfferOptions) string {
	b.t.Helper()
	desc, err := b.pc.CreateOffer(o)
	if err != nil {
		b.t.Fatal(err)
	}
	done := pion.GatheringCompletePromise(b.pc)
	if err := b.pc.SetLocalDescription(desc); err != nil {
		b.t.Fatal(err)
	}
	<-done
	head, streams := audioSections(b.pc.LocalDescription().SDP)
	return head + streams[0]
}

// audioSections divides a description.
func audioSections(text string) (head string, streams []string) {
	list := strings.Split(text, "m=audio ")
	for _, s := range list[1:] {
		streams = append(streams, "m=audio "+s)
	}
	return list[0], streams
}

// accept takes the answer, which is that for the library's second stream, too, if there is one.
func (b *peerConnection) accept(answer []byte) {
	b.t.Helper()
	text := string(answer)
	if _, streams := audioSections(b.pc.PendingLocalDescription().SDP); len(streams) == 2 {
		text = strings.Replace(text, "BUNDLE 0", "BUNDLE 0 1", 1)
		_, ours := audioSections(text)
		text += strings.Replace(ours[0], "a=mid:0", "a=mid:1", 1)
	}
	if err := b.pc.SetRemoteDescription(pion.SessionDescription{Type: pion.SDPTypeAnswer, SDP: text}); err != nil {
		b.t.Fatalf("%v\n%s", err, answer)
	}
}

// talk sends the tone until the test is over.
func (b *peerConnection) talk() {
	done := make(chan struct{})
	b.t.Cleanup(func() { close(done) })
	tone := mediatest.Tone(440, media.Rate8k, 160*100, 0.3)
	go func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for i := 0; ; i++ {
			payload := make([]byte, 160)
			g711.PCMU.Encode(payload, tone[i%100*160:][:160])
			_ = b.voice.WriteRTP(&prtp.Packet{Header: prtp.Header{Version: 2, SequenceNumber: uint16(i), Timestamp: uint32(160 * i)}, Payload: payload})
			select {
			case <-done:
				return
			case <-tick.C:
			}
		}
	}()
}

// hears waits until the tone has come back from now on.
func (b *peerConnection) hears(what string) {
	b.t.Helper()
	b.mu.Lock()
	b.heard = nil
	b.mu.Unlock()
	eventually(b.t, what, func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		n := len(b.heard)
		return n > 8000 && mediatest.SNR(b.heard[n-1600:], media.Rate8k, 440) > 20
	})
}

// repeating is a user agent that answers with PCMU, and says what it hears.
func repeating(t *testing.T, cfg sip.Config) (*sip.UserAgent, chan *sip.Leg, chan outcome) {
	t.Helper()
	legs, results := make(chan *sip.Leg, 1), make(chan outcome, 1)
	cfg.Codecs = []codec.Codec{codec.PCMU}
	cfg.OnCall = func(ctx context.Context, in *sip.Incoming) {
		leg, err := in.Answer(ctx)
		if err == nil {
			legs <- leg
			err = conduct(ctx, leg, func(_ *sip.Leg, f media.Frame) []int16 { return f.Samples })
		}
		results <- outcome{in, err}
	}
	return serve(t, cfg), legs, results
}

// invite places a call with the offer and returns the answer.
func (p *peer) invite(offer string) []byte {
	p.t.Helper()
	p.write(p.request("INVITE", offer))
	res := p.response(200, "INVITE")
	p.toTag = res.To().Params.GetOr("tag", "")
	return res.Body()
}

// A browser phone calls: its checks find the way, a handshake brings the keys, and both hear each other, also after it was held, and
// after its network has changed.
func TestBrowserCalls(t *testing.T) {
	t.Parallel()
	ua, legs, results := repeating(t, sip.Config{SRTP: sdp.SRTPOffered})
	p, b := newPeer(t, ua, "tcp"), newPeerConnection(t)
	b.accept(p.invite(b.offer(nil)))
	p.write(p.request("ACK", ""))
	leg := wait(t, legs, "leg")
	b.talk()
	b.hears("the browser hears itself")
	if s := leg.Stats(); s.Foreign != 0 {
		t.Errorf("%+v", s)
	}
	for _, restart := range []bool{false, true} {
		b.accept(p.next(200, "INVITE", b.offer(&pion.OfferOptions{ICERestart: restart})).Body())
		p.write(p.request("ACK", ""))
		b.hears("it hears itself after another offer")
	}
	// The other library may send some packets from its new port before it checks that one, which are nobody's then.
	if s := leg.Stats(); !s.Encrypted || s.Invalid != 0 {
		t.Errorf("%+v", s)
	}
	list, _ := leg.Trace().Messages()
	for _, m := range list {
		if _, password, found := strings.Cut(m.Text, "ice-pwd:"); found && !strings.HasPrefix(password, "[masked]\r\n") {
			t.Errorf("a password can be read in\n%s", m.Text)
		}
	}
	p.hangup(results)
}

// The ACK may be lost: who has our keys has our answer.
func TestBrowserWhoseACKIsLost(t *testing.T) {
	t.Parallel()
	ua, legs, results := repeating(t, sip.Config{SRTP: sdp.SRTPRequired})
	p, b := newPeer(t, ua, "udp"), newPeerConnection(t)
	b.accept(p.invite(b.offer(nil)))
	wait(t, legs, "leg")
	b.talk()
	b.hears("the browser hears itself")
	p.hangup(results)
}

// ended is the BYE that ends a call of the peer, and how its handler saw it.
func (p *peer) ended(results <-chan outcome) (reason string, why *media.Ended) {
	p.t.Helper()
	bye := p.incoming("BYE")
	p.confirm(bye)
	if h := bye.GetHeader("Reason"); h != nil {
		reason = h.Value()
	}
	errors.As(wait(p.t, results, "end of the call").err, &why)
	return reason, why
}

// A call whose far end has another certificate than it said ends, before anything is heard.
func TestBrowserWithAnotherCertificate(t *testing.T) {
	t.Parallel()
	ua, legs, results := repeating(t, sip.Config{SRTP: sdp.SRTPOffered})
	p, b := newPeer(t, ua, "tcp"), newPeerConnection(t)
	offer := b.offer(nil)
	_, rest, _ := strings.Cut(offer, "a=fingerprint:sha-256 ")
	own, _, _ := strings.Cut(rest, "\r\n")
	other := strings.TrimSuffix(strings.Repeat("AB:", 32), ":")
	b.accept(p.invite(strings.ReplaceAll(offer, own, other)))
	p.write(p.request("ACK", ""))
	if reason, why := p.ended(results); reason != `SIP;cause=488;text="No keys"` || why == nil || why.Detail != sip.DetailNoKeys {
		t.Errorf("%s %+v", reason, why)
	}
	if len(legs) > 0 {
		t.Error("there was a leg")
	}
}

// Nobody waits for the keys of a call that somebody hangs up, or in which none ever come.
func TestBrowserBeforeItsKeys(t *testing.T) {
	t.Parallel()
	t.Run("hangs up", func(t *testing.T) {
		ua, _, results := repeating(t, sip.Config{SRTP: sdp.SRTPOffered})
		p, b := newPeer(t, ua, "tcp"), newPeerConnection(t)
		p.invite(b.offer(nil))
		p.write(p.request("ACK", ""))
		p.next(200, "BYE", "")
		if o := wait(t, results, "end"); o.err == nil {
			t.Error("it was answered")
		}
	})
	t.Run("is hung up on", func(t *testing.T) {
		results := make(chan outcome, 1)
		hangUp := make(chan struct{})
		ua := serve(t, sip.Config{SRTP: sdp.SRTPOffered, OnCall: func(ctx context.Context, in *sip.Incoming) {
			ctx, stop := context.WithCancel(ctx)
			go func() { <-hangUp; stop() }()
			_, err := in.Answer(ctx)
			results <- outcome{in, err}
		}})
		p, b := newPeer(t, ua, "tcp"), newPeerConnection(t)
		p.invite(b.offer(nil))
		p.write(p.request("ACK", ""))
		p.next(491, "INVITE", "") // the ACK was taken: nothing changes before the keys
		p.write(p.request("ACK", ""))
		close(hangUp)
		p.confirm(p.incoming("BYE"))
		if o := wait(t, results, "end"); o.err == nil {
			t.Error("it was answered")
		}
	})
	t.Run("never sends any", func(t *testing.T) {
		ua, _, results := repeating(t, sip.Config{SRTP: sdp.SRTPOffered, T1: quick})
		p, b := newPeer(t, ua, "tcp"), newPeerConnection(t)
		p.invite(b.offer(nil))
		p.write(p.request("ACK", ""))
		if _, why := p.ended(results); why == nil || why.Detail != sip.DetailNoKeys {
			t.Errorf("%+v", why)
		}
	})
}

// media sends a packet of silence from the peer's media port, sealed if there is a sender.
func (p *peer) media(to netip.AddrPort, seq uint16, out *srtp.Sender) {
	p.t.Helper()
	b, err := (&prtp.Packet{Header: prtp.Header{Version: 2, SequenceNumber: seq, Timestamp: 160 * uint32(seq), SSRC: 7}, Payload: make([]byte, 160)}).Marshal()
	if err == nil && out != nil {
		b, err = out.RTP(append(make([]byte, 0, len(b)+srtp.Overhead), b...))
	}
	if err == nil {
		_, err = p.rtp.WriteToUDPAddrPort(b, to)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// mediaOf is where a description wants its audio.
func mediaOf(t *testing.T, body []byte) netip.AddrPort {
	t.Helper()
	_, rest, _ := strings.Cut(string(body), "m=audio ")
	port, _, _ := strings.Cut(rest, " ")
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		t.Fatalf("%v in\n%s", err, body)
	}
	return netip.AddrPortFrom(loopback, uint16(n))
}

// attribute is the value of one of a description.
func attribute(t *testing.T, body []byte, name string) string {
	t.Helper()
	_, rest, ok := strings.Cut(string(body), "a="+name+":")
	if !ok {
		t.Fatalf("no %s in\n%s", name, body)
	}
	value, _, _ := strings.Cut(rest, "\r\n")
	return value
}

// A telephone that makes checks, and sends plain RTP, is heard from where its checks come, whatever its description says.
func TestTelephoneThatChecks(t *testing.T) {
	t.Parallel()
	ua, legs, results := repeating(t, sip.Config{})
	p := newPeer(t, ua, "udp")
	answer := p.invite(p.offerAt(6000, "a=ice-ufrag:f00d", "a=ice-pwd:0123456789abcdefghijkl", "a=candidate:1 1 udp 2130706431 127.0.0.1 6000 typ host", "a=rtcp-mux"))
	to := mediaOf(t, answer)
	_ = p.rtp.SetReadDeadline(time.Now().Add(patience))
	check := func() {
		req := stun.MustBuild(stun.TransactionID, stun.BindingRequest, stun.NewUsername(attribute(t, answer, "ice-ufrag")+":f00d"),
			nominating(stun.AttrUseCandidate), stun.NewShortTermIntegrity(attribute(t, answer, "ice-pwd")), stun.Fingerprint)
		if _, err := p.rtp.WriteToUDPAddrPort(req.Raw, to); err != nil {
			t.Fatal(err)
		}
	}
	var res stun.Message
	answered := func() bool {
		b := make([]byte, 1500)
		n, err := p.rtp.Read(b)
		return err == nil && stun.Decode(b[:n], &res) == nil && res.Type == stun.BindingSuccess
	}
	check() // before the ACK
	if !answered() {
		t.Error("no answer before the ACK")
	}
	p.write(p.request("ACK", ""))
	leg := wait(t, legs, "leg")
	check()
	eventually(t, "an answer in the call", answered)
	seq := uint16(0)
	eventually(t, "it is heard", func() bool {
		seq++
		p.media(to, seq, nil)
		return leg.Stats().Received > 10
	})
	if got := leg.Stats().Latched.Port(); int(got) != p.rtp.LocalAddr().(*net.UDPAddr).Port {
		t.Errorf("latched to port %d", got)
	}
	p.hangup(results)
}

// nominating is an attribute without a value.
type nominating stun.AttrType

func (f nominating) AddTo(m *stun.Message) error {
	m.Add(stun.AttrType(f), nil)
	return nil
}

// An exchange that encrypts with DTLS and makes no checks, whichever of us begins the handshake.
func TestHandshakeWithoutChecks(t *testing.T) {
	t.Parallel()
	for _, setup := range []string{"active", "passive"} {
		t.Run(setup, func(t *testing.T) {
			ua, legs, results := repeating(t, sip.Config{SRTP: sdp.SRTPOffered})
			p := newPeer(t, ua, "udp")
			id, err := dtls.NewIdentity()
			if err != nil {
				t.Fatal(err)
			}
			offer := p.offer("a=fingerprint:"+id.Fingerprint().String(), "a=setup:"+setup, "a=rtcp-mux")
			answer := p.invite(strings.Replace(offer, "RTP/AVP", "UDP/TLS/RTP/SAVP", 1))
			p.write(p.request("ACK", ""))
			to := mediaOf(t, answer)
			ours, ok := dtls.ParseFingerprint(attribute(t, answer, "fingerprint"))
			if !ok {
				t.Fatalf("\n%s", answer)
			}
			agreed := make(chan srtp.Keys, 1)
			shake := id.Start(dtls.Config{Remote: ours, Client: setup == "active",
				Send: func(b []byte) { _, _ = p.rtp.WriteToUDPAddrPort(b, to) },
				Done: func(k srtp.Keys, err error) {
					if err != nil {
						t.Error(err)
					}
					agreed <- k
				}})
			t.Cleanup(shake.Close)
			go func() {
				b := make([]byte, 2000)
				for {
					n, err := p.rtp.Read(b)
					if err != nil {
						return
					}
					if b[0] >= 20 && b[0] < 64 {
						shake.Receive(b[:n])
					}
				}
			}()
			keys, leg := wait(t, agreed, "keys"), wait(t, legs, "leg")
			out, err := srtp.NewSender(keys.Suite, keys.Send)
			if err != nil {
				t.Fatal(err)
			}
			seq := uint16(0)
			eventually(t, "it is heard", func() bool {
				seq++
				p.media(to, seq, out)
				return leg.Stats().Received > 10
			})
			if s := leg.Stats(); !s.Encrypted || s.Invalid != 0 {
				t.Errorf("%+v", s)
			}
			if _, err := leg.Yield(); !errors.Is(err, sip.ErrBusy) {
				t.Errorf("its keys move: %v", err)
			}
			p.hangup(results)
		})
	}
}

// Where RTP and RTCP share a port, our reports leave from the port that our media leaves from (RFC 5761 section 3): the far end, and a
// translator before it, know no other.
func TestReportsShareThePort(t *testing.T) {
	t.Parallel()
	ua, _, results := repeating(t, sip.Config{})
	p := newPeer(t, ua, "udp")
	to := mediaOf(t, p.invite(p.offer("a=rtcp-mux")))
	p.write(p.request("ACK", ""))
	_ = p.rtp.SetReadDeadline(time.Now().Add(patience))
	b := make([]byte, 1500)
	for {
		n, from, err := p.rtp.ReadFromUDPAddrPort(b)
		if err != nil {
			t.Fatal("no report came: ", err)
		}
		if from != to {
			t.Fatalf("% x came from %s", b[:min(n, 8)], from)
		}
		if n > 1 && b[1] == 200 { // a sender report
			break
		}
	}
	p.hangup(results)
}

// answers takes our offer, and returns the answer with all candidates.
func (b *peerConnection) answers(offer []byte) string {
	b.t.Helper()
	if err := b.pc.SetRemoteDescription(pion.SessionDescription{Type: pion.SDPTypeOffer, SDP: string(offer)}); err != nil {
		b.t.Fatalf("%v\n%s", err, offer)
	}
	answer, err := b.pc.CreateAnswer(nil)
	if err != nil {
		b.t.Fatal(err)
	}
	done := pion.GatheringCompletePromise(b.pc)
	if err := b.pc.SetLocalDescription(answer); err != nil {
		b.t.Fatal(err)
	}
	<-done
	return b.pc.LocalDescription().SDP
}

// A call of ours to a browser phone, or to what speaks for one, is answered when the handshake is over, whoever begins it.
func TestCallToABrowser(t *testing.T) {
	t.Parallel()
	for name, role := range map[string]pion.DTLSRole{"it begins": pion.DTLSRoleClient, "we begin": pion.DTLSRoleServer} {
		t.Run(name, func(t *testing.T) {
			ua := serve(t, sip.Config{SRTP: sdp.SRTPHandshake, Codecs: []codec.Codec{codec.PCMU}})
			c, b := newCallee(t), newPeerConnection(t, func(e *pion.SettingEngine) { _ = e.SetAnsweringDTLSRole(role) })
			dialled := dial(t, ua, t.Context(), sip.Target{URI: c.uri()})
			c.answer("INVITE", 200, "tag", b.answers(c.expect("INVITE").Body()))
			c.expect("ACK")
			d := wait(t, dialled, "leg")
			if d.err != nil {
				t.Fatal(d.err)
			}
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			ended := make(chan error, 1)
			go func() {
				ended <- conduct(ctx, d.leg, func(_ *sip.Leg, f media.Frame) []int16 { return f.Samples })
			}()
			b.talk()
			b.hears("the browser hears itself")
			if s := d.leg.Stats(); !s.Encrypted || s.Invalid != 0 {
				t.Errorf("%+v", s)
			}
			stop()
			c.expect("BYE")
			c.answer("BYE", 200, "", "")
			if err := wait(t, ended, "end"); err != nil {
				t.Error(err)
			}
		})
	}
}

// A call of ours whose keys never come is not answered: it ends when the first loses patience.
func TestCallToABrowserWithoutKeys(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		t1     time.Duration
		theirs bool // they hang up
		detail media.EndDetail
	}{"we wait no longer": {t1: quick, detail: sip.DetailNoKeys}, "we give up": {detail: sip.AnsweredAfterCancel}, "they hang up": {theirs: true}} {
		t.Run(name, func(t *testing.T) {
			ua := serve(t, sip.Config{SRTP: sdp.SRTPHandshake, T1: tt.t1, Codecs: []codec.Codec{codec.PCMU}})
			c, b := newCallee(t), newPeerConnection(t)
			ctx, giveUp := context.WithCancel(t.Context())
			defer giveUp()
			dialled := dial(t, ua, ctx, sip.Target{URI: c.uri()})
			invite := c.expect("INVITE")
			answer := b.answers(invite.Body())
			_ = b.pc.Close() // so that it checks nothing
			c.answer("INVITE", 200, "gateway", answer)
			c.expect("ACK")
			if tt.theirs {
				c.bye(invite)
			} else {
				if tt.t1 == 0 {
					giveUp()
				}
				c.expect("BYE")
				c.answer("BYE", 200, "", "")
			}
			d := wait(t, dialled, "end")
			e, ok := errors.AsType[*sip.NotAnswered](d.err)
			if !ok || d.leg != nil || tt.detail != "" && e.Ended().Detail != tt.detail {
				t.Errorf("%v, %v", d.leg, d.err)
			}
			eventually(t, "nothing is left", func() bool { return ua.Stats().Calls == 0 })
		})
	}
}
