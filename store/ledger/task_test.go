package ledger_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/billing"
	"parley/store"
	"parley/store/ledger"
	"parley/store/tasks"
)

// line is a queue that only remembers.
type line []string

func (l *line) enqueue(_ context.Context, _ pgx.Tx, _, task string) error {
	*l = append(*l, task)
	return nil
}

func nowhere(context.Context, pgx.Tx, string, string) error { return nil }

func (f *fixture) submission(account string, chars int) tasks.Submission {
	return tasks.Submission{Node: f.node, Account: account, Card: card, Chars: int64(chars),
		Script: tasks.Script{Text: strings.Repeat("a", chars), Voice: "F1", Language: "en", Format: "wav", Speed: 1.05, Steps: 6}}
}

func (f *fixture) submit(account string, chars int) *tasks.Task {
	f.t.Helper()
	t, err := f.Tasks.Submit(f.ctx(), f.submission(account, chars), nowhere)
	f.ok(err)
	return t
}

func (f *fixture) claim(t *tasks.Task, n store.Node, now time.Time) *tasks.Task {
	f.t.Helper()
	c, err := f.Tasks.Claim(f.at(now), n, t.Account, t.ID)
	f.ok(err)
	return c
}

func (f *fixture) is(err, want error) {
	f.t.Helper()
	if !errors.Is(err, want) {
		f.t.Errorf("%v; want %v", err, want)
	}
}

func costOf(t *testing.T, chars int) billing.Money {
	return price(t, tts, billing.Usage{billing.TTSChars: int64(chars)})
}

// The price is held from the submission on and becomes a charge with the result.
func TestATaskIsChargedWhenItCompletes(t *testing.T) {
	f := setup(t)
	acc := f.account(0)
	var queue line
	task, err := f.Tasks.Submit(f.ctx(), f.submission(acc, 1000), queue.enqueue)
	f.ok(err)
	if !slices.Equal(queue, line{task.ID}) || task.Text != "" {
		t.Errorf("queued %v, %+v", queue, task)
	}
	f.want(acc, billing.Pots{Bonus: 5 * usd, Held: costOf(t, 1000)})
	if f.show(acc).Live != 0 {
		t.Error("it counts as a session")
	}
	f.verified()
	c := f.claim(task, f.node, t0)
	if c.Status != tasks.Processing || len(c.Text) != 1000 || c.Speed != 1.05 {
		t.Errorf("claimed %+v", c)
	}
	for _, p := range []int{10, 40, 30} {
		f.ok(f.Tasks.Touch(f.ctx(), c, p))
	}
	if got, _ := f.Tasks.Task(f.ctx(), acc, task.ID); got.Progress != 40 {
		t.Errorf("progress %d", got.Progress)
	}
	for range 2 {
		f.ok(f.Tasks.Complete(f.at(t0.Add(time.Minute)), c, 90*time.Second, 24*time.Hour-time.Minute))
		f.want(acc, billing.Pots{Bonus: 5*usd - costOf(t, 1000)})
		f.verified()
	}
	got, err := f.Tasks.Task(f.ctx(), acc, task.ID)
	f.ok(err)
	if got.Status != tasks.Completed || got.Progress != 100 || got.Duration != 90*time.Second || !got.ExpiresAt.Equal(t0.Add(24*time.Hour)) {
		t.Errorf("completed %+v", got)
	}
	f.is(f.Tasks.Cancel(f.ctx(), acc, task.ID), store.ErrTaskEnded)
	_, err = f.Tasks.Claim(f.ctx(), f.node, acc, task.ID)
	f.is(err, store.ErrNotFound)
	if n, err := f.Tasks.Forget(f.ctx(), t0.Add(2*time.Minute)); n != 1 || err != nil {
		t.Errorf("forgot %d, %v", n, err)
	}
	f.verified()
}

