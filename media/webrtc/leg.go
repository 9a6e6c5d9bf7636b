package webrtc

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/pion/rtp"
	pion "github.com/pion/webrtc/v4"
	"golang.org/x/time/rate"

	"parley/media"
	"parley/media/isolate"
)

// gatherWait is how long our own addresses may take to be listed: they are known.
const gatherWait = 5 * time.Second

// A client whose network changes restarts ICE once; after restartBurst restarts it may do so
// each restartEvery.
const (
	restartEvery = 10 * time.Second
	restartBurst = 3
)

// Leg is one session, and implements media.Leg. It begins with Answer and ends with Run,
// or with Close when it is never run. What is not media.Leg may be called from any
// goroutine.
type Leg struct {
	*audioLeg
	peer      *pion.PeerConnection
	messages  *channel
	connected chan struct{}
	once      sync.Once
	readers   sync.WaitGroup

	mu       sync.Mutex // of what follows, and of signalling
	offer    Offer
	tag      string
	restarts *rate.Limiter

	readMu sync.Mutex // of closed
	closed bool       // no reader begins any more
}

// Answer takes an offer and returns the session with its answer, in which all of our
// addresses are. text takes the client's messages, one after the other; it may wait,
// and then the client's next ones do. The caller must Run or Close the leg.
func (s *Server) Answer(ctx context.Context, o Offer, text func([]byte)) (*Leg, string, error) {
	cert, err := s.certificate()
	if err != nil {
		return nil, "", err
	}
	audio, err := newAudioLeg()
	if err != nil {
		return nil, "", err
	}
	peer, err := s.api.NewPeerConnection(pion.Configuration{Certificates: []pion.Certificate{cert}, BundlePolicy: pion.BundlePolicyMaxBundle})
	if err != nil {
		return nil, "", err
	}
	l := &Leg{audioLeg: audio, peer: peer, messages: newChannel(audio, text), connected: make(chan struct{}), offer: o,
		restarts: rate.NewLimiter(rate.Every(restartEvery), restartBurst)}
	peer.OnConnectionStateChange(l.changed)
	peer.OnTrack(func(t *pion.TrackRemote, r *pion.RTPReceiver) {
		isolate.Do("media/webrtc/track", l.end, func() { l.hear(t, r) })
	})
	peer.OnDataChannel(l.messages.opened)
	answer, err := l.negotiate(ctx, o)
	if err != nil {
		_ = l.Close()
		return nil, "", err
	}
	l.readers.Add(1)
	isolate.Go("media/webrtc/writer", l.end, l.messages.write, l.readers.Done)
	return l, answer, nil
}

// negotiate answers an offer, the first or one that restarts ICE.
func (l *Leg) negotiate(ctx context.Context, o Offer) (answer string, err error) {
	refused := func(err error) (string, error) { return "", fmt.Errorf("%w: %w", ErrOffer, err) }
	first := l.peer.RemoteDescription() == nil
	if err := l.peer.SetRemoteDescription(pion.SessionDescription{Type: pion.SDPTypeOffer, SDP: o.text}); err != nil {
		return refused(err)
	}
	if first {
		sender, err := l.peer.AddTrack((*track)(l.audioLeg))
		if err != nil {
			return refused(err)
		}
		l.readers.Add(1)
		isolate.Go("media/webrtc/reports", l.end, func() { l.watch(sender) }, l.readers.Done)
	}
	a, err := l.peer.CreateAnswer(nil)
	if err != nil {
		return refused(err)
	}
	gathered := pion.GatheringCompletePromise(l.peer)
	if err := l.peer.SetLocalDescription(a); err != nil {
		return refused(err)
	}
	ctx, cancel := context.WithTimeout(ctx, gatherWait)
	defer cancel()
	select {
	case <-gathered:
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	answer = l.peer.LocalDescription().SDP
	l.tag = tagOf(answer)
	return answer, nil
}

// tagOf is our user name in an answer, which names its ICE session.
func tagOf(answer string) string {
	_, rest, _ := strings.Cut(answer, "a=ice-ufrag:")
	tag, _, _ := strings.Cut(rest, "\n")
	return strings.TrimRight(tag, "\r")
}

// Tag names the ICE session in force: it changes when ICE is restarted.
func (l *Leg) Tag() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tag
}

