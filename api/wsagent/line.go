package wsagent

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	sockets "parley/api/socket"
	"parley/api/talk"
	"parley/media"
)

// resumeWithin is how long a conversation waits for a client whose connection was lost. Clients that come back have a
// new connection after some seconds; callers who have gone are not charged for longer than this.
const resumeWithin = 30 * time.Second

// line is how a client is reached: over one socket, or, where it comes back after its connection was lost, over one
// after another. While there is none the far end has the call on hold, as the conductor sees it, and messages wait.
type line struct {
	sock    atomic.Pointer[sockets.Frames] // the latest
	events  chan media.LegEvent
	away    atomic.Bool   // there is none
	returns atomic.Int32  // how often the client came back
	changed chan struct{} // capacity 1: there is another socket
	full    chan struct{} // closed when more messages wait than may

	mu      sync.Mutex
	grant   func() (call, token string) // nil: the client does not come back
	resumes bool                        // it has a token
	over    bool                        // no other socket is taken
	waiting [][]byte                    // messages for a client that is away; queueSize at most
	status  string                      // the latest, and its generation
	number  int
}

func newLine(sock *sockets.Frames) *line {
	l := &line{events: make(chan media.LegEvent, media.EventQueue), changed: make(chan struct{}, 1), full: make(chan struct{})}
	l.sock.Store(sock)
	return l
}

// put sends a message, or keeps it for a client that will be back. One that more messages wait for than for a slow client
// is given up.
func (l *line) put(text []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	sock := l.sock.Load()
	if !l.resumes || !gone(sock) {
		sock.OfferText(text)
		return
	}
	switch len(l.waiting) {
	case queueSize:
		return
	case queueSize - 1:
		close(l.full)
	}
	l.waiting = append(l.waiting, text)
}

// begin tells a client that comes back how: the first of its messages in the conversation.
func (l *line) begin(c *talk.Client) {
	l.mu.Lock()
	grant := l.grant
	l.resumes = grant != nil && c.Resumes() && !gone(l.sock.Load())
	resumes := l.resumes
	l.mu.Unlock()
	if resumes {
		call, token := grant()
		c.Session(call, token, false)
	}
}

// does notes what the agent does, which a client that is back learns again.
func (l *line) does(status string, number int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.status, l.number = status, number
}

// lose puts the far end on hold when its socket was lost; false: the conversation ends with it, or there is another one.
func (l *line) lose(sock *sockets.Frames) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.resumes && sock.Lost() && l.sock.Load() == sock && l.tell(media.LegHold)
}

// take goes on over another socket, and ends one that is there; false: the conversation is over.
func (l *line) take(next *sockets.Frames) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over || !l.resumes {
		return false
	}
	if !l.away.Load() {
		if !l.tell(media.LegHold) {
			return false
		}
		l.sock.Load().Replace(sockets.Policy, "the conversation goes on over another connection")
	}
	if !l.tell(media.LegResume) {
		return false
	}
	l.sock.Store(next)
	back := talk.NewClient(next.OfferText)
	call, token := l.grant()
	back.Session(call, token, true)
	for _, text := range l.waiting {
		next.OfferText(text)
	}
	l.waiting = nil
	if l.status != "prompt_set" {
		back.Status(l.status, l.number)
	}
	l.returns.Add(1)
	l.away.Store(false)
	select {
	case l.changed <- struct{}{}:
	default:
	}
	return true
}

// tell has the conductor learn that the client is away, or back; false: it does not take what it is to learn.
func (l *line) tell(kind media.LegEventKind) bool {
	if kind == media.LegHold {
		l.away.Store(true) // before the conductor could write what nobody hears
	}
	select {
	case l.events <- media.LegEvent{Kind: kind}:
		return true
	default:
		return false
	}
}

// await waits for a client that is away until it is back; false: it does not come.
func (l *line) await(ctx context.Context) bool {
	t := time.NewTimer(resumeWithin)
	defer t.Stop()
	select {
	case <-l.changed:
		return true
	case <-ctx.Done():
	case <-t.C:
	case <-l.full:
	}
	return !l.finish(false)
}

// fault is why a client was given up that did not come back.
func (l *line) fault() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiting) == queueSize {
		return &media.Ended{Reason: media.Failed, Detail: media.SlowClient}
	}
	return l.sock.Load().Fault()
}

// finish has no other socket taken from now on. Unless at once, not where the client is back.
func (l *line) finish(atOnce bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = atOnce || l.away.Load()
	return l.over
}

// gone says that a socket has ended.
func gone(sock *sockets.Frames) bool {
	select {
	case <-sock.Gone():
		return true
	default:
		return false
	}
}
