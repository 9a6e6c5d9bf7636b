package synthesiser

import (
	"bytes"
	"cmp"
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
	idle   *time.Timer // closes it when nobody uses it; nil: it does not run yet
	last   sync.Once   // of what is said

	mu      sync.Mutex
	on      map[string]*utterance // by context; late pieces of others are dropped
	names   int
	flushes []time.Time // of the last minute
	retired error       // why nothing more may be said on it; nil: it is fit
	heir    bool        // another is opened when it has ended
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
	l.idle = time.AfterFunc(l.patience(), l.unused)
	isolate.Go("inference/synthesiser/reader", l.retire, l.read, func() { l.leave() }, l.pool.work.Done)
}

// patience is how long the socket stays open that nobody uses.
func (l *lane) patience() time.Duration {
	return cmp.Or(part(l.pool.engine.vendor.Limits().Idle), idleMost)
}

// unused closes the socket if nobody speaks on it.
func (l *lane) unused() {
	l.mu.Lock()
	idle := !l.used()
	if idle {
		l.retired = errIdle
	}
	l.mu.Unlock()
	if idle {
		l.end()
	}
}

// used says that somebody speaks on it. The lock is held.
func (l *lane) used() bool {
	for _, u := range l.on {
		if u != nil {
			return true
		}
	}
	return false
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
	limits := l.pool.engine.vendor.Limits()
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, there := l.on[u.name]; there && wait && limits.Contexts > 0 && !limits.CancelEnds {
		l.on[u.name] = nil
	} else {
		delete(l.on, u.name)
	}
	l.rest()
}

// rest has the socket closed after a while, unless somebody speaks on it. The lock is held.
func (l *lane) rest() {
	if l.idle != nil && l.retired == nil && !l.used() {
		l.idle.Reset(l.patience())
	}
}

// read hands pieces to their utterances until the socket ends.
func (l *lane) read() {
	var message bytes.Buffer // used again: most of it is audio, and long
	for {
		binary, err := l.socket.ReadTo(&message)
		if err == io.EOF {
			err = l.pool.engine.client.Fault(inference.ErrFailed, io.ErrUnexpectedEOF)
		}
		var p Piece
		ok := false
		if err == nil {
			p, ok, err = l.pool.engine.vendor.Read(message.Bytes(), binary)
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

// hand gives a piece to the utterance that it is of, which has no place any more when it is the last.
func (l *lane) hand(p Piece) {
	l.mu.Lock()
	for name := range l.on {
		if p.Context == "" {
			p.Context = name
		}
	}
	u := l.on[p.Context]
	if p.Done || p.Err != nil {
		delete(l.on, p.Context)
		l.rest()
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

// send sends messages in order, unless the lane has ended.
func (l *lane) send(messages [][]byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.retired != nil {
		return
	}
	for _, m := range messages {
		l.socket.Send(m)
	}
}

// end begins to close the socket; read ends with it.
func (l *lane) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.retired == nil {
		l.retired = errClosed
	}
	l.bye() // nothing follows
	l.socket.Leave()
}

// abandon ends the socket because nothing else stops what is spoken on it. The caller who interrupted that will be answered, so
// another takes its place.
func (l *lane) abandon() {
	l.mu.Lock()
	l.heir = true
	l.mu.Unlock()
	l.retire(inference.ErrUtteranceEnded)
	l.end()
}

// leave frees the socket, which nobody reads any more.
func (l *lane) leave() {
	l.idle.Stop()
	l.bye()
	l.socket.Close()
	l.mu.Lock()
	heir := l.heir
	l.mu.Unlock()
	if heir {
		l.pool.warm(l.pool.engine.life, l.path)
	}
}

// bye says what the vendor wants to hear last, once. It is harmless when the socket has ended.
func (l *lane) bye() {
	if bye := l.pool.engine.vendor.Limits().Bye; bye != nil {
		l.last.Do(func() { l.socket.Send(bye) })
	}
}
