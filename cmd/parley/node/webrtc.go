package node

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	"parley/api/webrtc"
	media "parley/media/webrtc"
)

// webRTC is the sessions over WebRTC and the port that they share.
type webRTC struct {
	handler *webrtc.Handler
}

func newWebRTC(n *Node) *webRTC {
	relays := &webrtc.Relays{URLs: n.cfg.TURNURLs, Secret: n.cfg.TURNSecret}
	return &webRTC{webrtc.New(webrtc.Options{Agents: n.agents, Log: n.log, Limits: n.limits, Open: &n.sockets.Limits, Relays: relays})}
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
