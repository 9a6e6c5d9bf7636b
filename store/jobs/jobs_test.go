package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"parley/store"
	"parley/store/jobs"
	"parley/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// quiet is for tests of what fails on purpose.
var quiet = slog.New(slog.DiscardHandler)

type greet struct{ Name string }

func (greet) Kind() string { return "greet" }

type other struct{}

func (other) Kind() string { return "other" }

// fixture is a database and what is needed to queue jobs.
type fixture struct {
	t     *testing.T
	url   string
	pool  *pgxpool.Pool
	db    *store.DB    // jobs are queued here
	hints *store.Hints // of all queues, as the bus has it
}

func setup(t *testing.T) *fixture {
	t.Parallel() // most of their time is waiting
	return on(t, storetest.URL(t))
}

// on is a fixture on the database at url.
func on(t *testing.T, url string) *fixture {
	t.Helper()
	f := &fixture{t: t, url: url, db: storetest.Open(t, url), hints: store.NewHints()}
	pool, err := pgxpool.New(t.Context(), f.url)
	f.ok(err)
	t.Cleanup(pool.Close)
	f.pool = pool
	return f
}

// queue is a queue without any kinds.
func (f *fixture) queue() *jobs.Queue {
	q := jobs.New(quiet)
	q.Hints = f.hints
	return q
}

func (f *fixture) ok(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// open opens a queue whose jobs f runs.
func (f *fixture) open(work func(context.Context, greet) error) *jobs.Queue {
	f.t.Helper()
	q := f.queue()
	jobs.Handle(q, jobs.Limits{Workers: 2, Timeout: time.Minute}, work)
	f.ok(q.Open(f.t.Context(), f.url))
	f.t.Cleanup(q.Close)
	return q
}

// run runs a queue until stop is called, or the test ends.
func (f *fixture) run(q *jobs.Queue) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := q.Run(ctx); err != nil {
			f.t.Error(err)
		}
	})
	stop = func() { cancel(); running.Wait() }
	f.t.Cleanup(stop)
	return stop
}

func (f *fixture) insert(q *jobs.Queue, args jobs.Args, fate error) {
	f.t.Helper()
	err := f.db.Tx(f.t.Context(), "queue a job", func(tx pgx.Tx) error {
		f.ok(q.Insert(f.t.Context(), tx, args))
		return fate
	})
	if !errors.Is(err, fate) {
		f.t.Fatal(err)
	}
}

// A job runs when its transaction has committed, and only then.
func TestJobsShareTheFateOfTheirTransaction(t *testing.T) {
	f := setup(t)
	done := make(chan string, 10)
	q := f.open(func(_ context.Context, g greet) error { done <- g.Name; return nil })
	f.run(q)
	f.insert(q, greet{"nobody"}, errors.New("changed my mind"))
	f.insert(q, greet{"Ada"}, nil)
	if got := <-done; got != "Ada" {
		t.Errorf("greeted %q", got)
	}
}

// A job that failed, or panicked, is tried again.
func TestFailedJobsAreTriedAgain(t *testing.T) {
	f := setup(t)
	tries := make(chan string, 10)
	var n int
	q := f.queue()
	jobs.Handle(q, jobs.Limits{Workers: 1, Timeout: time.Minute}, func(_ context.Context, g greet) error {
		tries <- g.Name
		switch n++; n {
		case 1:
			return errors.New("not now")
		case 2:
			panic("sk_secret")
		}
		return nil
	})
	f.ok(q.Open(t.Context(), f.url))
	defer q.Close()
	stop := f.run(q)
	f.insert(q, greet{"Ada"}, nil)
	for range 3 {
		<-tries
	}
	stop()
}

