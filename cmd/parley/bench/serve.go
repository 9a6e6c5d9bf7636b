package bench

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"

	"parley/api"
	"parley/media/punctual"
	"parley/media/stream"
)

// begin runs something until stop is called, which waits for its end.
func begin(run func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { run(ctx) })
	return func() { cancel(); wg.Wait() }
}

// beginServer is begin for what conducts calls, and has timers fire in time, as a server does.
func beginServer(run func(context.Context)) (stop func()) {
	server := begin(run)
	timers := begin(func(ctx context.Context) { _ = punctual.Run(ctx, func() bool { return true }) }) // it shows in the lateness of packets
	return func() { server(); timers() }
}

// serve answers HTTP on the loopback until stop is called.
func serve(routes *api.API) (addr string, stop func(), err error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	s := &http.Server{Handler: routes.Handler(api.Options{}), ReadHeaderTimeout: 5 * time.Second}
	wait := beginServer(func(context.Context) { _ = s.Serve(l) }) // a lost listener shows as clients that cannot connect
	return l.Addr().String(), func() { _ = s.Close(); wait() }, nil
}

// anyKey takes every key for an account.
type anyKey struct{}

// Authenticate implements api.Keys.
func (anyKey) Authenticate(_ context.Context, secret string) (api.Principal, error) {
	return api.Principal{Account: secret, Key: secret}, nil
}

// counted is a leg with statistics.
type counted interface{ Stats() stream.Stats }

// traffic adds up what the calls of a server send and receive. Its methods may be called from
// several goroutines.
type traffic struct {
	mu    sync.Mutex
	legs  map[counted]struct{} // of calls in progress
	ended stream.Stats         // sums of calls that have ended
}

// begin counts a call; done ends it.
func (t *traffic) begin(leg counted) (done func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.legs == nil {
		t.legs = map[counted]struct{}{}
	}
	t.legs[leg] = struct{}{}
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.legs, leg)
		s := leg.Stats()
		t.ended.Lost += s.Lost
		t.ended.Skipped += s.Skipped
		t.ended.Late += s.Late
		t.ended.Dropped += s.Dropped + s.Overruns
		t.ended.Lateness.Add(s.Lateness)
	}
}

// sent is how many packets the calls in progress have sent.
func (t *traffic) sent() (packets uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for leg := range t.legs {
		packets += leg.Stats().Sent
	}
	return packets
}

// total is the sum of what has ended.
func (t *traffic) total() stream.Stats {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ended
}
