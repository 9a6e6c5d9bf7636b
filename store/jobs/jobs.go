// Package jobs runs work that outlives the request that asked for it, and the
// process: it is queued in the transaction that decides about it, so that there is
// neither work without its cause nor a cause whose work is lost. Any node may run
// it, more than once if one dies; what a job does must bear that.
//
// It is River, with its tables in a schema of their own, on a small pool of
// connections of its own, for its housekeeping must not wait behind calls. Nodes
// learn of jobs by hints (store.Hints), which travel over the bus, and look every
// 10 s for what no hint has told, in one statement for all that the process waits
// for (store.Look): no connection is kept just to listen.
package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"

	"parley/store"
)

const (
	maxConns = 4 // fetching, completing, leading and one to spare
	// lookEvery is how long a job waits at most while a worker is free, when its hint is lost.
	lookEvery = 10 * time.Second
	// libraryEvery is how often the library looks by itself, a statement for each kind of jobs.
	libraryEvery = 10 * time.Minute
	// notHerePause is how long a job is left alone that this process may not do.
	notHerePause = 500 * time.Millisecond
	// rescueMargin is how much longer than its timeout a job may seem to run before
	// it is taken for dead.
	rescueMargin = time.Minute
	// stopPatience is for jobs to stop and for noting that they did.
	stopPatience = 10 * time.Second
	maxRetryWait = time.Minute
	// giveUpPatience is for noting that a job has failed for the last time.
	giveUpPatience = 10 * time.Second
	startRetry     = time.Second
	// keep is how long jobs that are done stay, for people who look.
	keep = time.Hour
)

// Args are what a job needs to know, as JSON. Kind names the kind of job, by two
// or more letters, digits and "_".
type Args interface{ Kind() string }

// ErrNotHere is what a job returns that this process may not do, such as one whose
// name a younger process has taken: it is left to others, and that is no attempt.
var ErrNotHere = errors.New("jobs: for another process to do")

// Limits are those of one kind of job.
type Limits struct {
	Workers int           // how many run at once on one node
	Timeout time.Duration // then its context ends, and it is tried again
	Local   bool          // no other node can do what this one has queued
}

// Queue queues jobs and runs them. Make it, add all kinds, open it, run it; then
// it may be used from several goroutines.
type Queue struct {
	// Now is the database's clock, by which jobs are due, tried again and taken for dead;
	// at first this machine's. It is set before Open.
	Now func() time.Time
	// Hints tell of jobs that are in line; at first they are the queue's own, which no other process hears. They
	// are set before Open.
	Hints *store.Hints

	log      *slog.Logger
	wakes    *wakes
	rounds   *rounds
	workers  *river.Workers
	queues   map[string]river.QueueConfig
	periodic []*river.PeriodicJob
	whenDue  []round
	longest  time.Duration
	others   []string // kinds that other nodes can do as well
	leaves   atomic.Bool
	pool     *pgxpool.Pool
	client   *river.Client[pgx.Tx]
}

// New returns a queue without any kinds.
func New(log *slog.Logger) *Queue {
	return &Queue{Now: time.Now, Hints: store.NewHints(), log: log, wakes: newWakes(lookEvery), rounds: newRounds(), workers: river.NewWorkers(), queues: map[string]river.QueueConfig{}}
}

// Handle has jobs of a kind run by f. When f fails the job is tried again, after
// seconds first and a minute at last, 25 times. When the node stops, the context
// of f ends; what f has not done then is done after the next start, or elsewhere.
func Handle[A Args](q *Queue, l Limits, f func(ctx context.Context, args A) error) {
	HandleOrGiveUp(q, l, f, nil)
}

// HandleOrGiveUp is Handle with giveUp, which is called after f has failed for the last time, or panicked; nil: nothing
// is done then. Its context lasts 10 seconds, also when that of f has ended. When giveUp fails the job is tried once more.
// The last of the 25 attempts is giveUp's: so one comes that calls it where each process died that called f.
func HandleOrGiveUp[A Args](q *Queue, l Limits, f, giveUp func(ctx context.Context, args A) error) {
	var a A
	q.queues[a.Kind()] = river.QueueConfig{MaxWorkers: l.Workers}
	if !l.Local {
		q.others = append(q.others, a.Kind())
	}
	q.longest = max(q.longest, l.Timeout+giveUpPatience)
	w := &worker[A]{q: q, limits: l, f: f, giveUp: giveUp}
	river.AddWorker(q.workers, w)
	q.rounds.does(a.Kind(), l.Workers > 1, w.round)
}