// A job that failed for the last time is given up, be it that it panicked or that its time was over. Where that cannot be
// noted it is tried once more.
func TestJobsAreGivenUp(t *testing.T) {
	f := setup(t)
	began := time.Now()
	q := f.queue()
	q.Now = func() time.Time { return began.Add(100 * time.Since(began)) } // a minute passes at once
	panicked, late := make(chan string, 10), make(chan string, 10)
	n := 0
	jobs.HandleOrGiveUp(q, jobs.Limits{Workers: 1, Timeout: time.Minute}, func(context.Context, greet) error { panic("sk_secret") },
		func(ctx context.Context, g greet) error {
			panicked <- fmt.Sprint(g.Name, " ", ctx.Err())
			if n++; n == 1 {
				return errors.New("not now")
			}
			return nil
		})
	jobs.HandleOrGiveUp(q, jobs.Limits{Workers: 1, Timeout: time.Millisecond}, func(ctx context.Context, _ other) error { <-ctx.Done(); return ctx.Err() },
		func(ctx context.Context, _ other) error {
			late <- fmt.Sprint(ctx.Err())
			return nil
		})
	f.ok(q.Open(t.Context(), f.url))
	t.Cleanup(q.Close)
	f.insert(q, greet{"Ada"}, nil)
	f.insert(q, other{}, nil)
	_, err := f.pool.Exec(t.Context(), "update river.river_job set max_attempts = 2")
	f.ok(err)
	stop := f.run(q)
	if got := <-late; got != "<nil>" {
		t.Errorf("of what was late: %s", got)
	}
	for range 2 {
		if got := <-panicked; got != "Ada <nil>" {
			t.Errorf("given up: %s", got)
		}
	}
	stop()
	if len(late)+len(panicked) > 0 {
		t.Error("a job is given up again")
	}
}

// A job whose process died each time is given up, and not done again.
func TestJobsThatEndTheirProcess(t *testing.T) {
	f := setup(t)
	gaveUp := make(chan string, 10)
	q := f.queue()
	jobs.HandleOrGiveUp(q, jobs.Limits{Workers: 1, Timeout: time.Second}, func(context.Context, greet) error {
		t.Error("it is done once more")
		return nil
	}, func(_ context.Context, g greet) error {
		gaveUp <- g.Name
		return nil
	})
	f.ok(q.Open(t.Context(), f.url))
	t.Cleanup(q.Close)
	f.insert(q, greet{"Ada"}, nil)
	_, err := f.pool.Exec(t.Context(), "update river.river_job set state = 'running', attempt = max_attempts - 1, attempted_at = now() - interval '1 day', attempted_by = '{gone}'")
	f.ok(err)
	stop := f.run(q)
	select {
	case got := <-gaveUp:
		if got != "Ada" {
			t.Errorf("given up: %s", got)
		}
	case <-time.After(time.Minute):
		t.Error("it is not given up")
	}
	stop()
}

// Jobs are due and tried again by the database's clock, however wrong that of the machine.
func TestJobsAreDueByTheDatabasesClock(t *testing.T) {
	t.Parallel()
	f := on(t, storetest.Shifted(t, -40*24*time.Hour))
	tries, n := make(chan int, 10), 0
	q := f.queue()
	q.Now = storetest.Open(t, f.url).Now
	jobs.Handle(q, jobs.Limits{Workers: 1, Timeout: time.Minute}, func(context.Context, greet) error {
		if n++; n == 1 {
			tries <- n
			return errors.New("not now")
		}
		tries <- n
		return nil
	})
	f.ok(q.Open(t.Context(), f.url))
	t.Cleanup(q.Close)
	f.run(q)
	f.insert(q, greet{"Ada"}, nil)
	for range 2 {
		select {
		case <-tries:
		case <-time.After(time.Minute):
			t.Fatal("it is not tried again")
		}
	}
}

// A job that another process must do is there for it at once, however often this
// one takes it: waits that grow would keep it away for minutes.
func TestJobsForOthersAreLeftToThem(t *testing.T) {
	f := setup(t)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second) // with waits that grow it would be two minutes
	defer cancel()
	taken := make(chan struct{}, 100)
	f.run(f.open(func(context.Context, greet) error {
		taken <- struct{}{}
		return fmt.Errorf("fenced: %w", jobs.ErrNotHere)
	}))
	q := f.open(func(context.Context, greet) error { return nil })
	f.insert(q, greet{"Ada"}, nil)
	for range 6 {
		select {
		case <-taken:
		case <-ctx.Done():
			t.Fatal("it is kept away")
		}
	}
}

