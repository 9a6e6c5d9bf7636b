package acceptance

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pion/ice/v4"
	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"

	"parley/media"
	"parley/media/opus"
	"parley/media/quality"
)

// browser is a client over WebRTC as a page is one: what it hears and is told is kept by
// the talker that it is, too.
type browser struct {
	*talker
	pc       *webrtc.PeerConnection
	mic      *webrtc.TrackLocalStaticRTP
	events   *webrtc.DataChannel
	open     chan struct{}
	base     string
	location string
	key      string
	lost     atomic.Uint64 // packets of the microphone that were lost since the channel is open
}

// loseEvery is which packets of a microphone are lost on the way: 2 %.
const loseEvery = 50

// browse begins a session and waits until its channel is open.
func browse(t *testing.T, s *server, key, agent string) *browser {
	t.Helper()
	b := &browser{talker: &talker{t: t, came: make(chan struct{}, 1), gone: make(chan struct{}), quit: make(chan struct{}), micDone: make(chan struct{})},
		base: "http://" + s.addrs["http"], key: key, open: make(chan struct{})}
	b.connect()
	offer := b.offer()
	go b.microphone()
	t.Cleanup(func() {
		close(b.quit)
		<-b.micDone
		_ = b.pc.GracefulClose()
	})
	status, header, answer := b.ask(http.MethodPost, "/webrtc/agent?agent_id="+agent, offer)
	if status != http.StatusCreated {
		t.Fatalf("%d %s", status, answer)
	}
	b.location = header.Get("Location")
	if err := b.pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeAnswer, SDP: answer}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-b.open:
	case <-time.After(patience):
		t.Fatal("the channel does not open")
	}
	return b
}

// offer is the browser's, with all of its addresses.
func (b *browser) offer() string {
	b.t.Helper()
	offer, err := b.pc.CreateOffer(nil)
	if err != nil {
		b.t.Fatal(err)
	}
	gathered := webrtc.GatheringCompletePromise(b.pc)
	if err := b.pc.SetLocalDescription(offer); err != nil {
		b.t.Fatal(err)
	}
	<-gathered
	return b.pc.LocalDescription().SDP
}

// offered is the offer of a browser that then goes away.
func offered(t *testing.T) string {
	t.Helper()
	b := &browser{talker: &talker{t: t, gone: make(chan struct{})}, open: make(chan struct{})}
	b.connect()
	defer func() { _ = b.pc.GracefulClose() }()
	return b.offer()
}

func (b *browser) connect() {
	b.t.Helper()
	must := func(err error) {
		b.t.Helper()
		if err != nil {
			b.t.Fatal(err)
		}
	}
	var e webrtc.SettingEngine
	e.SetIncludeLoopbackCandidate(true)
	e.SetIPFilter(func(ip net.IP) bool { return ip.IsLoopback() && ip.To4() != nil })
	e.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
	m := &webrtc.MediaEngine{}
	must(m.RegisterDefaultCodecs())
	var err error
	b.pc, err = webrtc.NewAPI(webrtc.WithSettingEngine(e), webrtc.WithMediaEngine(m)).NewPeerConnection(webrtc.Configuration{})
	must(err)
	b.pc.OnTrack(func(tr *webrtc.TrackRemote, _ *webrtc.RTPReceiver) { b.hear(tr) })
	b.mic, err = webrtc.NewTrackLocalStaticRTP(webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeOpus, ClockRate: opus.ClockRate, Channels: 2}, "mic", "me")
	must(err)
	_, err = b.pc.AddTrack(b.mic)
	must(err)
	b.events, err = b.pc.CreateDataChannel("events", nil)
	must(err)
	b.events.OnOpen(func() { close(b.open) })
	b.events.OnClose(func() { close(b.gone) })
	b.events.OnMessage(func(m webrtc.DataChannelMessage) {
		f := frame{at: time.Now()}
		if err := json.Unmarshal(m.Data, &f); err != nil || f.Type == "" || !m.IsString {
			b.t.Errorf("no message: %s", m.Data)
		}
		b.keep(f)
	})
}

func (b *browser) keep(f frame) {
	b.mu.Lock()
	b.frames = append(b.frames, f)
	b.mu.Unlock()
	select {
	case b.came <- struct{}{}:
	default:
	}
}

func (b *browser) hear(tr *webrtc.TrackRemote) {
	d, err := opus.NewDecoder(media.Rate16k)
	if err != nil {
		b.t.Error(err)
		return
	}
	for {
		p, _, err := tr.ReadRTP()
		if err != nil {
			return
		}
		f := frame{at: time.Now(), audio: make([]int16, media.Rate16k.FrameSamples())}
		d.Decode(f.audio, p.Payload)
		b.keep(f)
	}
}

