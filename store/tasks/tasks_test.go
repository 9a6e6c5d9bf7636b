package tasks_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/billing"
	"parley/store"
	"parley/store/ledger"
	"parley/store/ledger/ledgertest"
	"parley/store/tasks"
)

// line is a queue that only remembers.
type line []string

func (l *line) enqueue(_ context.Context, _ pgx.Tx, _, task string) error {
	*l = append(*l, task)
	return nil
}

func costOf(t *testing.T, chars int) billing.Money {
	return ledgertest.Price(t, ledgertest.TTS, billing.Usage{billing.TTSChars: int64(chars)})
}

// The price is held from the submission on and becomes a charge with the result.
func TestATaskIsChargedWhenItCompletes(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(0)
	var queue line
	task, err := f.Tasks.Submit(f.Context(), f.Submission(acc, 1000), queue.enqueue)
	f.OK(err)
	if !slices.Equal(queue, line{task.ID}) || task.Text != "" {
		t.Errorf("queued %v, %+v", queue, task)
	}
	f.Want(acc, billing.Pots{Bonus: 5 * usd, Held: costOf(t, 1000)})
	if f.Show(acc).Live != 0 {
		t.Error("it counts as a session")
	}
	f.Verified()
	c := f.Claim(task, f.Node, t0)
	if c.Status != tasks.Processing || len(c.Text) != 1000 || c.Speed != 1.05 {
		t.Errorf("claimed %+v", c)
	}
	for _, p := range []int{10, 40, 30} {
		f.OK(f.Tasks.Touch(f.Context(), c, p))
	}
	if got, _ := f.Tasks.Task(f.Context(), acc, task.ID); got.Progress != 40 {
		t.Errorf("progress %d", got.Progress)
	}
	for range 2 {
		f.OK(f.Tasks.Complete(f.At(t0.Add(time.Minute)), c, 90*time.Second, 24*time.Hour-time.Minute))
		f.Want(acc, billing.Pots{Bonus: 5*usd - costOf(t, 1000)})
		f.Verified()
	}
	got, err := f.Tasks.Task(f.Context(), acc, task.ID)
	f.OK(err)
	if got.Status != tasks.Completed || got.Progress != 100 || got.Duration != 90*time.Second || !got.ExpiresAt.Equal(t0.Add(24*time.Hour)) {
		t.Errorf("completed %+v", got)
	}
	f.Is(f.Tasks.Cancel(f.Context(), acc, task.ID), store.ErrTaskEnded)
	_, err = f.Tasks.Claim(f.Context(), f.Node, acc, task.ID)
	f.Is(err, store.ErrNotFound)
	if n, err := f.Tasks.Forget(f.Context(), t0.Add(2*time.Minute)); n != 1 || err != nil {
		t.Errorf("forgot %d, %v", n, err)
	}
	f.Verified()
}

func TestATaskThatFailsOrIsCancelledIsFree(t *testing.T) {
	f := setup(t)
	acc, other := f.NewAccount(0), f.NewAccount(0)
	failing := f.Claim(f.Submit(acc, 500), f.Node, t0)
	waiting, running := f.Submit(acc, 600), f.Claim(f.Submit(acc, 700), f.Node, t0)
	f.Is(f.Tasks.Cancel(f.Context(), other, waiting.ID), store.ErrNotFound)
	_, err := f.Tasks.Task(f.Context(), other, waiting.ID)
	f.Is(err, store.ErrNotFound)
	for range 2 {
		f.OK(f.Tasks.Fail(f.Context(), failing, "tts.synthesis_failed", "It could not be spoken."))
	}
	f.Want(acc, billing.Pots{Bonus: 5 * usd, Held: costOf(t, 600) + costOf(t, 700)})
	for _, task := range []*tasks.Task{waiting, running} {
		f.OK(f.Tasks.Cancel(f.Context(), acc, task.ID))
		f.Is(f.Tasks.Cancel(f.Context(), acc, task.ID), store.ErrNotFound)
		f.Verified()
	}
	f.Is(f.Tasks.Touch(f.Context(), running, 50), store.ErrFenced)
	f.Is(f.Tasks.Complete(f.Context(), running, time.Second, 0), store.ErrFenced)
	f.Is(f.Tasks.Cancel(f.Context(), acc, failing.ID), store.ErrTaskEnded)
	f.Want(acc, billing.Pots{Bonus: 5 * usd})
	got, err := f.Tasks.Task(f.Context(), acc, failing.ID)
	f.OK(err)
	if got.Status != tasks.Failed || got.ErrorCode != "tts.synthesis_failed" {
		t.Errorf("failed: %+v", got)
	}
	f.Verified()
}

