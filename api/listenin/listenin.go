// Package listenin lets people listen in on a call over a WebSocket: both sides of it, as they are said, without being heard. It needs a
// permission of its own, and is noted in the call.
package listenin

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"parley/api"
	"parley/api/socket"
	"parley/media/monitor"
)

// Calls are the calls of this server.
type Calls interface {
	// Listen listens in on a call of the account: store.ErrNotFound, and api.ErrSilent where there is nothing to hear.
	Listen(ctx context.Context, account, call string) (*monitor.Listener, error)
}

// Notes keep who has listened in.
type Notes interface {
	Joined(ctx context.Context, account, call, credential string) (id string, err error)
	Left(ctx context.Context, id string) error
}

// Handler serves the sockets. Mount adds it to an API.
type Handler struct {
	Calls   Calls
	Notes   Notes
	Sockets *socket.Set
	Log     *slog.Logger
}

// Path is where the sockets connect.
const Path = "/v1/calls/{id}/listen"

const description = `Sends the audio of a call that is going on, until it is over or the socket is closed. Nobody in the call hears of it; who listened, and when, is in the call.

The first message is ` + "`" + `{"type": "listening", "call_id", "sample_rate", "channels": 2}` + "`" + `. Then come binary messages with 20 ms each: Int16 little endian, the caller on the left and the
other side on the right, as the caller hears it. The last is ` + "`" + `{"type": "ended"}` + "`" + `. What is refused is answered by one error message and close code 1008. A client that is slow misses audio.
Eight may listen in on a call at once. It costs nothing.`

// Mount adds the socket to an API.
func Mount(a *api.API, h *Handler) {
	a.Handle(api.Route{Access: api.Listeners, OwnPagesOnly: true, Operation: huma.Operation{
		Method: http.MethodGet, Path: Path, OperationID: "listen-in", Tags: []string{"Calls"},
		Summary: "Listen in on a call", Description: description,
		Parameters: []*huma.Param{{Name: "id", In: "path", Required: true, Description: "The call's identifier.", Schema: &huma.Schema{Type: huma.TypeString}, Example: "ses_06er5bt0v9k1o7m2q3s4t5u6v0"}},
		Responses:  api.Answer(http.StatusSwitchingProtocols, "The socket", ""),
		Errors:     []int{http.StatusBadRequest},
	}}, h)
}

// ServeHTTP upgrades and serves one socket. It returns when it has ended.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	call := r.PathValue("id")
	sock, err := h.Sockets.Upgrade(w, r, socket.Object)
	if err != nil {
		return // answered where this was found
	}
	sock.Run(socket.Incoming{}, func(ctx context.Context) {
		if err := h.serve(ctx, sock, api.PrincipalOf(ctx), call); err != nil {
			sock.Refuse(err)
		}
	})
}

// notePatience is for noting that somebody has left.
const notePatience = 3 * time.Second

// serve sends what is heard until the call is over. An error: nothing was.
func (h *Handler) serve(ctx context.Context, sock *socket.Socket, p api.Principal, call string) error {
	l, err := h.Calls.Listen(ctx, p.Account, call)
	if err != nil {
		return err
	}
	defer l.Leave()
	// Nobody listens without a note of it.
	id, err := h.Notes.Joined(ctx, p.Account, call, p.Maker())
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), notePatience)
		defer cancel()
		if err := h.Notes.Left(ctx, id); err != nil {
			h.Log.Warn("that somebody listens no more was not noted", "session", call, "err", err)
		}
	}()
	sock.SendJSON(map[string]any{"type": "listening", "call_id": call, "sample_rate": int(l.Rate()), "channels": monitor.Channels})
	frame := make([]int16, monitor.Channels*l.Rate().FrameSamples())
	for {
		err := l.Next(ctx, frame)
		if errors.Is(err, io.EOF) {
			sock.SendJSON(map[string]string{"type": "ended"})
			return nil
		}
		if err != nil || !sock.SendBinary(bytesOf(frame)) {
			return nil // the client has gone
		}
	}
}

// bytesOf writes samples as they are sent.
func bytesOf(samples []int16) []byte {
	b := make([]byte, 2*len(samples))
	for i, v := range samples {
		binary.LittleEndian.PutUint16(b[2*i:], uint16(v))
	}
	return b
}