// microphone sends in real time until the test ends.
func (b *browser) microphone() {
	defer close(b.micDone)
	e, err := opus.NewEncoder(opus.EncoderConfig{Rate: media.Rate16k, Complexity: 5})
	if err != nil {
		b.t.Error(err)
		return
	}
	samples, buf := make([]int16, media.Rate16k.FrameSamples()), make([]byte, opus.MaxPacket)
	p := rtp.Packet{Header: rtp.Header{Version: 2}}
	for at := time.Now(); ; at = at.Add(media.FrameDuration) {
		select {
		case <-b.quit:
			return
		case <-time.After(time.Until(at)):
		}
		b.speech.next(samples)
		n, err := e.Encode(buf, samples)
		if err != nil {
			b.t.Error(err)
			return
		}
		p.Payload = buf[:n]
		if p.SequenceNumber++; p.SequenceNumber%loseEvery != 0 {
			_ = b.mic.WriteRTP(&p) // there may be no connection yet
		} else if b.opened() {
			b.lost.Add(1)
		}
		p.Timestamp += 960
	}
}

func (b *browser) opened() bool {
	select {
	case <-b.open:
		return true
	default:
		return false
	}
}

// awaitEnd waits until the connection has ended.
func (b *browser) awaitEnd() {
	b.t.Helper()
	select {
	case <-b.gone:
	case <-time.After(patience):
		b.t.Error("the connection does not end")
	}
}

// end ends the session as a page does.
func (b *browser) end() {
	b.t.Helper()
	if status, _, text := b.ask(http.MethodDelete, b.location, ""); status != http.StatusOK {
		b.t.Errorf("%d %s", status, text)
	}
	b.awaitEnd()
}

// ask sends a request about the session.
func (b *browser) ask(method, path, body string) (int, http.Header, string) {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), method, b.base+path, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	req.Header.Set("X-API-Key", b.key)
	req.Header.Set("Content-Type", "application/sdp")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return res.StatusCode, res.Header, string(text)
}

// TestBrowser has the question of the README asked over WebRTC, answered by voice, the
// answer interrupted, and the session charged from its connection to its end; the network
// loses some packets, and the account of the call knows of it.
func TestBrowser(t *testing.T) {
	t.Parallel()
	s := shared(t, demonstration)
	who := newCustomer(t, s, "10")
	clip := question(t, micRate)
	b := browse(t, s, who.key, who.agent)
	began := time.Now()
	b.awaitStatus("listening") // the greeting is over
	greeted := heard(b.since(began))
	if v := voiced(greeted, media.Rate16k); v < 500*time.Millisecond {
		t.Errorf("the greeting has %s of voice", v)
	}
	b.say(clip)
	said := b.awaitLine("user")
	b.awaitStatus("speaking")
	asked := time.Now()
	b.say(clip) // over the agent
	b.awaitStatus("interrupted")
	if v := voiced(heard(b.since(asked)), media.Rate16k); v < 100*time.Millisecond {
		t.Errorf("the answer has %s of voice", v)
	}
	if !has(said, "open") || !has(said, "monday") {
		t.Errorf("heard %q", said)
	}
	b.end()
	measured, lost := time.Since(began), b.lost.Load()

	books := openBooks(t, s)
	x := books.closed(who.account, 1)[0]
	if x.Reason != "user_hangup" {
		t.Errorf("ended with %s %s", x.Reason, x.Detail)
	}
	books.checkSeconds(x, measured)
	books.checkAmount(x)
	books.checkTokens(x)
	q := books.quality(s, who, x.ID)
	// Some are lost before anybody listens, and after.
	if gone := q.Lost - q.Late; gone+5 < lost || gone > lost+5 || q.Received == 0 {
		t.Errorf("%d packets were lost, the account is %+v", lost, q)
	}
	if want := quality.MOS(quality.Opus, media.FrameDuration, q.Loss, 1); q.MOS > want+0.2 || q.MOS < want-0.2 && !q.stalled() || q.MOSMin > q.MOS || q.MOSMin < 1 {
		t.Errorf("the E-model says %.2f, the account is %+v", want, q)
	}
	checkBooks(t, s.dir)
	if _, text := s.get(t, "metrics", "/metrics"); !strings.Contains(text, `parley_calls_ended_total{detail="",leg="webrtc",reason="user_hangup"}`) {
		t.Error("the metrics do not know of it")
	}
}