func TestATaskThatFailsOrIsCancelledIsFree(t *testing.T) {
	f := setup(t)
	acc, other := f.account(0), f.account(0)
	failing := f.claim(f.submit(acc, 500), f.node, t0)
	waiting, running := f.submit(acc, 600), f.claim(f.submit(acc, 700), f.node, t0)
	f.is(f.Tasks.Cancel(f.ctx(), other, waiting.ID), store.ErrNotFound)
	_, err := f.Tasks.Task(f.ctx(), other, waiting.ID)
	f.is(err, store.ErrNotFound)
	for range 2 {
		f.ok(f.Tasks.Fail(f.ctx(), failing, "tts.synthesis_failed", "It could not be spoken."))
	}
	f.want(acc, billing.Pots{Bonus: 5 * usd, Held: costOf(t, 600) + costOf(t, 700)})
	for _, task := range []*tasks.Task{waiting, running} {
		f.ok(f.Tasks.Cancel(f.ctx(), acc, task.ID))
		f.is(f.Tasks.Cancel(f.ctx(), acc, task.ID), store.ErrNotFound)
		f.verified()
	}
	f.is(f.Tasks.Touch(f.ctx(), running, 50), store.ErrFenced)
	f.is(f.Tasks.Complete(f.ctx(), running, time.Second, 0), store.ErrFenced)
	f.is(f.Tasks.Cancel(f.ctx(), acc, failing.ID), store.ErrTaskEnded)
	f.want(acc, billing.Pots{Bonus: 5 * usd})
	got, err := f.Tasks.Task(f.ctx(), acc, failing.ID)
	f.ok(err)
	if got.Status != tasks.Failed || got.ErrorCode != "tts.synthesis_failed" {
		t.Errorf("failed: %+v", got)
	}
	f.verified()
}

// Tasks are refused as other work is, but for a limit of their own.
func TestTasksAreRefused(t *testing.T) {
	f := setup(t)
	try := func(acc string, want error) {
		t.Helper()
		_, err := f.Tasks.Submit(f.ctx(), f.submission(acc, 1000), nowhere)
		f.is(err, want)
		f.verified()
	}
	acc := f.account(0)
	for range 3 { // all the sessions it may have
		f.start(acc, web)
	}
	for range tasks.MaxTasks {
		f.submit(acc, 1000)
	}
	try(acc, store.ErrTasks)
	f.ok(f.OpenDispute(f.ctx(), acc, "p"))
	try(acc, store.ErrDisputed)
	suspended := true
	f.ok(f.ChangeAccount(f.ctx(), acc, ledger.AccountChange{Suspended: &suspended}))
	try(acc, store.ErrSuspended)

	poor := f.account(0)
	f.adjust(poor, 24*billing.Cent)
	try(poor, store.ErrInsufficientBalance)
	f.adjust(poor, 26*billing.Cent) // and what is held may go to the overdraft's floor
	f.submit(poor, 100_000)
	_, err := f.Tasks.Submit(f.ctx(), f.submission(poor, 100_000), nowhere)
	f.is(err, store.ErrInsufficientBalance)
	_, err = f.Tasks.Submit(f.ctx(), f.submission("acc_none", 10), nowhere)
	f.is(err, store.ErrNotFound)
	lost := errors.New("the queue is away")
	_, err = f.Tasks.Submit(f.ctx(), f.submission(f.account(0), 10), func(context.Context, pgx.Tx, string, string) error { return lost })
	f.is(err, lost)
	f.verified()
}

func TestFiveTasksAtOnceAndNoMore(t *testing.T) {
	f := setup(t)
	acc := f.account(10 * usd)
	var taken, refused atomic.Int32
	together(40, func(int) {
		switch _, err := f.Tasks.Submit(f.ctx(), f.submission(acc, 10), nowhere); {
		case err == nil:
			taken.Add(1)
		case errors.Is(err, store.ErrTasks):
			refused.Add(1)
		default:
			t.Error(err)
		}
	})
	if taken.Load() != tasks.MaxTasks || refused.Load() != 40-tasks.MaxTasks {
		t.Errorf("%d taken, %d refused", taken.Load(), refused.Load())
	}
	f.verified()
}

