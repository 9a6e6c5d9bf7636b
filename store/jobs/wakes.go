package jobs

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"parley/store"
)

const (
	// dueWait is how long after the moment at which a job is due it is looked for: by then its row says so.
	dueWait = 50 * time.Millisecond
	// againWait is when a kind is looked at once more after a hint: nodes know the database's clock to some
	// milliseconds, and by theirs the job may not have been due.
	againWait = 500 * time.Millisecond
	// periodicWait is for the library to queue a periodic job that it has made.
	periodicWait = 200 * time.Millisecond
	// schedulerEvery is how often the library makes jobs due that wait for longer than that.
	schedulerEvery = 5 * time.Second
	// maxWakes wait to be heard, more than there are kinds. Any further one is dropped, and the next look finds its jobs.
	maxWakes = 256
)

// wakes have the library look for jobs of a kind.
type wakes struct {
	every time.Duration // between looks for what nobody has told of
	kinds chan string

	mu    sync.Mutex
	again map[string]bool // kinds that will be looked at once more
	left  []string        // kinds of jobs that were interrupted
}

func newWakes(every time.Duration) *wakes {
	return &wakes{every: every, kinds: make(chan string, maxWakes), again: map[string]bool{}}
}

// wake has a kind looked at now, and once more a little later.
func (w *wakes) wake(kind string) {
	w.once(kind)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.again[kind] {
		return
	}
	w.again[kind] = true
	time.AfterFunc(againWait, func() {
		w.mu.Lock()
		delete(w.again, kind)
		w.mu.Unlock()
		w.once(kind)
	})
}

func (w *wakes) once(kind string) {
	select {
	case w.kinds <- kind:
	default:
	}
}

// later has a kind looked at after a wait.
func (w *wakes) later(kind string, wait time.Duration) {
	time.AfterFunc(wait, func() { w.wake(kind) })
}

// retry has a kind looked at when one of its jobs, which has failed, is due again.
func (w *wakes) retry(kind string, wait time.Duration) {
	w.later(kind, wait+dueWait)
	if wait > schedulerEvery {
		w.later(kind, wait+schedulerEvery+dueWait)
	}
}

// interrupt notes that a job of a kind has been left to others.
func (w *wakes) interrupt(kind string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.Contains(w.left, kind) {
		w.left = append(w.left, kind)
	}
}

// interrupted are the kinds of which jobs have been left to others.
func (w *wakes) interrupted() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.left
}

// look looks in one statement for all kinds, and for all else that the process waits for, until ctx ends.
func (q *Queue) look(ctx context.Context) {
	var more []Args // rounds for which there are more workers
	looks := []store.Look{q.waiting()}
	for _, r := range q.whenDue {
		looks = append(looks, store.When(r.due, func() {
			if !q.leaves.Load() && q.rounds.begin(r.args) { // other nodes look themselves
				more = append(more, r.args)
			}
		}))
	}
	tick := time.NewTicker(q.wakes.every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		err := q.Hints.Ask(ctx, q.pool, q.Now(), looks...)
		for i := 0; i < len(more) && err == nil; i++ {
			if _, err = q.client.Insert(ctx, more[i], options(more[i])); err == nil {
				q.Hints.Give(store.HintJob(more[i].Kind()))
			}
		}
		more = more[:0]
		if err != nil && ctx.Err() == nil {
			q.log.Debug("jobs were not looked for", "err", err)
		}
	}
}

// waiting asks for the kinds of which jobs are due, and wakes those.
func (q *Queue) waiting() store.Look {
	kinds := slices.Sorted(maps.Keys(q.queues))
	return store.Look{
		Expression: `select string_agg(k, ' ') from unnest('{` + strings.Join(kinds, ",") + `}'::text[]) k
			where exists (select from ` + schema + `.river_job j where j.state = 'available' and j.queue = k and j.scheduled_at <= $1)`,
		Heard: func(due string) {
			for kind := range strings.FieldsSeq(due) {
				q.wakes.once(kind)
			}
		},
	}
}
