package task

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"parley/api"
	"parley/api/tts"
	"parley/media/isolate"
	"parley/media/transcode"
	"parley/store"
	"parley/store/jobs"
	"parley/store/tasks"
)

const (
	// signEvery is how often a task's progress is stored, which is also the sign
	// that somebody works on it.
	signEvery = time.Second
	// tidyPatience bounds what is still to be stored after a stop.
	tidyPatience = 5 * time.Second
)

var errCancelled = errors.New("the task was cancelled")

// work is the job that speaks a task.
func (s *Service) work(ctx context.Context, args speakArgs) error {
	t, err := s.tasks.Claim(ctx, s.Node, args.Account, args.Task)
	if errors.Is(err, store.ErrNotFound) {
		return nil // cancelled, done, or in other hands
	}
	if errors.Is(err, store.ErrFenced) {
		return fmt.Errorf("%w: %w", jobs.ErrNotHere, err)
	}
	if err != nil {
		return err
	}
	run, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s.enter(t.ID, cancel)
	defer s.leave(t.ID)

	length, err := time.Duration(0), error(errCrashed)
	if t.Attempts <= maxAttempts {
		length, err = s.produce(run, t)
	}
	if cause := context.Cause(run); cause != nil && err != nil {
		err = cause
	}
	return s.settle(ctx, t, length, err)
}

var errCrashed = errors.New("the processes that worked on it died")

// settle stores the outcome of an attempt. It has time for that when ctx has ended.
func (s *Service) settle(ctx context.Context, t *tasks.Task, length time.Duration, err error) error {
	tidy, cancel := context.WithTimeout(context.WithoutCancel(ctx), tidyPatience)
	defer cancel()
	f, _ := formatNamed(t.Format)
	switch {
	case err == nil:
		err = s.tasks.Complete(tidy, t, length, resultLife)
		switch {
		case err == nil:
			s.Count(string(tasks.Completed))
		case errors.Is(err, store.ErrFenced):
			s.drop(tidy, key(t, f))
			err = nil
		default: // it may have completed all the same, and then needs its file
			err = errors.Join(err, s.tasks.Release(tidy, t, true))
		}
		return err
	case errors.Is(err, errCancelled), errors.Is(err, store.ErrFenced):
		return nil // it has gone, or others have it
	case errors.Is(ctx.Err(), context.Canceled):
		return errors.Join(ctx.Err(), s.tasks.Release(tidy, t, true))
	case t.Attempts < maxAttempts && !errors.Is(err, api.ErrLanguage):
		return errors.Join(fmt.Errorf("task %s, attempt %d: %w", t.ID, t.Attempts, err), s.tasks.Release(tidy, t, false))
	}
	s.Log.Warn("a task has failed", "task", t.ID, "err", err)
	p := api.ProblemOf(api.ErrSynthesis)
	if err = s.tasks.Fail(tidy, t, p.Code, p.Message); err == nil {
		s.Count(string(tasks.Failed))
	} else if errors.Is(err, store.ErrFenced) {
		err = nil
	}
	return err
}

func (s *Service) enter(task string, cancel context.CancelCauseFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running[task] = cancel
}

func (s *Service) leave(task string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.running, task)
}

// stop ends the work on a task if this node does it. Others notice by themselves.
func (s *Service) stop(task string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancel := s.running[task]; cancel != nil {
		cancel(errCancelled)
	}
}

// produce speaks a task into a file of this node, keeps that as its result and returns the length of the
// audio. No file is left behind an error.
func (s *Service) produce(ctx context.Context, t *tasks.Task) (length time.Duration, err error) {
	f, ok := formatNamed(t.Format)
	if !ok {
		return 0, fmt.Errorf("no format %q", t.Format)
	}
	if err := os.MkdirAll(s.Dir(), 0o700); err != nil {
		return 0, err
	}
	path := filepath.Join(s.Dir(), key(t, f)+partSuffix)
	file, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o600)
	if err != nil {
		return 0, err
	}
	defer s.remove(path)
	defer file.Close() // again, after an error; nothing is lost then

	var progress atomic.Int32
	length, err = s.signed(ctx, t, &progress, func(ctx context.Context) (time.Duration, error) {
		return s.speak(ctx, t, f, file, &progress)
	})
	if err != nil {
		return 0, err
	}
	if err := file.Sync(); err != nil {
		return 0, err
	}
	if err := file.Close(); err != nil {
		return 0, err
	}
	return length, s.Files.Put(ctx, key(t, f), path)
}

// signed runs f while it stores the progress every second, and ends its context
// when the task is not ours any more.
func (s *Service) signed(ctx context.Context, t *tasks.Task, progress *atomic.Int32, f func(context.Context) (time.Duration, error)) (time.Duration, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	var signing sync.WaitGroup
	defer signing.Wait()
	defer cancel(nil)
	signing.Go(func() { // not isolated: it only asks the store, by what calls ask it by, too
		_ = isolate.Every(ctx, signEvery, func() {
			// While the database is away the work goes on: the claim holds for a while.
			err := s.tasks.Touch(ctx, t, int(progress.Load()))
			if errors.Is(err, store.ErrFenced) {
				cancel(err)
			}
		})
	})
	length, err := f(ctx)
	if cause := context.Cause(ctx); cause != nil && err != nil {
		err = cause
	}
	return length, err
}

// speak writes the audio of a task. It holds a second or two of it at a time.
func (s *Service) speak(ctx context.Context, t *tasks.Task, f format, file *os.File, progress *atomic.Int32) (length time.Duration, err error) {
	out, err := transcode.Encode(ctx, file, f.kind, f.rate)
	if err != nil {
		return 0, err
	}
	defer func() {
		if fault := out.Close(); err == nil {
			err = fault
		}
	}()
	w := newRewriter(out, tts.Rate, f.rate)
	request := tts.Request{Text: t.Text, Voice: t.Voice, Language: t.Language, Speed: t.Speed, Steps: t.Steps}
	samples, began := 0, time.Now()
	for c, err := range s.Speaker.Speak(ctx, request) {
		if err != nil {
			return 0, err
		}
		if err := w.write(c.Samples); err != nil {
			return 0, err
		}
		samples += len(c.Samples)
		progress.Store(int32(min(99, int64(c.Chars)*100/t.Chars)))
		length = tts.Rate.Duration(samples).Duration()
		if err := wait(ctx, time.Until(began.Add(length/time.Duration(s.Pace)))); err != nil {
			return 0, err
		}
	}
	return length, w.flush()
}

// wait lets a time pass.
func wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
