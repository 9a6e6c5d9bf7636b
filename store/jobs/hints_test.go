package jobs_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/store/jobs"
)

// never is a period that no test waits for.
const never = time.Hour

// TestHintsReachTheLibrary: jobs run although nobody looks for them: those of this process, those that are tried again, and
// what the clock queues.
func TestHintsReachTheLibrary(t *testing.T) {
	f := setup(t)
	done := make(chan string, 100)
	q := f.queue()
	first := true
	jobs.Handle(q, jobs.Limits{Workers: 1, Timeout: time.Minute}, func(_ context.Context, g greet) error {
		if g.Name == "again" && first {
			first = false
			return errors.New("not now")
		}
		done <- g.Name
		return nil
	})
	jobs.Handle(q, jobs.Limits{Workers: 1, Timeout: time.Minute}, func(context.Context, other) error {
		done <- "by the clock"
		return nil
	})
	jobs.Every(q, 3*time.Second, other{})
	f.ok(q.Open(t.Context(), f.url))
	t.Cleanup(q.Close)
	q.LookEvery(never)
	f.run(q)
	f.within(done, "by the clock") // it runs, and what the start looked for is over
	for _, name := range []string{"Ada", "Bob", "again"} {
		f.insert(q, greet{name}, nil)
		f.within(done, name)
	}
	f.within(done, "by the clock")
}

// within waits for a job, and passes over others.
func (f *fixture) within(done <-chan string, want string) {
	f.t.Helper()
	for patience := time.After(time.Minute); ; {
		select {
		case got := <-done:
			if got == want {
				return
			}
		case <-patience:
			f.t.Fatalf("within a minute nobody has done %q", want)
		}
	}
}

// TestNodesHearOfEachOthersJobs: a job runs elsewhere at once where the process that queues it may not run it, or stops.
func TestNodesHearOfEachOthersJobs(t *testing.T) {
	f := setup(t)
	started, done := make(chan string, 10), make(chan string, 10)
	one := f.open(func(ctx context.Context, g greet) error {
		if g.Name == "not here" {
			return jobs.ErrNotHere
		}
		started <- g.Name
		<-ctx.Done()
		return ctx.Err()
	})
	one.LookEvery(never)
	stop := f.run(one)
	f.insert(one, greet{"first"}, nil)
	f.insert(one, greet{"second"}, nil)
	f.within(started, "second") // both of its workers have something to do
	two := f.open(func(_ context.Context, g greet) error { done <- g.Name; return nil })
	two.LookEvery(never)
	f.run(two)
	f.insert(one, greet{"third"}, nil)
	f.within(done, "third")
	f.untold(one, greet{"fourth"})
	f.within(done, "fourth") // once more after the hint, and now nobody looks by himself
	stop()
	for range 2 {
		if got := <-done; got != "first" && got != "second" {
			t.Errorf("%q is done elsewhere", got)
		}
	}
}

// TestLostHints only delay: jobs that nobody tells of are looked for.
func TestLostHints(t *testing.T) {
	f := setup(t)
	done := make(chan string, 10)
	q := f.open(func(_ context.Context, g greet) error { done <- g.Name; return nil })
	q.LookEvery(100 * time.Millisecond)
	f.run(q)
	f.insert(q, greet{"told"}, nil)
	f.within(done, "told")
	for _, name := range []string{"found once more after the hint", "perhaps", "untold", "untold, too"} {
		f.untold(q, greet{name})
		f.within(done, name)
	}
}

// untold queues a job of which no hint tells.
func (f *fixture) untold(q *jobs.Queue, args jobs.Args) {
	f.t.Helper()
	f.ok(pgx.BeginFunc(f.t.Context(), f.pool, func(tx pgx.Tx) error { return q.Insert(f.t.Context(), tx, args) }))
}

// TestRoundsDoNotWaitForSlowOnes: what the clock asks for begins while the last still runs where a kind has several workers, and
// else when it has ended; none panics alone.
func TestRoundsDoNotWaitForSlowOnes(t *testing.T) {
	f := setup(t)
	q := f.queue()
	several, alone := make(chan struct{}, 100), make(chan struct{}, 100)
	var ones atomic.Int32
	jobs.Handle(q, jobs.Limits{Workers: 2, Timeout: never}, func(ctx context.Context, _ other) error {
		several <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	})
	jobs.Handle(q, jobs.Limits{Workers: 1, Timeout: time.Minute}, func(ctx context.Context, _ here) error {
		if n := ones.Add(1); n > 1 {
			t.Errorf("%d of a kind at once", n)
		}
		defer ones.Add(-1)
		alone <- struct{}{}
		select {
		case <-ctx.Done():
		case <-time.After(1500 * time.Millisecond): // longer than its period
		}
		panic("sk_secret")
	})
	jobs.Every(q, time.Second, other{})
	jobs.Every(q, time.Second, here{})
	f.ok(q.Open(t.Context(), f.url))
	t.Cleanup(q.Close)
	q.LookEvery(never)
	stop := f.run(q)
	for range 3 { // one by the clock, and two workers
		<-several
	}
	for range 3 {
		<-alone
	}
	stop()
}