// Every has a job run each period by one of the nodes, without a place in the line: one that fails is not tried again
// before the next. When that is due before the last has ended, it is queued for other workers of its kind, or left out where
// there is one only. A node that leaves jobs to others queues all for them.
func Every(q *Queue, period time.Duration, args Args) {
	q.periodic = append(q.periodic, river.NewPeriodicJob(river.PeriodicInterval(period), func() (river.JobArgs, *river.InsertOpts) {
		if !q.leaves.Load() && !q.rounds.begin(args) {
			return nil, nil
		}
		time.AfterFunc(periodicWait, func() { q.Hints.Give(store.HintJob(args.Kind())) })
		return args, options(args)
	}, nil))
}

// WhenDue has a job run while due holds, a condition of SQL in which $1 is the time: each node asks for it every 10 s, in one
// statement with all others, and runs the job without a place in the line as Every does. What several nodes do at once each has to claim.
func WhenDue(q *Queue, due string, args Args) { q.whenDue = append(q.whenDue, round{due, args}) }

// options: each kind has a line of its own, so that none waits behind another.
func options(args Args) *river.InsertOpts { return &river.InsertOpts{Queue: args.Kind()} }

// connect opens the queue's pool.
func connect(ctx context.Context, url string) (*pgxpool.Pool, error) {
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("jobs: database URL: %w", err) // pgx blanks the password
	}
	if !strings.Contains(url, "pool_max_conns") {
		cfg.MaxConns = maxConns
	}
	if _, ok := cfg.ConnConfig.RuntimeParams["application_name"]; !ok {
		cfg.ConnConfig.RuntimeParams["application_name"] = "parley jobs"
	}
	store.LeaveStandby(cfg)
	cfg.AfterConnect = store.SetAfterwards(cfg)
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("jobs: %w", err)
	}
	return pool, nil
}

// Open connects to the database at url and brings the tables up to date. Close
// undoes it.
func (q *Queue) Open(ctx context.Context, url string) error {
	var err error
	if q.pool, err = connect(ctx, url); err != nil {
		return err
	}
	if err = migrate(ctx, q.pool, q.log); err == nil {
		for kind := range q.queues {
			q.Hints.On(store.HintJob(kind), func() { q.wakes.wake(kind) })
		}
		q.client, err = river.NewClient(driver{riverpgxv5.New(q.pool), q.wakes}, &river.Config{
			Logger: quiet(q.log), Schema: schema, FetchPollInterval: libraryEvery,
			Queues: q.queues, Workers: q.workers, PeriodicJobs: q.periodic, RetryPolicy: retries{q.Now},
			JobTimeout: q.longest, RescueStuckJobsAfter: q.longest + rescueMargin,
			CompletedJobRetentionPeriod: keep, CancelledJobRetentionPeriod: keep,
			Test: river.TestConfig{Time: clock{q.Now}}, // its one way to be given a clock
		})
	}
	if err != nil {
		q.pool.Close()
		return fmt.Errorf("jobs: %w", err)
	}
	return nil
}

// Close waits for connections in use and closes them; Run must have returned. It
// does nothing when the queue is not open.
func (q *Queue) Close() {
	if q.pool != nil {
		q.pool.Close()
	}
}

// Insert queues a job within tx, of whichever pool it is. Of one that store.DB.Tx has not begun no hint
// tells when it has committed: the job waits until it is looked for.
func (q *Queue) Insert(ctx context.Context, tx pgx.Tx, args Args) error {
	_, err := q.client.InsertTx(ctx, tx, args, options(args))
	if err == nil {
		store.AfterCommit(tx, func() { q.Hints.Give(store.HintJob(args.Kind())) })
	}
	return err
}

// Run runs jobs until ctx ends. Then it ends the contexts of those that run, waits
// for them, and leaves them to the next start.
func (q *Queue) Run(ctx context.Context) error {
	work := context.WithoutCancel(ctx) // it is stopped below, and not by this context
	q.rounds.open(ctx)
	if !q.start(ctx, work) {
		return nil
	}
	q.look(ctx)
	stop, cancel := context.WithTimeout(work, stopPatience)
	defer cancel()
	if err := errors.Join(q.client.StopAndCancel(stop), q.rounds.wait(stop)); err != nil {
		return fmt.Errorf("jobs: stop: %w", err)
	}
	for _, kind := range q.wakes.interrupted() { // by now their rows say that they are for others
		q.Hints.Give(store.HintJob(kind))
	}
	return nil
}

