package listenin

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"parley/api"
	"parley/api/wire"
	"parley/media/fork"
	"parley/media/isolate"
	"parley/media/monitor"
)

// connectWait is for opening the socket of a stream.
const connectWait = 5 * time.Second

const startDescription = `Sends the audio of a call that is going on to a WebSocket of yours, until the call is over, the stream is deleted or your server closes the socket. The messages are those of
Twilio's Media Streams: ` + "`connected`, `start`, `media` and `stop`" + `, with audio of 20 ms in PCMU at 8 kHz; track ` + "`inbound`" + ` is what the person on the line says, ` + "`outbound`" + ` what they hear. ` + "`streamSid`, `accountSid` and `callSid`" + `
are the identifiers of Parley. What you send is ignored. A server that is slow misses audio, and ` + "`timestamp`" + ` goes on; one that takes nothing for 5 s loses the stream.

Nobody in the call hears of it; who asked for it, when, and the host it went to are in the call. Streams and people who listen in are eight at most. It costs nothing.`

// streams are those that go on, by identifier.
type streams struct {
	mu   sync.Mutex
	live map[string]*stream
}

// stream is one on its way.
type stream struct {
	account, call, by string
	to                wire.NewStream

	// Set by open.
	id    string
	conn  *websocket.Conn
	ctx   context.Context
	stop  context.CancelFunc
	ended chan struct{} // closed when nothing is sent any more, and that is noted

	failure string // why it ended before its call; empty: it did not
}

func (h *Handler) mountStreams(a *api.API) {
	g := api.Group{Tag: "Calls", Access: api.Listeners, OwnPagesOnly: true}
	post := g.Post("/v1/calls/{id}/streams", "start-stream", "Send the audio of a call to a WebSocket", startDescription, http.StatusNotFound, http.StatusConflict).Created()
	del := g.Delete("/v1/calls/{id}/streams/{stream}", "stop-stream", "Stop a stream", "Ends one stream of a call; the call goes on.", http.StatusNotFound)
	post.Elsewhere, del.Elsewhere = h.elsewhere, h.elsewhere
	api.Register(a, post, h.start)
	api.Register(a, del, h.end)
}