// A node that dies leaves its tasks to its next life, or to others.
func TestTasksOutliveTheirNode(t *testing.T) {
	f := setup(t)
	acc := f.account(0)
	other := f.register("node-b")
	task := f.submit(acc, 1000)
	first := f.claim(task, f.node, t0)
	_, err := f.Tasks.Claim(f.ctx(), other, acc, task.ID)
	f.is(err, store.ErrNotFound)
	requeued := func(now time.Time, want ...string) {
		t.Helper()
		var queue line
		if n, err := f.Tasks.Requeue(f.at(now), queue.enqueue); err != nil || n != len(want) || !slices.Equal(queue, want) {
			t.Errorf("requeued %v, %v; want %v", queue, err, want)
		}
	}
	requeued(t0.Add(tasks.Lease))

	young := f.register(f.node.ID) // a new life: its sessions are closed, its tasks are not
	f.want(acc, billing.Pots{Bonus: 5 * usd, Held: costOf(t, 1000)})
	f.verified()
	requeued(t0.Add(time.Second), task.ID)
	requeued(t0.Add(2 * time.Second))
	f.is(f.Tasks.Touch(f.ctx(), first, 90), store.ErrFenced)
	_, err = f.Tasks.Claim(f.ctx(), f.node, acc, task.ID)
	f.is(err, store.ErrFenced) // the old life gets nothing
	second := f.claim(task, young, t0.Add(time.Minute))
	f.is(f.Tasks.Complete(f.ctx(), first, time.Second, time.Hour), store.ErrFenced)
	f.is(f.Tasks.Fail(f.ctx(), first, "x", "x"), store.ErrFenced)
	f.ok(f.Tasks.Release(f.ctx(), first, true))

	f.ok(f.Tasks.Touch(f.at(t0.Add(2*time.Minute)), second, 20)) // and then silence
	ledger.Silence(t, f.DB, young.ID, store.NodeLease+time.Second)
	ledger.Steady(t, f.DB, other.ID, store.NodeLease)
	if n := f.reaped(other); n != 0 { // it is a task's, which goes on elsewhere
		t.Errorf("reaped %d", n)
	}
	requeued(t0.Add(2*time.Minute+tasks.Lease+time.Second), task.ID)
	third := f.claim(task, other, t0.Add(4*time.Minute))
	if third.Attempts != 3 || third.Progress != 20 {
		t.Errorf("third claim %+v", third)
	}
	f.ok(f.Tasks.Release(f.at(t0.Add(4*time.Minute)), third, true))
	requeued(t0.Add(30 * time.Minute))
	requeued(t0.Add(2*time.Hour), task.ID) // whoever queued it, it was lost
	fourth := f.claim(task, other, t0.Add(2*time.Hour))
	if fourth.Attempts != 3 || fourth.Claim != 4 {
		t.Errorf("fourth claim %+v", fourth)
	}
	f.ok(f.Tasks.Complete(f.at(t0.Add(2*time.Hour)), fourth, time.Second, time.Hour))
	f.want(acc, billing.Pots{Bonus: 5*usd - costOf(t, 1000)})
	f.verified()
}

// Whatever happens at once, a task ends once.
func TestCancelRacesWithCompletion(t *testing.T) {
	f := setup(t)
	acc := f.account(10 * usd)
	charged := billing.Money(0)
	for range 12 {
		c := f.claim(f.submit(acc, 1000), f.node, t0)
		var completed, cancelled atomic.Int32
		together(9, func(i int) {
			var err error
			switch i % 3 {
			case 0:
				if err = f.Tasks.Complete(f.ctx(), c, time.Second, time.Hour); err == nil {
					completed.Store(1)
				}
			case 1:
				if err = f.Tasks.Cancel(f.ctx(), acc, c.ID); err == nil {
					cancelled.Add(1)
				}
			case 2:
				err = f.Tasks.Touch(f.ctx(), c, 50)
			}
			if err != nil && !errors.Is(err, store.ErrFenced) && !errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrTaskEnded) {
				t.Error(err)
			}
		})
		if completed.Load()+cancelled.Load() != 1 {
			t.Errorf("completed %d, cancelled %d", completed.Load(), cancelled.Load())
		}
		charged += costOf(t, 1000) * billing.Money(completed.Load())
	}
	if p := f.show(acc).Pots; p.Held != 0 || p.Paid+p.Bonus != 15*usd-charged {
		t.Errorf("%+v after charges of %s", p, charged)
	}
	f.verified()
}