// At a stop a running job is told so, and is there for the next start at once.
func TestAStopLeavesJobsToTheNextStart(t *testing.T) {
	f := setup(t)
	started, again := make(chan struct{}), make(chan struct{})
	q := f.open(func(ctx context.Context, _ greet) error {
		close(started)
		<-ctx.Done()
		return ctx.Err()
	})
	stop := f.run(q)
	f.insert(q, greet{"Ada"}, nil)
	<-started
	stop()
	f.run(f.open(func(context.Context, greet) error { close(again); return nil }))
	<-again
}

// told is a log that says when something was written to it.
type told chan struct{}

func (c told) Write(p []byte) (int, error) {
	select {
	case c <- struct{}{}:
	default:
	}
	return len(p), nil
}

// A database that is away just when the queue starts is waited for.
func TestTheStartWaitsForTheDatabase(t *testing.T) {
	f := setup(t)
	address, err := url.Parse(f.url)
	f.ok(err)
	name := strings.TrimPrefix(address.Path, "/")
	address.Path = "/postgres"
	conn, err := pgx.Connect(t.Context(), address.String())
	f.ok(err)
	defer conn.Close(context.Background())
	warned, done := make(told, 1), make(chan struct{})
	q := jobs.New(slog.New(slog.NewTextHandler(warned, nil)))
	jobs.Handle(q, jobs.Limits{Workers: 1, Timeout: time.Minute}, func(context.Context, greet) error { close(done); return nil })
	f.ok(q.Open(t.Context(), f.url))
	t.Cleanup(q.Close)
	f.insert(q, greet{"Ada"}, nil)
	do := func(sql string) {
		t.Helper()
		_, err := conn.Exec(t.Context(), sql)
		f.ok(err)
	}
	do("alter database " + name + " allow_connections false")
	do("select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = '" + name + "'")
	f.run(q)
	<-warned
	do("alter database " + name + " allow_connections true")
	<-done
}

// Kinds do not wait for each other, and each has as many workers as it may.
func TestWorkersAreBounded(t *testing.T) {
	f := setup(t)
	q := f.queue()
	started, through := make(chan struct{}, 10), make(chan struct{})
	jobs.Handle(q, jobs.Limits{Workers: 2, Timeout: time.Minute}, func(ctx context.Context, _ greet) error {
		started <- struct{}{}
		select {
		case <-through:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	passed := make(chan int, 10)
	jobs.Handle(q, jobs.Limits{Workers: 1, Timeout: time.Minute}, func(context.Context, other) error {
		passed <- len(started)
		return nil
	})
	jobs.Every(q, 2*time.Second, other{})
	f.ok(q.Open(t.Context(), f.url))
	defer q.Close()
	stop := f.run(q)
	for range 4 {
		f.insert(q, greet{}, nil)
	}
	for n := 0; n < 2; n = <-passed { // queued by the clock
	}
	if n := <-passed; n != 2 {
		t.Errorf("%d of a kind at once", n)
	}
	close(through)
	for range 4 {
		<-started
	}
	stop()
}

// Servers that start together do not get into each other's way.
func TestServersStartTogether(t *testing.T) {
	f := setup(t)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			q := jobs.New(quiet)
			jobs.Handle(q, jobs.Limits{Workers: 1, Timeout: time.Minute}, func(context.Context, greet) error { return nil })
			if err := q.Open(t.Context(), f.url); err != nil {
				t.Error(err)
				return
			}
			q.Close()
		})
	}
	all.Wait()
	var public int
	f.ok(f.pool.QueryRow(t.Context(), "select count(*) from pg_tables where schemaname = 'public' and tablename like 'river%'").Scan(&public))
	if public != 0 {
		t.Errorf("%d tables among ours", public)
	}
}