func (h *Handler) start(ctx context.Context, in *struct {
	ID   string `path:"id" doc:"The call's identifier." maxLength:"100" example:"ses_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Body wire.NewStream
}) (*api.Reply[wire.Stream], error) {
	if wrong := in.Body.Parameters.Check(); wrong != "" {
		return nil, api.Bad("parameters: %s", wrong)
	}
	who := api.PrincipalOf(ctx)
	l, err := h.Calls.Listen(ctx, who.Account, in.ID)
	if err != nil {
		return nil, err
	}
	s, err := h.open(ctx, &stream{account: who.Account, call: in.ID, by: who.Maker(), to: in.Body})
	if err != nil {
		l.Leave()
		return nil, err
	}
	h.begin(s, l)
	return api.Body(wire.Stream{ID: s.id, CallID: in.ID, Host: s.host(), Tracks: cmp.Or(in.Body.Tracks, "both")}), nil
}

// Follow sends the audio of a call that has just begun on, as its agent wants it. It returns at once.
func (h *Handler) Follow(heard *monitor.Monitor, account, call, agent string, to wire.NewStream) {
	l, err := heard.Join()
	if err != nil {
		return // it has begun, and nobody else can listen in yet: it is over
	}
	wanted := &stream{account: account, call: call, by: agent, to: to}
	failed := func(err error) {
		l.Leave()
		h.fail(wanted, err)
	}
	isolate.Go("api/listenin/open", failed, func() {
		ctx, cancel := context.WithTimeout(context.Background(), connectWait+notePatience)
		defer cancel()
		if s, err := h.open(ctx, wanted); err == nil {
			h.begin(s, l)
		} else {
			failed(err)
		}
	})
}

// begin has a stream go on until its end, on a goroutine of its own.
func (h *Handler) begin(s *stream, l *monitor.Listener) {
	isolate.Go("api/listenin/stream", nil, func() { h.send(s, l) }, l.Leave, func() { h.over(s) })
}

// open opens the socket of a stream, and notes it: nothing is sent without.
func (h *Handler) open(ctx context.Context, s *stream) (*stream, error) {
	opening, cancel := context.WithTimeout(ctx, connectWait)
	defer cancel()
	var err error
	if s.conn, err = h.Connect(opening, s.account, s.to.URL, s.to.Headers); err != nil {
		return nil, err
	}
	if s.id, err = h.Notes.Joined(ctx, s.account, s.call, s.by, s.host()); err != nil {
		s.conn.Close()
		return nil, err
	}
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.ended, s.failure = make(chan struct{}), "internal error" // unless send returns
	h.streams.add(s)
	return s, nil
}

// send sends a stream until its end.
func (h *Handler) send(s *stream, l *monitor.Listener) {
	err := fork.Run(s.ctx, s.conn, l, fork.Start{Stream: s.id, Account: s.account, Call: s.call, Tracks: tracks(s.to.Tracks), Parameters: s.to.Parameters})
	s.failure = ""
	if err != nil {
		s.failure = "the receiver closed the WebSocket, or took nothing any more"
		h.Log.Info("a stream ended before its call", "session", s.call, "stream", s.id, "missed", l.Missed(), "err", err)
	}
}

// over notes that a stream has ended.
func (h *Handler) over(s *stream) {
	s.stop()
	s.conn.Close()
	h.noting(s.call, "that a stream has ended", func(ctx context.Context) error { return h.Notes.Left(ctx, s.id, s.failure) })
	h.streams.remove(s.id)
	close(s.ended)
}

// fail notes that the stream that an agent wants could not begin.
func (h *Handler) fail(s *stream, why error) {
	h.Log.Info("a stream could not begin", "session", s.call, "err", why)
	p := api.ProblemOf(why)
	h.noting(s.call, "that a stream could not begin", func(ctx context.Context) error {
		id, err := h.Notes.Joined(ctx, s.account, s.call, s.by, s.host())
		if err != nil {
			return err
		}
		return h.Notes.Left(ctx, id, cmp.Or(p.Detail, p.Message))
	})
}

// host is where a stream goes, without what may be secret of its address.
func (s *stream) host() string {
	u, err := url.Parse(s.to.URL)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// tracks are those of a request.
func tracks(name string) []fork.Track {
	if name == "" || name == "both" {
		return nil
	}
	return []fork.Track{fork.Track(name)}
}

func (s *streams) add(made *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live == nil {
		s.live = map[string]*stream{}
	}
	s.live[made.id] = made
}

func (s *streams) remove(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.live, id)
}

// all are those that go on now.
func (s *streams) all() []*stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.live))
}

// Drain waits for the streams of calls that are over, until ctx ends.
func (h *Handler) Drain(ctx context.Context) {
	for _, s := range h.streams.all() {
		select {
		case <-s.ended:
		case <-ctx.Done():
			return
		}
	}
}

// find is a stream of a call of the account; nil: there is none.
func (s *streams) find(account, call, id string) *stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	if found := s.live[id]; found != nil && found.account == account && found.call == call {
		return found
	}
	return nil
}

func (h *Handler) end(ctx context.Context, in *struct {
	ID     string `path:"id" doc:"The call's identifier." maxLength:"100" example:"ses_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Stream string `path:"stream" doc:"The stream's identifier." maxLength:"100" example:"lis_06er5bt0v9k1o7m2q3s4t5u6v0"`
}) (*struct{}, error) {
	found := h.streams.find(api.AccountOf(ctx), in.ID, in.Stream)
	if found == nil {
		return nil, errNoStream
	}
	found.stop()
	select {
	case <-found.ended:
		return nil, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

var errNoStream = api.Detail(api.ErrNotFound, "there is no such stream, or it has ended")
