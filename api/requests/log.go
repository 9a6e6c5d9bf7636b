// Package requests is the log of what programs of an account have asked: requests with its keys and tickets, and what
// they were answered, for people who look for what their program does wrong.
//
// A request ends before it is written: the edge hands it to Log.Take, which does not wait, and Log.Run writes many at
// once. What there is no room for is dropped and counted. Neither credentials nor words of calls are
// kept: of a query and of a JSON body values are blanked by their names (see redact.go).
package requests

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"sync/atomic"
	"time"

	"parley/api"
	store "parley/store/requests"
)

const (
	// queueSize is how many requests may wait: those of a second at a rate that no server reaches. One that finds no
	// room is dropped.
	queueSize = 4096
	// batch is how many are written at once.
	batch = 500
	// patience is how long a batch may take. Then it is dropped, as the database has other things to do.
	patience = 10 * time.Second
	// gather is how long the first of a batch waits for others, and trimEvery how often old ones are deleted.
	gather    = time.Second
	trimEvery = 10 * time.Minute
)

// Log takes requests and writes them. Its methods may be called from any goroutine.
type Log struct {
	store   *store.Store
	log     *slog.Logger
	queue   chan api.Seen
	dropped atomic.Uint64
}

// NewLog returns a log that writes into s once Run runs.
func NewLog(s *store.Store, log *slog.Logger) *Log {
	return &Log{store: s, log: log, queue: make(chan api.Seen, queueSize)}
}

// Take takes a request that is over, unless it follows something and was answered. It does not wait.
func (l *Log) Take(r api.Seen) {
	if follows(&r) {
		return
	}
	select {
	case l.queue <- r:
	default:
		l.dropped.Add(1)
	}
}

// follows says whether a request is one of many by which a program follows something, and was answered: a log of these alone would be left
// in the evening.
func follows(r *api.Seen) bool {
	if r.Status != http.StatusOK {
		return false
	}
	switch r.Method + " " + r.Route {
	case "POST /v1/webhooks/{id}/deliveries/take":
		return true
	case "GET /v1/requests", "GET /v1/calls":
		query, err := url.ParseQuery(r.Query)
		return err == nil && query.Get("follow") == "true"
	}
	return false
}

// Dropped is how many requests were not written, because too many waited or the database was away.
func (l *Log) Dropped() uint64 { return l.dropped.Load() }

// Run writes requests, and deletes old ones, until ctx ends, and then what waits.
func (l *Log) Run(ctx context.Context) error {
	active := map[string]struct{}{} // accounts that have asked since the last trim
	tick := time.NewTicker(trimEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			for len(l.queue) > 0 {
				l.write(context.WithoutCancel(ctx), l.gathered(nil), active)
			}
			return nil
		case r := <-l.queue:
			l.write(context.WithoutCancel(ctx), l.gathered(&r), active)
		case <-tick.C:
			l.trim(ctx, active)
			clear(active)
		}
	}
}

// gathered are requests to be written together: first, and those that come within a moment; without a first those that
// are there.
func (l *Log) gathered(first *api.Seen) (list []store.Request) {
	wait := time.Duration(0)
	if first != nil {
		list, wait = append(list, row(first)), gather
	}
	late := time.NewTimer(wait)
	defer late.Stop()
	for len(list) < batch {
		select {
		case r := <-l.queue:
			list = append(list, row(&r))
		case <-late.C:
			return list
		}
	}
	return list
}

func (l *Log) write(ctx context.Context, list []store.Request, active map[string]struct{}) {
	if len(list) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := l.store.Write(ctx, list); err != nil {
		l.dropped.Add(uint64(len(list)))
		l.log.Warn("requests are missing in the log of accounts", "requests", len(list), "err", err)
		return
	}
	for i := range list {
		active[list[i].Account] = struct{}{}
	}
}

func (l *Log) trim(ctx context.Context, active map[string]struct{}) {
	ctx, cancel := context.WithTimeout(ctx, trimEvery)
	defer cancel()
	if err := l.store.Trim(ctx, slices.Sorted(maps.Keys(active))); err != nil && ctx.Err() == nil {
		l.log.Warn("old requests stay in the log of accounts", "err", err)
	}
}

// row is a request as it is stored, without private values.
func row(r *api.Seen) store.Request {
	out := store.Request{ID: r.ID, Account: r.Principal.Account, At: r.At.UTC(), Key: r.Principal.Key, Method: r.Method, Route: r.Route, Target: target(r.Path, r.Query),
		Status: r.Status, Code: api.Some(r.Code), TookMS: r.Took.Milliseconds(), BytesIn: r.In, BytesOut: r.Out, Client: api.Some(r.Client), BodyCut: r.Cut}
	if t := r.Principal.Ticket; t != nil {
		out.Ticket = api.Some(t.ID)
	}
	if len(r.Body) > 0 {
		body, whole := redact(r.Body)
		out.Body, out.BodyCut = api.Some(body), r.Cut || !whole
	}
	return out
}
