// Package task speaks long texts in the background: a client submits one, asks how
// far it is, and fetches the audio, or cancels it.
//
// The task and its price are in the store, the work is queued as a job, and the
// result is a file of a store, which all nodes have, or the node that made it alone. A task
// survives every process that works on it and is charged once, when it completes:
// the worker holds a claim, and only the latest claim can complete it.
package task

import (
	"context"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/api/tts"
	"parley/billing"
	"parley/media/isolate"
	"parley/store"
	"parley/store/blob"
	"parley/store/jobs"
	"parley/store/tasks"
)

const (
	// workers is how many tasks a node works on at once. Two let a short one pass a
	// long one; more would take the voice from conversations.
	workers = 2
	// timeout is how long one attempt may take: the longest text is two hours of
	// speech, which an engine four times as fast as speech makes in time.
	timeout = 30 * time.Minute
	// maxAttempts counts those that failed and those whose process died.
	maxAttempts = 3
	// resultLife is how long a result can be fetched.
	resultLife = 24 * time.Hour
	// rowLife is how long a task is known after it ended, so that those who ask too
	// late get that.
	rowLife = 7 * 24 * time.Hour
	// sweepEvery is how often what the dead left, and what has expired, is looked for.
	sweepEvery = time.Minute
)

// Speaker is what the background needs of speech synthesis: a *tts.Service.
type Speaker interface {
	Check(tts.Ask, tts.Limits) (tts.Request, error)
	Speak(context.Context, tts.Request) iter.Seq2[tts.Chunk, error]
}

// Config is what a Service works with.
type Config struct {
	Store   *store.DB
	Queue   *jobs.Queue // not open yet
	Node    store.Node
	Card    func() *billing.RateCard // the one in force
	Speaker Speaker
	Dir     func() string // of this node alone, for what is being spoken; made when it is not there
	// Files keep results. Shared says that all nodes have the same Files.
	Files  blob.Store
	Shared bool
	// Count counts tasks by outcome: "submitted", "completed",
	// "failed", "canceled". Nil: they are not counted.
	Count func(status string)
	Log   *slog.Logger
	// Pace is how many times faster than speech a task may be spoken, so that
	// conversations on the same machine keep their processors. 0: 150.
	Pace int
}

const defaultPace = 150

// Service takes tasks on and works on them. It may be used from several
// goroutines.
type Service struct {
	Config
	tasks *tasks.Store

	mu      sync.Mutex
	running map[string]context.CancelCauseFunc // tasks this node works on
}

// speakArgs name the task to work on.
type speakArgs struct {
	Account string `json:"account"`
	Task    string `json:"task"`
}

// Kind implements jobs.Args.
func (speakArgs) Kind() string { return "tts_task" }

// sweepArgs ask for a look at what was left behind.
type sweepArgs struct{}

// Kind implements jobs.Args.
func (sweepArgs) Kind() string { return "tts_sweep" }

// New returns a service and adds its kinds of jobs to the queue.
func New(c Config) *Service {
	if c.Count == nil {
		c.Count = func(string) {}
	}
	if c.Pace == 0 {
		c.Pace = defaultPace
	}
	s := &Service{Config: c, tasks: tasks.New(c.Store), running: map[string]context.CancelCauseFunc{}}
	jobs.Handle(c.Queue, jobs.Limits{Workers: workers, Timeout: timeout}, s.work)
	jobs.Handle(c.Queue, jobs.Limits{Workers: 1, Timeout: timeout}, s.sweep)
	jobs.Every(c.Queue, sweepEvery, sweepArgs{})
	return s
}

func (s *Service) enqueue(ctx context.Context, tx pgx.Tx, account, task string) error {
	return s.Queue.Insert(ctx, tx, speakArgs{account, task})
}

// Run takes up what an earlier life of the node left behind, and removes expired
// results, until ctx ends. Tasks are worked on while the queue runs.
func (s *Service) Run(ctx context.Context) error {
	if err := s.requeue(ctx); err != nil {
		s.Log.Warn("tasks of an earlier life will be taken up later", "err", err)
	}
	round := func() {
		here := time.Now() // as the times of files are
		s.removeParts(here)
		if !s.Shared {
			s.removeExpired(ctx, here)
		}
	}
	round()
	return isolate.Every(ctx, sweepEvery, round)
}

// sweep is the job that looks after tasks of all nodes.
func (s *Service) sweep(ctx context.Context, _ sweepArgs) error {
	if err := s.requeue(ctx); err != nil {
		return err
	}
	if now := s.Store.Now(); s.Shared {
		s.removeExpired(ctx, now)
	}
	_, err := s.tasks.Forget(ctx, s.Store.Now().Add(-rowLife))
	return err
}

func (s *Service) requeue(ctx context.Context) error {
	n, err := s.tasks.Requeue(ctx, s.enqueue)
	if n > 0 {
		s.Log.Info("tasks that were left behind are taken up again", "tasks", n)
	}
	return err
}

// partSuffix marks results that are being written.
const partSuffix = ".part"

// key is the key of a task's result in the store. The claim is part of the name, so that one who
// lost it never touches what the next one wrote.
func key(t *tasks.Task, f format) string {
	return t.ID + "." + strconv.FormatInt(t.Claim, 10) + "." + f.extension
}

// removeExpired removes results that are older than resultLife allows. One that was written
// and never completed, because its process died in between, goes with them.
func (s *Service) removeExpired(ctx context.Context, now time.Time) {
	all, err := s.Files.List(ctx, store.TaskID)
	if err != nil {
		s.Log.Warn("expired results stay", "err", err)
	}
	for _, f := range all {
		if f.Modified.Before(now.Add(-resultLife - sweepEvery)) {
			s.drop(ctx, f.Key)
		}
	}
}

// drop removes a result.
func (s *Service) drop(ctx context.Context, key string) {
	if err := s.Files.Delete(ctx, key); err != nil {
		s.Log.Warn("a result stays", "err", err)
	}
}

// removeParts removes what nobody has written to for longer than an attempt lasts.
func (s *Service) removeParts(now time.Time) {
	entries, err := os.ReadDir(s.Dir())
	if err != nil && !os.IsNotExist(err) { // there was no task yet
		s.Log.Warn("unfinished results stay", "err", err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && strings.HasSuffix(e.Name(), partSuffix) && info.ModTime().Before(now.Add(-timeout-sweepEvery)) {
			s.remove(filepath.Join(s.Dir(), e.Name()))
		}
	}
}

func (s *Service) remove(path string) {
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		s.Log.Warn("an unfinished result stays", "err", err)
	}
}