// LeaveToOthers has the queue begin no further jobs but those of kinds that are Local. What runs goes on. Call it once the queue
// is open.
func (q *Queue) LeaveToOthers() {
	q.leaves.Store(true)
	now, cancel := context.WithCancel(context.Background())
	cancel() // the library would wait for what runs
	for _, kind := range q.others {
		if err := q.client.Queues().Remove(now, kind); err != nil && !errors.Is(err, context.Canceled) {
			q.log.Warn("jobs of a kind are not left to others", "kind", kind, "err", err)
		}
	}
}

// start starts the library, which wants the database to be there at that moment,
// and says whether it did before ctx ended.
func (q *Queue) start(ctx, work context.Context) bool {
	for tries := 0; ; tries++ {
		err := q.client.Start(work)
		if err == nil {
			return true
		}
		if tries == 0 {
			q.log.Warn("jobs do not run yet", "err", err)
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(startRetry):
		}
	}
}

// worker fits a function to the library.
type worker[A Args] struct {
	river.WorkerDefaults[A]
	q      *Queue
	limits Limits
	f      func(context.Context, A) error
	giveUp func(context.Context, A) error // may be nil
}

// Timeout implements river.Worker.
func (w *worker[A]) Timeout(*river.Job[A]) time.Duration { return w.limits.Timeout }

var (
	errPanicked = errors.New("the job panicked")
	errDied     = errors.New("each process that did the job has died")
)

// Work implements river.Worker.
func (w *worker[A]) Work(ctx context.Context, job *river.Job[A]) error {
	last, err := job.MaxAttempts, errDied
	if w.giveUp != nil {
		last--
	}
	if w.giveUp == nil || job.Attempt <= last {
		err = w.guarded(ctx, job.Args, w.f)
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(ctx.Err(), context.Canceled):
		w.q.wakes.interrupt(job.Kind)
		return river.JobSnooze(0) // available again at once, and not an attempt
	case errors.Is(err, ErrNotHere):
		time.AfterFunc(notHerePause+dueWait, func() { w.q.Hints.Give(store.HintJob(job.Kind)) })
		return river.JobSnooze(notHerePause)
	case job.Attempt < last:
		w.q.log.Warn("a job failed and is tried again", "kind", job.Kind, "attempt", job.Attempt, "err", err)
		w.q.wakes.retry(job.Kind, retryWait(len(job.Errors)+1))
		return err // the library writes it into the job's row, where nobody looks
	}
	w.q.log.Error("a job failed for the last time", "kind", job.Kind, "attempt", job.Attempt, "err", err)
	if w.giveUp == nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveUpPatience)
	defer cancel()
	if fault := w.guarded(ctx, job.Args, w.giveUp); fault != nil {
		w.q.log.Warn("it cannot be noted that a job has failed, which is tried once more", "kind", job.Kind, "err", fault)
		w.q.wakes.retry(job.Kind, maxRetryWait)
		return river.JobSnooze(maxRetryWait)
	}
	return river.JobCancel(err) // an attempt is left
}

// guarded calls f, which may panic.
func (w *worker[A]) guarded(ctx context.Context, args A, f func(context.Context, A) error) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			// What was passed to panic may hold anything: only its type is written.
			w.q.log.Error("a job panicked", "kind", args.Kind(), "panic", fmt.Sprintf("%T", fault), "stack", string(debug.Stack()))
			err = errPanicked
		}
	}()
	return f(ctx, args)
}

// clock fits a clock to the library.
type clock struct{ now func() time.Time }

// Now implements rivertype.TimeGenerator.
func (c clock) Now() time.Time { return c.now() }

// NowOrNil implements rivertype.TimeGenerator. Without it jobs would be due by the clock of
// this machine.
func (c clock) NowOrNil() *time.Time {
	now := c.now()
	return &now
}

// retries wait longer each time.
type retries struct{ now func() time.Time }

// NextRetry implements river.ClientRetryPolicy.
func (r retries) NextRetry(job *rivertype.JobRow) time.Time {
	return r.now().Add(retryWait(len(job.Errors) + 1))
}

// retryWait is the wait after a number of failures: 2 s, 4 s, 8 s and so on.
func retryWait(failures int) time.Duration {
	return min(maxRetryWait, time.Second<<min(failures, 10))
}

// quiet passes the library's warnings on and none of its chatter.
func quiet(log *slog.Logger) *slog.Logger { return slog.New(louder{log.Handler()}) }

type louder struct{ slog.Handler }

func (h louder) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelWarn && h.Handler.Enabled(ctx, l)
}

func (h louder) WithAttrs(a []slog.Attr) slog.Handler { return louder{h.Handler.WithAttrs(a)} }
func (h louder) WithGroup(name string) slog.Handler   { return louder{h.Handler.WithGroup(name)} }
