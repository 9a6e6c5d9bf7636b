package ledger_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/billing"
	"parley/store"
	"parley/store/history"
	"parley/store/ledger"
	"parley/store/ledger/ledgertest"
	"parley/store/private"
	"parley/store/storetest"
	"parley/store/tasks"
)

// crashRounds is how often the database is killed.
const crashRounds = 2

// The database's process is killed while sessions report. What was acknowledged is
// there afterwards, everything adds up, and callers were told that the database
// was away and nothing else.
func TestKilledDatabaseLosesNothing(t *testing.T) {
	if os.Getenv("PARLEY_TEST_DATABASE_URL") != "" {
		t.Skip("a server that is not ours is not killed")
	}
	url := durableCluster(t)
	db := storetest.Open(t, url)
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	f := prepare(t, db)
	for range crashRounds {
		killUnderLoad(f, url)
		f.Verified()
	}
}

// durableCluster starts a server that keeps its promises, unlike the one of the
// other tests.
func durableCluster(t testing.TB) string {
	dir, err := os.MkdirTemp("/tmp", "parley-crash-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	c, err := private.Start(t.Context(), private.Options{Dir: filepath.Join(dir, "pg"),
		Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Stop() })
	return c.URL()
}

func killUnderLoad(f *fixture, url string) {
	const workers, sessionsEach, beforeKill = 6, 3, 300
	postmaster := pidOf(f, url)
	var sessions []*ledger.Session
	for range workers {
		acc := f.NewAccount(100 * usd)
		for range sessionsEach {
			sessions = append(sessions, f.Start(acc, outboundES))
		}
	}
	acknowledged := make([]atomic.Int64, len(sessions)) // seq of the last
	var count atomic.Int64
	enough, down := make(chan struct{}), make(chan struct{})
	var onceEnough, onceDown sync.Once
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for seq := int64(1); ; seq++ {
				i := w*sessionsEach + int(seq)%sessionsEach
				_, err := f.Checkpoint(f.Context(), ledger.Checkpoint{Session: sessions[i], Seq: seq, StartedAt: t0, Usage: secondsOf(seq)})
				if err != nil {
					if !errors.Is(err, store.ErrUnavailable) {
						f.T.Errorf("a checkpoint while the database is away: %v", err)
					}
					onceDown.Do(func() { close(down) })
					return
				}
				acknowledged[i].Store(seq)
				if count.Add(1) == beforeKill {
					onceEnough.Do(func() { close(enough) })
				}
			}
		})
	}
	var done []*tasks.Task // completed, and acknowledged
	tasker := f.NewAccount(100 * usd)
	wg.Go(func() {
		for {
			c, err := f.oneTask(tasker)
			if err != nil {
				if !errors.Is(err, store.ErrUnavailable) {
					f.T.Errorf("a task while the database is away: %v", err)
				}
				return
			}
			done = append(done, c)
		}
	})
	<-enough
	f.OK(syscall.Kill(postmaster, syscall.SIGKILL))
	<-down
	wg.Wait()
	ctx, cancel := context.WithTimeout(f.Context(), time.Minute)
	defer cancel()
	for f.Ping(ctx) != nil || pidOf(f, url) == postmaster { // the cluster starts its server again by itself
		f.OK(ctx.Err())
	}
	for _, task := range done {
		if got, err := f.Tasks.Task(f.Context(), tasker, task.ID); err != nil || got.Status != tasks.Completed {
			f.T.Errorf("a completed task is %+v, %v", got, err)
		}
	}
	for i, s := range sessions {
		c, err := history.New(f.DB).Call(f.Context(), s.Account, s.ID)
		f.OK(err)
		if least := price(f.T, s.Terms, secondsOf(acknowledged[i].Load())); c.Cost < least {
			f.T.Errorf("session %d costs %s, acknowledged were %s", i, c.Cost, least)
		}
		f.CloseWith(s, billing.Usage{})
	}
}

// oneTask submits and completes a task.
func (f *fixture) oneTask(account string) (*tasks.Task, error) {
	t, err := f.Tasks.Submit(f.Context(), f.Submission(account, 100), ledgertest.Nowhere)
	if err != nil {
		return nil, err
	}
	c, err := f.Tasks.Claim(f.Context(), f.Node, account, t.ID)
	if err != nil {
		return nil, err
	}
	return c, f.Tasks.Complete(f.Context(), c, time.Second, time.Hour)
}

// secondsOf is the usage of a checkpoint: each reports a second more.
func secondsOf(seq int64) billing.Usage {
	return billing.Usage{billing.AgentTime: seq * 1000, billing.LineTime: seq * 1000}
}

// pidOf asks the server for its main process; 0 when it does not answer.
func pidOf(f *fixture, url string) int {
	conn, err := pgx.Connect(f.Context(), url)
	if err != nil {
		return 0
	}
	defer conn.Close(f.Context())
	var text string
	if conn.QueryRow(f.Context(), "select pg_read_file('postmaster.pid')").Scan(&text) != nil {
		return 0
	}
	pid, _ := strconv.Atoi(strings.SplitN(text, "\n", 2)[0])
	return pid
}

// Open of a database that is not there says so in the same words.
func TestNoDatabase(t *testing.T) {
	_, err := store.Open(t.Context(), "postgres://nobody:topsecret@/x?host="+t.TempDir()+"&sslmode=disable")
	if !errors.Is(err, store.ErrUnavailable) || strings.Contains(err.Error(), "topsecret") {
		t.Errorf("%v", err)
	}
}
