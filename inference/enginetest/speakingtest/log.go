package speakingtest

import (
	"sync"
	"time"
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

// Begin adds a context, which is changed by Change and End alone.
func (l *Log) Begin(id string) *Context {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := &Context{ID: id}
	l.list = append(l.list, c)
	return c
}

// Change changes contexts, or reads them.
func (l *Log) Change(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
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
