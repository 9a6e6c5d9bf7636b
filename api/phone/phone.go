// Package phone takes SIP from phones that are made of a browser (RFC 7118): JsSIP, sip.js and the like. The route is open to all,
// since their calls show credentials by SIP itself; it bounds how many sockets there are. What they say is not read here. The route
// is not of the interface for programs: libraries of SIP know what to do there.
package phone

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gorilla/websocket"

	"parley/api"
	sockets "parley/api/socket"
	"parley/media/isolate"
)

// Path is where phones connect, and protocol what they must say that they speak (RFC 7118 section 4).
const (
	Path     = "/ws/sip"
	protocol = "sip"
)

// Bounds of a socket.
const (
	maxMessage = 32 << 10 // bytes; a longer one is answered with 1009
	// queueSize is what may wait for a slow phone. Who writes waits when it is full, writeWait at most: then the phone is disconnected.
	queueSize = 16
	writeWait = 5 * time.Second
	// maxPerNetwork is how many sockets a network may have open: the phones of an office behind one address.
	maxPerNetwork = 100
)

// Line is the SIP side of a socket.
type Line interface {
	// Receive takes a message of the phone's, and does not keep the slice.
	Receive(message []byte)
	// Run hands messages for the phone to send, which keeps the slice and says false when the phone has gone; until that,
	// the end of ctx, or that of the line.
	Run(ctx context.Context, send func([]byte) bool)
	// Close ends a line that does not run.
	Close()
}

// Handler connects phones. Its Connect and Log are set.
type Handler struct {
	// Connect makes the line of a phone at far that has connected to at, over TLS or not. Its error is one of the table.
	Connect func(far, at netip.AddrPort, secure bool) (Line, error)
	Log     *slog.Logger

	open sockets.Limits // by network
}

// Mount adds the route.
func Mount(a *api.API, h *Handler) {
	h.open.Most = maxPerNetwork
	a.Handle(api.Route{Access: api.Public, Operation: huma.Operation{
		Method: http.MethodGet, Path: Path, OperationID: "connect-phone", Hidden: true,
	}}, api.HandlerFunc(h.connect))
}

func (h *Handler) connect(w http.ResponseWriter, r *http.Request) error {
	if !websocket.IsWebSocketUpgrade(r) {
		w.Header().Set("Upgrade", "websocket")
		return api.ErrUpgrade
	}
	if !slices.Contains(websocket.Subprotocols(r), protocol) {
		return api.Bad("the WebSocket must have the subprotocol sip")
	}
	from := api.NetworkOf(r.Context())
	if !h.open.Open(from) {
		return api.Detail(api.ErrRateLimited, "as many phones are connected from this network as may be")
	}
	defer h.open.Closed(from)
	far, at := ends(r)
	line, err := h.Connect(far, at, r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https")
	if err != nil {
		return err
	}
	defer line.Close()
	sock, err := sockets.Open(w, r, queueSize, writeWait, protocol)
	if err != nil {
		return nil // the client has its answer
	}
	sock.Run(sockets.Incoming{Text: line.Receive, Binary: line.Receive, MaxText: maxMessage, MaxBinary: maxMessage}, func(ctx context.Context) {
		isolate.Do("api/phone/socket", nil, func() { line.Run(ctx, sock.SendText) }, line.Close)
	})
	api.LogOf(r.Context(), h.Log).Debug("a phone's socket has ended", "from", from, "cause", sock.Cause())
	return nil
}

// ends are both ends of a request's connection. Behind a trusted proxy the far one has the client's address, and the proxy's port.
func ends(r *http.Request) (far, at netip.AddrPort) {
	peer, _ := netip.ParseAddrPort(r.RemoteAddr) // not valid with an error
	if local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr); ok {
		at = local.AddrPort()
	}
	return netip.AddrPortFrom(api.AddressOf(r.Context()), peer.Port()), netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
}
