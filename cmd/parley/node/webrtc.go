package node

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	"parley/api/webrtc"
	media "parley/media/webrtc"
)

// newWebRTC makes the sessions over WebRTC.
func (n *Node) newWebRTC() *webrtc.Handler {
	relays := &webrtc.Relays{URLs: n.cfg.TURNURLs, Secret: n.cfg.TURNSecret}
	return webrtc.New(webrtc.Options{Agents: n.agents, Log: n.log, Limits: n.limits, Open: &n.sockets.Limits, Relays: relays, Node: n.life.Epoch, Peers: n.cluster})
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
	n.web.Listen(server)
	return server.Addrs(), nil
}

var errNoPort = errors.New("the UDP port is not open")

// webRTC is the part that gives the port back at the end. By then conversations have ended.
func (n *Node) webRTC() Part {
	return Part{"webrtc", func(ctx context.Context) error {
		<-ctx.Done()
		return n.web.Close()
	}, func(context.Context) error {
		if !n.web.Listening() {
			return errNoPort
		}
		return nil
	}}
}
