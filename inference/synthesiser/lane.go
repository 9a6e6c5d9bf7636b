package synthesiser

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"parley/inference"
	"parley/inference/remote"
	"parley/media/isolate"
)

// lane is a socket and the utterances on it. It ends when it breaks, and when it has been idle for too long.
type lane struct {
	pool   *pool
	path   string
	socket *remote.Socket
	born   time.Time
	idle   *time.Timer // closes it; nil: the vendor has no limit

	mu      sync.Mutex
	on      map[string]*utterance // by context; late pieces of others are dropped
	names   int
	flushes []time.Time // of the last minute
	retired error       // why nothing more may be said on it; nil: it is fit
}

// idleMost is when a socket that nobody uses is closed, though the vendor would not.
const idleMost = 5 * time.Minute

// dial opens a socket, which lives on its own.
func (p *pool) dial(ctx context.Context, path string) (*lane, error) {
	socket, err := p.engine.client.Dial(ctx, path)
	if err != nil {
		return nil, err
	}
	return &lane{pool: p, path: path, socket: socket, born: time.Now(), on: map[string]*utterance{}}, nil
}

// begin has the lane read, until it ends. It is called once, when the pool has it.
func (l *lane) begin() {
	idle := part(l.pool.engine.vendor.Limits().Idle)
	if idle == 0 {
		idle = idleMost
	}
	l.idle = time.AfterFunc(idle, l.unused)
	isolate.Go("inference/synthesiser/reader", l.retire, l.read, func() { l.leave() })
}

// unused closes the socket if nobody speaks on it.
func (l *lane) unused() {
	l.mu.Lock()
	idle := len(l.on) == 0
	if idle {
		l.retired = errIdle
	}
	l.mu.Unlock()
	if idle {
		l.socket.Close()
	}
}

var errIdle = errors.New("not used any more")

// fit says whether another utterance may begin on it.
func (l *lane) fit() bool {
	limits := l.pool.engine.vendor.Limits()
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.retired == nil && (limits.Age == 0 || time.Since(l.born) < part(limits.Age)) && (limits.Contexts == 0 || len(l.on) < limits.Contexts) &&
		(limits.Flushes == 0 || l.flushed() < limits.Flushes/2)
}

// flushed is how often it was flushed within the last minute. The lock is held.
func (l *lane) flushed() int {
	for len(l.flushes) > 0 && time.Since(l.flushes[0]) > time.Minute {
		l.flushes = l.flushes[1:]
	}
	return len(l.flushes)
}

// flush counts a flush, unless there were too many already; last says that it ends an utterance.
func (l *lane) flush(last bool) bool {
	limit := l.pool.engine.vendor.Limits().Flushes
	l.mu.Lock()
	defer l.mu.Unlock()
	if limit > 0 && !last && l.flushed() >= limit-2 {
		return false
	}
	if limit > 0 {
		l.flushes = append(l.flushes, time.Now())
	}
	return true
}

// join gives u a context; false: the lane has ended.
func (l *lane) join(u *utterance) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.retired != nil {
		return false
	}
	l.names++
	u.name = fmt.Sprintf("c%d", l.names)
	l.on[u.name] = u
	if l.idle != nil {
		l.idle.Stop()
	}
	return true
}

// part ends the context of u. A vendor counts it until it has said that it is done, so a cancelled one keeps its place
// until then: wait says so.
func (l *lane) part(u *utterance, wait bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if wait && l.retired == nil && l.pool.engine.vendor.Limits().Contexts > 0 {
		l.on[u.name] = nil
		return
	}
	l.forget(u.name)
}

func (l *lane) forget(name string) {
	delete(l.on, name)
	if len(l.on) == 0 && l.idle != nil && l.retired == nil {
		idle := part(l.pool.engine.vendor.Limits().Idle)
		if idle == 0 {
			idle = idleMost
		}
		l.idle.Reset(idle)
	}
}

// read hands pieces to their utterances until the socket ends.
func (l *lane) read() {
	for {
		data, binary, err := l.socket.Read()
		if err == io.EOF {
			err = l.pool.engine.client.Fault(inference.ErrFailed, io.ErrUnexpectedEOF)
		}
		var p Piece
		ok := false
		if err == nil {
			p, ok, err = l.pool.engine.vendor.Read(data, binary)
		}
		if err != nil {
			l.retire(err)
			return
		}
		if ok {
			l.hand(p)
		}
	}
}

// hand gives a piece to the utterance that it is of.
func (l *lane) hand(p Piece) {
	l.mu.Lock()
	for name := range l.on {
		if p.Context == "" {
			p.Context = name
		}
	}
	u, there := l.on[p.Context]
	if there && u == nil && (p.Done || p.Err != nil) {
		l.forget(p.Context)
	}
	l.mu.Unlock()
	if u != nil {
		u.push(p)
	}
}

// retire fails the utterances that are on it; no other may begin.
func (l *lane) retire(err error) {
	l.pool.drop(l)
	l.mu.Lock()
	if l.retired == nil {
		l.retired = err
	}
	var on []*utterance
	for _, u := range l.on {
		if u != nil {
			on = append(on, u)
		}
	}
	l.mu.Unlock()
	for _, u := range on {
		u.push(Piece{Err: err, Context: broken})
	}
}

// broken marks, as the context of a Piece, that the socket has failed and not the utterance.
const broken = "\x00"

// send sends messages in order.
func (l *lane) send(messages [][]byte) {
	for _, m := range messages {
		l.socket.Send(m)
	}
}

// leave closes the socket.
func (l *lane) leave() {
	l.idle.Stop()
	if bye := l.pool.engine.vendor.Limits().Bye; bye != nil {
		l.socket.Send(bye)
	}
	l.socket.Close()
}
