package recording

import (
	"context"
	"os"
	"sync"
	"time"

	"parley/api/upload"
)

const (
	// maxCopies are there at once, half of them of one account: two hours in two channels
	// at 8 kHz are 230 MB.
	maxCopies = 8
	// copyKept is how long one without readers is kept: players ask for part after part.
	copyKept = 2 * time.Minute
	// copyWait is how long a request waits for room, and for the account's turn.
	copyWait = 20 * time.Second
)

// copies are recordings as WAV: of each one file without a name, which all its readers
// share. An account has one decoded at a time, so that others find a decoder.
type copies struct {
	room, turn *upload.Gate

	mu   sync.Mutex
	made map[string]*wavCopy // by call
}

// wavCopy is a recording as WAV. file and err are set before ready is closed, the rest is
// guarded by copies.mu.
type wavCopy struct {
	ready   chan struct{}
	file    *os.File
	err     error
	account string
	readers int
	idle    *time.Timer // forgets it; nil while it has readers
	leave   func()      // gives its room back; nil before it has some
}

func newCopies() *copies {
	return &copies{room: upload.NewGate(maxCopies, copyWait), turn: upload.NewGate(2, copyWait), made: map[string]*wavCopy{}}
}

// take returns the copy of a call's recording, which is made by decode when there is none,
// also when the client that asked has gone: others may wait for it. done is to be called when it
// is read no more. ErrBusy: there is no room.
func (c *copies) take(ctx context.Context, account, call string, decode func(context.Context) (*os.File, error)) (file *os.File, done func(), err error) {
	c.mu.Lock()
	w, there := c.made[call]
	if !there {
		w = &wavCopy{ready: make(chan struct{}), account: account}
		c.made[call] = w
	}
	w.readers++
	if w.idle != nil {
		w.idle.Stop()
		w.idle = nil
	}
	c.mu.Unlock()
	if !there {
		w.file, w.err = c.make(context.WithoutCancel(ctx), w, decode)
		close(w.ready)
	}
	done = sync.OnceFunc(func() { c.release(call, w) })
	select {
	case <-w.ready:
		err = w.err
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err != nil {
		done()
		return nil, nil, err
	}
	return w.file, done, nil
}

// make finds room for a copy and its account's turn to decode it.
func (c *copies) make(ctx context.Context, w *wavCopy, decode func(context.Context) (*os.File, error)) (*os.File, error) {
	c.makeRoom(w.account)
	leave, err := c.room.Enter(ctx, w.account)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	w.leave = leave
	c.mu.Unlock()
	over, err := c.turn.Enter(ctx, w.account)
	if err != nil {
		return nil, err
	}
	defer over()
	return decode(ctx)
}

// release takes a reader off. A copy without any is kept for a while, unless it failed.
func (c *copies) release(call string, w *wavCopy) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if w.readers--; w.readers > 0 {
		return
	}
	// The request that makes it is a reader, so it is made.
	if w.err != nil {
		c.forget(call, w)
		return
	}
	w.idle = time.AfterFunc(copyKept, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if w.readers == 0 {
			c.forget(call, w)
		}
	})
}

// makeRoom forgets copies without readers, where the account or all have as many as they may.
func (c *copies) makeRoom(account string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	own := 0
	for _, w := range c.made {
		if w.account == account {
			own++
		}
	}
	for call, w := range c.made {
		if w.idle != nil && (len(c.made) > maxCopies || own > maxCopies/2 && w.account == account) {
			w.idle.Stop()
			c.forget(call, w)
		}
	}
}

// forget closes a copy without readers, which is the end of its file. c.mu is held.
func (c *copies) forget(call string, w *wavCopy) {
	if c.made[call] != w {
		return
	}
	delete(c.made, call)
	if w.file != nil {
		_ = w.file.Close()
	}
	if w.leave != nil {
		w.leave()
	}
}

// drop forgets the copy of a recording that was deleted, and all when call is empty. Who
// reads it reads on: there is no new reader.
func (c *copies) drop(call string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, w := range c.made {
		if w.idle != nil && (call == "" || name == call) {
			w.idle.Stop()
			c.forget(name, w)
		}
	}
}
