package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pion/ice/v4"
	"github.com/pion/rtp"
	pion "github.com/pion/webrtc/v4"

	"parley/media"
	"parley/media/opus"
)

const frameTime = media.FrameDuration

// quietPacket is the longest packet, in bytes, in which an agent that is silent fits.
const quietPacket = 20

// sessions makes calls over WebRTC, which last until ctx ends. Their packets are encoded beforehand,
// once for all callers, so that the load is the server's.
func (g *generator) sessions(ctx context.Context) error {
	packets, err := g.encoded()
	if err != nil {
		return err
	}
	var e pion.SettingEngine
	e.SetIncludeLoopbackCandidate(true)
	e.SetIPFilter(func(ip net.IP) bool { return ip.Equal(loopback.AsSlice()) })
	e.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
	m := &pion.MediaEngine{}
	opusCodec := pion.RTPCodecCapability{MimeType: pion.MimeTypeOpus, ClockRate: opus.ClockRate, Channels: 2}
	if err := m.RegisterCodec(pion.RTPCodecParameters{PayloadType: 111, RTPCodecCapability: opusCodec}, pion.RTPCodecTypeAudio); err != nil {
		return err
	}
	lib := pion.NewAPI(pion.WithSettingEngine(e), pion.WithMediaEngine(m))
	for i := range g.order.Calls {
		s, err := dialWebRTC(ctx, lib, g.order.WebRTC, opusCodec)
		if err != nil {
			return fmt.Errorf("call %d of %d: %w", i+1, g.order.Calls, err)
		}
		g.work.Go(func() { g.session(ctx, i, s, packets) })
		time.Sleep(dialEvery)
	}
	return nil
}

// encoded is a cycle of a caller as packets.
func (g *generator) encoded() (list [][]byte, err error) {
	// Browsers send SILK, which costs the most to decode, as we do where packets are lost.
	enc, err := opus.NewEncoder(opus.EncoderConfig{Rate: media.Rate8k, Complexity: 5, Loss: 10})
	if err != nil {
		return nil, err
	}
	for frame := range int(cycle / frameTime) {
		buf := make([]byte, opus.MaxPacket)
		n, err := enc.Encode(buf, g.samples(frame))
		if err != nil {
			return nil, err
		}
		list = append(list, buf[:n])
	}
	return list, nil
}

// webSession is one caller's session.
type webSession struct {
	peer  *pion.PeerConnection
	track *pion.TrackLocalStaticRTP
	gone  atomic.Bool
	up    chan struct{}

	// What the reader counts.
	received, audible, lost atomic.Uint64
}

// dialWebRTC begins a session and waits for its connection.
func dialWebRTC(ctx context.Context, lib *pion.API, addr string, codec pion.RTPCodecCapability) (s *webSession, err error) {
	s = &webSession{up: make(chan struct{})}
	if s.peer, err = lib.NewPeerConnection(pion.Configuration{}); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = s.peer.Close()
		}
	}()
	var once sync.Once
	s.peer.OnConnectionStateChange(func(state pion.PeerConnectionState) {
		switch state {
		case pion.PeerConnectionStateConnected:
			once.Do(func() { close(s.up) })
		case pion.PeerConnectionStateFailed, pion.PeerConnectionStateClosed:
			s.gone.Store(true)
		}
	})
	s.peer.OnTrack(func(t *pion.TrackRemote, _ *pion.RTPReceiver) { s.hear(t) })
	if s.track, err = pion.NewTrackLocalStaticRTP(codec, "voice", "caller"); err == nil {
		_, err = s.peer.AddTrack(s.track)
	}
	if err == nil {
		_, err = s.peer.CreateDataChannel("events", nil)
	}
	if err == nil {
		err = s.negotiate(ctx, addr)
	}
	if err != nil {
		return nil, err
	}
	select {
	case <-s.up:
		return s, nil
	case <-time.After(patience):
		return nil, errors.New("there is no connection")
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (s *webSession) negotiate(ctx context.Context, addr string) error {
	offer, err := s.peer.CreateOffer(nil)
	if err != nil {
		return err
	}
	gathered := pion.GatheringCompletePromise(s.peer)
	if err := s.peer.SetLocalDescription(offer); err != nil {
		return err
	}
	<-gathered
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+addr+"/webrtc/agent?agent_id=0", bytes.NewBufferString(s.peer.LocalDescription().SDP))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/sdp")
	req.Header.Set("X-API-Key", "any")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode != http.StatusCreated {
		return fmt.Errorf("%s: %s", res.Status, answer)
	}
	return s.peer.SetRemoteDescription(pion.SessionDescription{Type: pion.SDPTypeAnswer, SDP: string(answer)})
}

// hear counts what comes. It decodes nothing: a packet's length tells speech from silence.
func (s *webSession) hear(t *pion.TrackRemote) {
	buf := make([]byte, 1500)
	var h rtp.Header
	var last uint16
	for first := true; ; first = false {
		n, _, err := t.Read(buf)
		if err != nil {
			return
		}
		used, err := h.Unmarshal(buf[:n])
		if err != nil {
			continue
		}
		if gap := h.SequenceNumber - last; !first && gap > 1 && gap < 1<<15 {
			s.lost.Add(uint64(gap - 1))
		}
		last = h.SequenceNumber
		s.received.Add(1)
		if n-used > quietPacket {
			s.audible.Add(1)
		}
	}
}

// session conducts call i until ctx ends.
func (g *generator) session(ctx context.Context, i int, s *webSession, packets [][]byte) {
	var sent uint64
	p := rtp.Packet{Header: rtp.Header{Version: 2}}
	offset := len(packets) * i / g.order.Calls // callers do not speak in chorus
	g.clock(ctx, i, func(frame int) {
		// What we could not send is not lost on the way.
		p.SequenceNumber, p.Timestamp = uint16(sent), uint32(frame)*uint32(media.Rate48k.FrameSamples())
		p.Payload = packets[(frame+offset)%len(packets)]
		if s.track.WriteRTP(&p) == nil {
			sent++
		}
	})
	dropped := s.gone.Load()
	_ = s.peer.GracefulClose()
	g.add(func(r *loadResult) {
		if dropped {
			r.Dropped++
		}
		r.Sent, r.Received, r.Lost = r.Sent+sent, r.Received+s.received.Load(), r.Lost+s.lost.Load()
		r.Frames, r.Audible = r.Frames+s.received.Load(), r.Audible+s.audible.Load()
	})
}
