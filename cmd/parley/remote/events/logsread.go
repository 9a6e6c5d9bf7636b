package events

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"parley/api/client"
	"parley/api/wire"
)

const (
	// logsBack is how far back each question goes: a request is in the server's log once it is over, and mostKnown known ones in a row end it.
	logsBack  = 2 * time.Minute
	mostKnown = 100
	// mostCalls bounds the calls that are looked at each time.
	mostCalls = 1000
)

// latest are the latest entries, the oldest first: as many as are wanted, or more.
func (l *logs) latest() (list []entry, err error) {
	most := max(l.limit, 1)
	if l.requests {
		for r, err := range l.FollowRequests(l.Ctx, l.requestQuery()) {
			if err != nil {
				return nil, err
			}
			if !l.fits(&r) {
				continue
			}
			if list = append(list, requestEntry(r)); len(list) == most {
				break
			}
		}
	}
	if l.calls {
		calls, err := l.callsOf(l.Ctx, client.CallQuery{Agent: l.agent}, most)
		if err != nil {
			return nil, err
		}
		for _, c := range calls {
			list = append(list, l.happened(c)...)
		}
	}
	sortEntries(list)
	return list, nil
}

// news are the entries that are not known yet, and known from then on. With an error none is.
func (l *logs) news(ctx context.Context) (fresh []entry, err error) {
	from := time.Now()
	if !l.newest.IsZero() && l.newest.Before(from) { // this machine's clock may be fast
		from = l.newest
	}
	from = from.Add(-logsBack)
	back := from.UTC().Format(time.RFC3339)
	if l.requests {
		if fresh, err = l.newRequests(ctx, back); err != nil {
			return nil, err
		}
	}
	if l.calls {
		changed, err := l.changedCalls(ctx, back)
		if err != nil {
			return nil, err
		}
		fresh = append(fresh, changed...)
	}
	l.forget(from)
	l.know(fresh)
	sortEntries(fresh)
	return fresh, nil
}

func (l *logs) newRequests(ctx context.Context, back string) (fresh []entry, err error) {
	query, known := l.requestQuery(), 0
	query.From = back
	for r, err := range l.FollowRequests(ctx, query) {
		if err != nil {
			return nil, err
		}
		if _, is := l.seen[r.ID]; is {
			if known++; known == mostKnown {
				break
			}
			continue
		}
		if known = 0; l.fits(&r) {
			fresh = append(fresh, requestEntry(r))
		}
	}
	return fresh, nil
}

// changedCalls are what has happened to calls: to those that last, those that began a moment ago, and those that lasted.
func (l *logs) changedCalls(ctx context.Context, back string) (fresh []entry, err error) {
	all, err := l.callsOf(ctx, client.CallQuery{Agent: l.agent, State: "live"}, mostCalls)
	if err != nil {
		return nil, err
	}
	begun, err := l.callsOf(ctx, client.CallQuery{Agent: l.agent, From: back}, mostCalls)
	if err != nil {
		return nil, err
	}
	all = append(all, begun...)
	var gone []string
	for id, at := range l.live {
		if slices.ContainsFunc(all, func(c wire.CallSummary) bool { return c.ID == id }) {
			continue
		}
		ended, err := l.callsOf(ctx, client.CallQuery{Agent: l.agent, From: at.Format(time.RFC3339Nano), To: at.Add(time.Millisecond).Format(time.RFC3339Nano)}, mostCalls)
		if err != nil {
			return nil, err
		}
		all, gone = append(all, ended...), append(gone, id)
	}
	for _, id := range gone {
		delete(l.live, id) // it has ended, or is not there any more
	}
	found := map[string]bool{}
	for _, c := range all {
		for _, e := range l.happened(c) {
			if _, known := l.seen[e.key]; !known && !found[e.key] {
				found[e.key] = true
				fresh = append(fresh, e)
			}
		}
	}
	return fresh, nil
}

// callsOf are the calls that are picked, so many at most.
func (l *logs) callsOf(ctx context.Context, query client.CallQuery, most int) (list []wire.CallSummary, err error) {
	for c, err := range l.FollowCalls(ctx, query) {
		if err != nil {
			return nil, err
		}
		if list = append(list, c); len(list) == most {
			break
		}
	}
	return list, nil
}

// happened are the entries of a call so far.
func (l *logs) happened(c wire.CallSummary) []entry {
	if delete(l.live, c.ID); c.EndedAt == nil {
		l.live[c.ID] = c.CreatedAt
	}
	list := []entry{{At: c.CreatedAt, Type: "call", Event: "began", Call: &c, key: c.ID + " began"}}
	if c.AnsweredAt != nil {
		list = append(list, entry{At: *c.AnsweredAt, Type: "call", Event: "answered", Call: &c, key: c.ID + " answered"})
	}
	if c.EndedAt != nil {
		list = append(list, entry{At: *c.EndedAt, Type: "call", Event: "ended", Call: &c, key: c.ID + " ended"})
	}
	return list
}

func requestEntry(r wire.RequestSummary) entry {
	return entry{At: r.At, Type: "request", Request: &r, key: r.ID}
}

// requestQuery picks what the server can pick.
func (l *logs) requestQuery() client.RequestQuery {
	outcome := map[string]string{"": "", "4": "refused", "5": "failed"}
	class := l.status[:min(len(l.status), 1)]
	if _, is := outcome[class]; !is {
		outcome[class] = "done"
	}
	return client.RequestQuery{Method: l.method, Outcome: outcome[class]}
}

// fits says whether a request has the status that is wanted.
func (l *logs) fits(r *wire.RequestSummary) bool {
	class, whole := strings.CutSuffix(l.status, "xx")
	status := fmt.Sprint(r.Status)
	return l.status == "" || status == l.status || whole && strings.HasPrefix(status, class)
}

func (l *logs) know(list []entry) {
	for _, e := range list {
		l.seen[e.key] = e.At
		if e.At.After(l.newest) {
			l.newest = e.At
		}
	}
}

// forget drops what is known of before a time, but of calls that last: no question goes back so far.
func (l *logs) forget(before time.Time) {
	for key, at := range l.seen {
		id, _, _ := strings.Cut(key, " ")
		if _, lasts := l.live[id]; at.Before(before.Add(-time.Second)) && !lasts {
			delete(l.seen, key)
		}
	}
}

// sortEntries puts the oldest first; of one moment, requests before calls, and those in the order in which calls go.
func sortEntries(list []entry) {
	slices.SortStableFunc(list, func(a, b entry) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(b.Type, a.Type))
	})
}
