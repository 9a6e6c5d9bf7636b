// Package listenin lets people take part in a call over a WebSocket: they hear both sides of it, as they are said, and where they may
// speak they tell the agent, or the person to whom it has transferred the caller, something that the caller does not hear, or speak in
// the agent's place. Programs have both sides sent to them, as
// streams. All need permissions of their own, and are noted in the call.
package listenin

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gorilla/websocket"

	"parley/api"
	"parley/api/socket"
	"parley/media"
	"parley/media/monitor"
)

// Calls are the calls of this server.
type Calls interface {
	// Listen listens in on a call of the account: store.ErrNotFound, and api.ErrSilent where there is nothing to hear.
	Listen(ctx context.Context, account, call string) (*monitor.Listener, error)
	// Conversation is what is talked in a call that Listen gave; nil: nothing is any more.
	Conversation(account, call string) Conversation
	// Owner is the epoch of the server that has a call of the account; 0: none has.
	Owner(ctx context.Context, account, call string) int64
}

// Conversation is one between a caller and an agent.
type Conversation interface {
	// StepIn has a person speak in the agent's place, whose voice comes at a rate: api.ErrSupervised, api.ErrNotTalking.
	StepIn(ctx context.Context, credential string, rate media.Rate) (Supervisor, error)
	// Coach lets a person speak to the colleague who has the caller; the caller does not hear it. api.ErrSupervised, api.ErrNoColleague.
	Coach(ctx context.Context, credential string, rate media.Rate) (Supervisor, error)
	// Whisper tells the agent, or the colleague who has the caller, something that the caller does not hear.
	Whisper(text string)
	// Listens counts the people who listen in: 1 when somebody begins, -1 when somebody stops. Those in the call hear a tone if its
	// agent has one.
	Listens(by int)
}

// Supervisor speaks in the agent's place, or to the colleague who has the caller.
type Supervisor interface {
	// Say takes 20 ms, from one goroutine.
	Say(samples []int16)
	// StepOut ends their part.
	StepOut()
}

// Notes keep who has listened in.
type Notes interface {
	// Joined notes who listens, and the host that hears it for them; empty: they do themselves.
	Joined(ctx context.Context, account, call, credential, host string) (id string, err error)
	Spoke(ctx context.Context, id string) error
	// Left notes that they listen no more, and the failure that this is; empty: it is none.
	Left(ctx context.Context, id, failure string) error
}

// Handler serves the sockets. Mount adds it to an API.
type Handler struct {
	Calls   Calls
	Peers   api.Peers // nil: there are none
	Notes   Notes
	Sockets *socket.Set
	Log     *slog.Logger
	// Connect opens the socket to which a stream of an account is sent.
	Connect func(ctx context.Context, account, url string, headers map[string]string) (*websocket.Conn, error)

	streams streams
}

// Path is where the sockets connect.
const Path = "/v1/calls/{id}/listen"

const description = `Sends the audio of a call that is going on, until it is over or the socket is closed. Nobody in the call hears of it, unless its agent has ` + "`" + `listening_tone` + "`" + `: then everybody hears a soft tone at the
beginning, and every 15 seconds. Who listened, and when, is in the call.

The first message is ` + "`" + `{"type": "listening", "call_id", "sample_rate", "channels": 2}` + "`" + `. Then come binary messages with 20 ms each: Int16 little endian, the caller on the left and the
other side on the right, as the caller hears it. The last is ` + "`" + `{"type": "ended"}` + "`" + `. What is refused is answered by one error message and close code 1008. A client that is slow misses audio.
Eight may listen in on a call at once. It costs nothing.

Who may speak sends ` + "`" + `{"type": "take_over"}` + "`" + `: the agent stops at once, and is silent until ` + "`" + `{"type": "give_back"}` + "`" + `, or the end of the socket. Meanwhile binary messages, Int16 little
endian at the same rate on one channel, of any length up to 200 ms, are what the caller hears. ` + "`" + `taken_over` + "`" + ` and ` + "`" + `given_back` + "`" + ` answer. One person speaks at a time. What they say stands in the
transcript as the role ` + "`" + `supervisor` + "`" + `, and the agent knows it afterwards. ` + "`" + `{"type": "whisper", "text": "…"}` + "`" + ` tells the agent something that the caller does not hear, for its next replies.

Once the caller is connected to a person by a transfer, a whisper is said to that person by the agent's voice, and the caller does not hear it; up to four wait for their turn, and more are dropped. ` + "`" + `{"type": "coach"}` + "`" + ` lets only
that person hear what you say, sent as above; ` + "`" + `coaching` + "`" + ` answers, and ` + "`" + `give_back` + "`" + ` ends it. What the two say is sent to you where the agent has ` + "`" + `record_transfers` + "`" + `.`

// Mount adds the socket to an API.
func Mount(a *api.API, h *Handler) {
	a.Handle(api.Route{Access: api.Listeners, OwnPagesOnly: true, Elsewhere: h.elsewhere, Operation: huma.Operation{
		Method: http.MethodGet, Path: Path, OperationID: "listen-in", Tags: []string{"Calls"},
		Summary: "Listen in on a call", Description: description,
		Parameters: []*huma.Param{{Name: "id", In: "path", Required: true, Description: "The call's identifier.", Schema: &huma.Schema{Type: huma.TypeString}, Example: "ses_06er5bt0v9k1o7m2q3s4t5u6v0"}},
		Responses:  api.Answer(http.StatusSwitchingProtocols, "The socket", ""),
		Errors:     []int{http.StatusBadRequest},
	}}, h)
	h.mountStreams(a)
}

// elsewhere sends a request on to the server that has its call.
func (h *Handler) elsewhere(w http.ResponseWriter, r *http.Request) bool {
	if h.Peers == nil {
		return false
	}
	owner := h.Calls.Owner(r.Context(), api.AccountOf(r.Context()), r.PathValue("id"))
	return owner != 0 && h.Peers.Forward(w, r, owner)
}

// ServeHTTP upgrades and serves one socket. It returns when it has ended.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	call := r.PathValue("id")
	sock, err := h.Sockets.Upgrade(w, r, socket.Object)
	if err != nil {
		return // answered where this was found
	}
	g := &guest{Handler: h, sock: sock, who: api.PrincipalOf(r.Context()), call: call}
	sock.Run(socket.Incoming{Text: g.told, Binary: g.says, MaxText: maxMessage, MaxBinary: maxMessage}, func(ctx context.Context) {
		if err := g.serve(ctx); err != nil {
			sock.Refuse(err)
		}
	})
}

// noting notes something of who listens.
func (h *Handler) noting(call, what string, note func(context.Context) error) {
	ctx, cancel := context.WithTimeout(context.Background(), notePatience)
	defer cancel()
	if err := note(ctx); err != nil {
		h.Log.Warn(what+" was not noted", "session", call, "err", err)
	}
}