// Trickle takes more candidates of the client's, of which none is needed. tag is the ICE
// session that they are for; ErrStale says that it is not the one in force.
func (l *Leg) Trickle(tag string, f Fragment) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if tag != l.tag || f.Ufrag != "" && f.Ufrag != l.offer.ufrag {
		return ErrStale
	}
	if l.isGone() {
		return ErrGone
	}
	return nil
}

// Restart begins a new ICE session with the client's new credentials, while the old one
// still carries what it can, and returns ours as a fragment. ErrOften says that the client
// does so too often.
func (l *Leg) Restart(ctx context.Context, f Fragment) (ours string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.isGone() {
		return "", ErrGone
	}
	if f.Ufrag == "" || f.Pwd == "" {
		return "", fmt.Errorf("%w: a restart needs ice-ufrag and ice-pwd", ErrOffer)
	}
	next, err := l.offer.restarted(f)
	if err != nil {
		return "", err
	}
	if !l.restarts.Allow() {
		return "", ErrOften
	}
	answer, err := l.negotiate(ctx, next)
	if err != nil {
		return "", err
	}
	l.offer = next
	return fragment(answer)
}

// changed follows the connection.
func (l *Leg) changed(state pion.PeerConnectionState) {
	switch state {
	case pion.PeerConnectionStateConnected:
		l.once.Do(func() { close(l.connected) })
	case pion.PeerConnectionStateFailed:
		l.end(&media.Ended{Reason: media.Failed, Detail: media.MediaTimeout})
	case pion.PeerConnectionStateClosed:
		l.end(nil)
	}
}

// Connected is closed when media and messages can pass for the first time.
func (l *Leg) Connected() <-chan struct{} { return l.connected }

// Gone is closed when the session has ended.
func (l *Leg) Gone() <-chan struct{} { return l.gone.Done() }

// Hangup ends the session as if the far end had hung up.
func (l *Leg) Hangup() { l.end(nil) }

// Send queues a message. It never blocks: a client that lets 512 of them wait is
// disconnected. One without a data channel gets none.
func (l *Leg) Send(message []byte) { l.messages.put(message) }

// Run implements media.Leg: it lasts as long as the session, and says what is queued
// before it ends.
func (l *Leg) Run(ctx context.Context) error {
	select {
	case <-ctx.Done():
		l.messages.flush()
		l.end(nil)
	case <-l.gone.Done():
	}
	return errors.Join(l.Fault(), l.Close())
}

// Close ends the session at once and waits until nothing of it is left.
func (l *Leg) Close() error {
	l.end(nil)
	err := l.peer.GracefulClose()
	l.readMu.Lock()
	l.closed = true
	l.readMu.Unlock()
	l.readers.Wait()
	return err
}

// hear reads a track of the far end, on a goroutine of the library's. There is one at a
// time, but for moments in which the far end goes on with another stream.
func (l *Leg) hear(t *pion.TrackRemote, r *pion.RTPReceiver) {
	l.types.Store(typesOf(r.GetParameters().Codecs))
	l.readMu.Lock()
	if l.closed {
		l.readMu.Unlock()
		return
	}
	l.readers.Add(1)
	l.readMu.Unlock()
	defer l.readers.Done()
	buf := make([]byte, maxPayload)
	var h rtp.Header
	for {
		n, _, err := t.Read(buf)
		if n == 0 && err != nil {
			return
		}
		at := time.Now()
		used, bad := h.Unmarshal(buf[:n])
		if bad != nil {
			continue
		}
		payload := buf[used:n]
		if h.Padding && len(payload) > 0 {
			payload = payload[:max(0, len(payload)-int(payload[len(payload)-1]))]
		}
		if len(payload) > 0 {
			l.in.put(packet{ssrc: h.SSRC, seq: h.SequenceNumber, timestamp: h.Timestamp, pt: h.PayloadType, at: at, payload: payload})
		}
	}
}