// TestADrainingNodeLeavesRoundsToOthers, though it has the lead.
func TestADrainingNodeLeavesRoundsToOthers(t *testing.T) {
	f := setup(t)
	done := make(chan string, 100)
	open := func(name string) *jobs.Queue {
		q := f.queue()
		jobs.Handle(q, jobs.Limits{Workers: 1, Timeout: time.Minute}, func(context.Context, other) error { done <- name; return nil })
		jobs.Every(q, time.Second, other{})
		f.ok(q.Open(t.Context(), f.url))
		t.Cleanup(q.Close)
		q.LookEvery(never)
		f.run(q)
		return q
	}
	one := open("one")
	f.within(done, "one") // it leads
	open("two")
	one.LeaveToOthers()
	f.within(done, "two")
	f.within(done, "two")
}

// TestRoundsBeginWhenDue: what is due is found by looking, once for each time that it is; a node that leaves work to others begins none.
func TestRoundsBeginWhenDue(t *testing.T) {
	f := setup(t)
	_, err := f.pool.Exec(t.Context(), "create table due (at timestamptz)")
	f.ok(err)
	add := func(at time.Time) {
		t.Helper()
		_, err := f.pool.Exec(t.Context(), "insert into due values ($1)", at)
		f.ok(err)
	}
	done, looked := make(chan string, 1000), make(chan string, 1000)
	open := func(name string) *jobs.Queue {
		q := f.queue()
		jobs.Handle(q, jobs.Limits{Workers: 1, Timeout: time.Minute}, func(ctx context.Context, _ other) error {
			tag, err := f.pool.Exec(ctx, "delete from due where at <= now()")
			if err == nil && tag.RowsAffected() > 0 {
				done <- name
			}
			return err
		})
		jobs.Handle(q, jobs.Limits{Workers: 1, Timeout: time.Minute}, func(context.Context, here) error { looked <- name; return nil })
		jobs.WhenDue(q, "exists (select from due where at <= $1)", other{})
		jobs.WhenDue(q, "true", here{})
		f.ok(q.Open(t.Context(), f.url))
		t.Cleanup(q.Close)
		q.LookEvery(50 * time.Millisecond)
		f.run(q)
		return q
	}
	add(time.Now().Add(never))
	one := open("one")
	for range 3 {
		f.within(looked, "one")
	}
	if n := len(done); n != 0 {
		t.Errorf("%d rounds before anything was due", n)
	}
	add(time.Now().Add(-time.Second))
	f.within(done, "one")
	one.LeaveToOthers()
	add(time.Now().Add(-time.Second))
	open("two")
	if got := <-done; got != "two" {
		t.Errorf("a node that leaves work to others has done it: %s", got)
	}
}

// TestMoreRoundsThanOne: while one lasts, and it is still due, other workers of its kind begin, as many as there may be.
func TestMoreRoundsThanOne(t *testing.T) {
	f := setup(t)
	q := f.queue()
	several, alone := make(chan struct{}, 100), make(chan struct{}, 100)
	jobs.Handle(q, jobs.Limits{Workers: 2, Timeout: never}, func(ctx context.Context, _ other) error {
		several <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	})
	jobs.Handle(q, jobs.Limits{Workers: 1, Timeout: never}, func(ctx context.Context, _ here) error {
		alone <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	})
	jobs.WhenDue(q, "true", other{})
	jobs.WhenDue(q, "true", here{})
	f.ok(q.Open(t.Context(), f.url))
	t.Cleanup(q.Close)
	q.LookEvery(100 * time.Millisecond)
	stop := f.run(q)
	for range 3 { // one by the look, and two workers
		<-several
	}
	<-alone
	stop()
	if len(several) != 0 || len(alone) != 0 {
		t.Errorf("%d and %d more", len(several), len(alone))
	}
}
