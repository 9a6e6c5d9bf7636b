package speakingtest

import (
	"sync"
	"time"

	"parley/inference/enginetest/loopbacktest"
)

// Context is what became known of one context, or of what takes its place. Its text is joined verbatim.
type Context struct {
	ID    string
	Text  string
	Audio time.Duration // sent
	End   string        // "": it is open; or how it ended, as its fake names it
}

// Log keeps what became known of contexts. Safe for concurrent use.
type Log struct {
	mu   sync.Mutex
	list []*Context
}

// Begin adds a context, which is changed by Note and End alone.
func (l *Log) Begin(id string) *Context {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := &Context{ID: id}
	l.list = append(l.list, c)
	return c
}

// Note changes contexts, or reads them.
func (l *Log) Note(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
}

// Sent notes a chunk of a context that was sent, in the books of its server too.
func (l *Log) Sent(s *loopbacktest.Server, c *Context, k Chunk) {
	s.Note(func(b *loopbacktest.Books) {
		b.AudioBytes += int64(len(k.Audio))
		b.Audio += k.Length
	})
	l.Note(func() { c.Audio += k.Length })
}

// End notes how a context ended, and says whether it had not.
func (l *Log) End(c *Context, how string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	isOpen := c.End == ""
	if isOpen {
		c.End = how
	}
	return isOpen
}

// Contexts are copies of all contexts in the order in which they began. The caller owns the list.
func (l *Log) Contexts() (list []Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.list {
		list = append(list, *c)
	}
	return list
}
