package node

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"parley/api/webrtc"
	"parley/media/isolate"
	media "parley/media/webrtc"
	"parley/pipeline/session"
	"parley/store"
	"parley/store/history"
)

// webRTC is the sessions over WebRTC and the port that they share.
type webRTC struct {
	handler *webrtc.Handler
}

func newWebRTC(n *Node) *webRTC {
	relays := &webrtc.Relays{URLs: n.cfg.TURNURLs, Secret: n.cfg.TURNSecret}
	return &webRTC{webrtc.New(webrtc.Options{Agents: conversations{n}, Log: n.log, Limits: n.limits, Open: &n.sockets.Limits, Relays: relays})}
}

// ListenWebRTC binds the UDP port of WebRTC sessions, beside httpAddr where HTTP is
// listened on, and says on which addresses; none when there is no WebRTC. Until then
// sessions are refused.
func (n *Node) ListenWebRTC(httpAddr string) ([]netip.AddrPort, error) {
	if n.web == nil {
		return nil, nil
	}
	cfg := media.Config{Port: n.cfg.WebRTCUDPPort, Public: n.cfg.PublicIP, Log: n.log}
	if at, err := netip.ParseAddrPort(httpAddr); err == nil && (!at.Addr().IsLoopback() || !cfg.Public.IsValid()) {
		cfg.Addr = at.Addr().Unmap()
	}
	server, err := media.Listen(cfg)
	if err != nil {
		return nil, fmt.Errorf("PARLEY_WEBRTC_UDP_PORT: %w", err)
	}
	n.web.handler.Listen(server)
	return server.Addrs(), nil
}

var errNoPort = errors.New("the UDP port is not open")

func (w *webRTC) ready(context.Context) error {
	if !w.handler.Listening() {
		return errNoPort
	}
	return nil
}

// run gives the port back at the end. By then conversations have ended.
func (w *webRTC) run(ctx context.Context) error {
	<-ctx.Done()
	return w.handler.Close()
}

// keepQuality stores how a session sounded, as that of telephone calls is. It does not
// wait for that; Close does.
func (n *Node) keepQuality(session *session.Session, leg *webrtc.Leg) {
	stats := leg.Stats()
	report := stats.Quality()
	n.sounded(session.ID(), report)
	n.wires.Add(1)
	isolate.Go("cmd/parley/node/quality", nil, func() {
		ctx, cancel := context.WithTimeout(context.Background(), wireStore)
		defer cancel()
		for range wireRetries {
			err := history.New(n.db).SaveWire(ctx, session.Account(), session.ID(), history.Wire{Quality: &report})
			if err == nil {
				return
			}
			if !errors.Is(err, store.ErrUnavailable) {
				n.log.Warn("the quality of a session was not stored", "session", session.ID(), "err", err)
				return
			}
			time.Sleep(wireRetry)
		}
	}, n.wires.Done)
}
