package loopbacktest

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// Memory is a server whose connections are pipes, so that both ends live in one bubble of simulated time. Its address is any of
// the loopback.
type Memory struct {
	server *http.Server
	accept chan net.Conn
	closed chan struct{}
	close  sync.Once
	ended  chan struct{}
}

// NewMemory starts a server that runs until Close.
func NewMemory(h http.Handler) *Memory {
	m := &Memory{server: &http.Server{Handler: h}, accept: make(chan net.Conn), closed: make(chan struct{}), ended: make(chan struct{})}
	go func() {
		defer close(m.ended)
		_ = m.server.Serve(pipes{m})
	}()
	return m
}

// Dial connects to the server, whatever the address.
func (m *Memory) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case m.accept <- far:
		return near, nil
	case <-m.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Close ends the connections but those that were upgraded, which end with their handlers.
func (m *Memory) Close() {
	_ = m.server.Close()
	<-m.ended
}

// pipes is the listener.
type pipes struct{ *Memory }

func (p pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.accept:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p pipes) Close() error {
	p.close.Do(func() { close(p.closed) })
	return nil
}

func (p pipes) Addr() net.Addr { return &net.UnixAddr{Name: "memory"} }