// Tasks are refused as other work is, but for a limit of their own.
func TestTasksAreRefused(t *testing.T) {
	f := setup(t)
	try := func(acc string, want error) {
		t.Helper()
		_, err := f.Tasks.Submit(f.Context(), f.Submission(acc, 1000), ledgertest.Nowhere)
		f.Is(err, want)
		f.Verified()
	}
	acc := f.NewAccount(0)
	for range 3 { // all the sessions it may have
		f.Start(acc, ledgertest.Web)
	}
	for range tasks.MaxTasks {
		f.Submit(acc, 1000)
	}
	try(acc, store.ErrTasks)
	f.OK(f.OpenDispute(f.Context(), acc, "p"))
	try(acc, store.ErrDisputed)
	suspended := true
	f.OK(f.ChangeAccount(f.Context(), acc, ledger.AccountChange{Suspended: &suspended}))
	try(acc, store.ErrSuspended)

	poor := f.NewAccount(0)
	f.Adjust(poor, 24*billing.Cent)
	try(poor, store.ErrInsufficientBalance)
	f.Adjust(poor, 26*billing.Cent) // and what is held may go to the overdraft's floor
	f.Submit(poor, 100_000)
	_, err := f.Tasks.Submit(f.Context(), f.Submission(poor, 100_000), ledgertest.Nowhere)
	f.Is(err, store.ErrInsufficientBalance)
	_, err = f.Tasks.Submit(f.Context(), f.Submission("acc_none", 10), ledgertest.Nowhere)
	f.Is(err, store.ErrNotFound)
	lost := errors.New("the queue is away")
	_, err = f.Tasks.Submit(f.Context(), f.Submission(f.NewAccount(0), 10), func(context.Context, pgx.Tx, string, string) error { return lost })
	f.Is(err, lost)
	f.Verified()
}

func TestFiveTasksAtOnceAndNoMore(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(10 * usd)
	var taken, refused atomic.Int32
	ledgertest.Together(40, func(int) {
		switch _, err := f.Tasks.Submit(f.Context(), f.Submission(acc, 10), ledgertest.Nowhere); {
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
	f.Verified()
}

// A node that dies leaves its tasks to its next life, or to others.
func TestTasksOutliveTheirNode(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(0)
	other := f.Register("node-b")
	task := f.Submit(acc, 1000)
	first := f.Claim(task, f.Node, t0)
	_, err := f.Tasks.Claim(f.Context(), other, acc, task.ID)
	f.Is(err, store.ErrNotFound)
	requeued := func(now time.Time, want ...string) {
		t.Helper()
		var queue line
		if n, err := f.Tasks.Requeue(f.At(now), queue.enqueue); err != nil || n != len(want) || !slices.Equal(queue, want) {
			t.Errorf("requeued %v, %v; want %v", queue, err, want)
		}
	}
	requeued(t0.Add(tasks.Lease))

	young := f.Register(f.Node.ID) // a new life: its sessions are closed, its tasks are not
	f.Want(acc, billing.Pots{Bonus: 5 * usd, Held: costOf(t, 1000)})
	f.Verified()
	requeued(t0.Add(time.Second), task.ID)
	requeued(t0.Add(2 * time.Second))
	f.Is(f.Tasks.Touch(f.Context(), first, 90), store.ErrFenced)
	_, err = f.Tasks.Claim(f.Context(), f.Node, acc, task.ID)
	f.Is(err, store.ErrFenced) // the old life gets nothing
	second := f.Claim(task, young, t0.Add(time.Minute))
	f.Is(f.Tasks.Complete(f.Context(), first, time.Second, time.Hour), store.ErrFenced)
	f.Is(f.Tasks.Fail(f.Context(), first, "x", "x"), store.ErrFenced)
	f.OK(f.Tasks.Release(f.Context(), first, true))

	f.OK(f.Tasks.Touch(f.At(t0.Add(2*time.Minute)), second, 20)) // and then silence
	ledgertest.Silence(t, f.DB, young.ID, store.NodeLease+time.Second)
	ledgertest.Steady(t, f.DB, other.ID, store.NodeLease)
	if n := f.Reaped(other); n != 0 { // it is a task's, which goes on elsewhere
		t.Errorf("reaped %d", n)
	}
	requeued(t0.Add(2*time.Minute+tasks.Lease+time.Second), task.ID)
	third := f.Claim(task, other, t0.Add(4*time.Minute))
	if third.Attempts != 3 || third.Progress != 20 {
		t.Errorf("third claim %+v", third)
	}
	f.OK(f.Tasks.Release(f.At(t0.Add(4*time.Minute)), third, true))
	requeued(t0.Add(30 * time.Minute))
	requeued(t0.Add(2*time.Hour), task.ID) // whoever queued it, it was lost
	fourth := f.Claim(task, other, t0.Add(2*time.Hour))
	if fourth.Attempts != 3 || fourth.Claim != 4 {
		t.Errorf("fourth claim %+v", fourth)
	}
	f.OK(f.Tasks.Complete(f.At(t0.Add(2*time.Hour)), fourth, time.Second, time.Hour))
	f.Want(acc, billing.Pots{Bonus: 5*usd - costOf(t, 1000)})
	f.Verified()
}

// Whatever happens at once, a task ends once.
func TestCancelRacesWithCompletion(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(10 * usd)
	charged := billing.Money(0)
	for range 12 {
		c := f.Claim(f.Submit(acc, 1000), f.Node, t0)
		var completed, cancelled atomic.Int32
		ledgertest.Together(9, func(i int) {
			var err error
			switch i % 3 {
			case 0:
				if err = f.Tasks.Complete(f.Context(), c, time.Second, time.Hour); err == nil {
					completed.Store(1)
				}
			case 1:
				if err = f.Tasks.Cancel(f.Context(), acc, c.ID); err == nil {
					cancelled.Add(1)
				}
			case 2:
				err = f.Tasks.Touch(f.Context(), c, 50)
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
	if p := f.Show(acc).Pots; p.Held != 0 || p.Paid+p.Bonus != 15*usd-charged {
		t.Errorf("%+v after charges of %s", p, charged)
	}
	f.Verified()
}
