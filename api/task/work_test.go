package task

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/api"
	"parley/api/tts"
	"parley/billing"
	"parley/inference"
	"parley/store/jobs"
	"parley/store/tasks"
)

// bench is a service whose queue does not run: the test does its jobs.
type bench struct {
	*harness
	*Service
	counts map[string]int
}

func (h *harness) bench(speaker Speaker) *bench {
	h.T.Helper()
	life, _, err := h.Ledger.RegisterNode(h.T.Context(), "node", "")
	h.OK(err)
	dir := h.T.TempDir()
	b := &bench{harness: h, counts: map[string]int{}}
	b.Service = New(Config{Store: h.DB, Queue: jobs.New(slog.New(slog.DiscardHandler)), Node: life, Card: billing.DefaultRateCard,
		Speaker: speaker, Dir: func() string { return dir }, Files: h.files(dir), Count: func(status string) { b.counts[status]++ },
		Log: slog.New(slog.DiscardHandler), Pace: 1_000_000_000})
	return b
}

func (b *bench) take(text, format string) speakArgs {
	b.T.Helper()
	t, err := tasks.New(b.Store).Submit(b.T.Context(), tasks.Submission{Node: b.Node, Account: b.A.Account, Card: billing.DefaultRateCard(), Chars: int64(len(text)),
		Script: tasks.Script{Text: text, Voice: "F1", Language: "en", Format: format, Speed: 1, Steps: 6}},
		func(context.Context, pgx.Tx, string, string) error { return nil })
	b.OK(err)
	return speakArgs{b.A.Account, t.ID}
}

func (b *bench) read(a speakArgs) *tasks.Task {
	b.T.Helper()
	t, err := tasks.New(b.Store).Task(b.T.Context(), a.Account, a.Task)
	b.OK(err)
	return t
}

func (b *bench) files() int {
	b.T.Helper()
	entries, err := os.ReadDir(b.Dir())
	b.OK(err)
	return len(entries)
}

func TestFailures(t *testing.T) {
	t.Parallel()
	down := &inference.Error{Engine: "fake", Fault: inference.ErrFailed}
	dumb := &inference.Error{Engine: "fake", Fault: inference.ErrLanguage}
	for _, tt := range []struct {
		name  string
		err   error
		after int // chunks
		tries int
	}{{"at once", down, 0, 3}, {"midway", down, 1, 3}, {"for good", dumb, 0, 1}} {
		t.Run(tt.name, func(t *testing.T) {
			h := setup(t)
			engine := quick()
			engine.Limit, engine.Err = tt.after, tt.err
			b := h.bench(tts.New(engine))
			a := b.take(threeSentences, "wav")
			for try := 1; try <= tt.tries; try++ {
				if got := b.read(a); got.EndedAt != nil {
					t.Fatalf("ended after %d tries", try-1)
				}
				if err := b.work(t.Context(), a); (err == nil) != (try == tt.tries) {
					t.Errorf("try %d: %v", try, err)
				}
			}
			got := b.read(a)
			if got.Status != tasks.Failed || got.ErrorCode != "tts.synthesis_failed" || got.ErrorMessage == "" || got.Progress == 100 {
				t.Errorf("%+v", got)
			}
			if held, left := h.money(); held != 0 || left != 5*usd || b.files() != 0 || b.counts["failed"] != 1 {
				t.Errorf("%s held, %s left, %d files, %v", held, left, b.files(), b.counts)
			}
			b.OK(b.work(t.Context(), a)) // late: nothing to do
			if v := answer(got).Body; v.Error == nil || v.Error.Code != "tts.synthesis_failed" || v.CompletedAt != nil || v.ExpiresAt != nil {
				t.Errorf("%+v", v)
			}
			if _, _, err := b.result(t.Context(), got, time.Now()); !errors.Is(err, api.ErrNotReady) {
				t.Errorf("its result: %v", err)
			}
		})
	}
}

// Processes that die over a task do not do so for ever.
func TestATaskThatKillsIsGivenUp(t *testing.T) {
	t.Parallel()
	h := setup(t)
	b := h.bench(tts.New(quick()))
	a := b.take("One.", "wav")
	for range maxAttempts {
		life, _, err := h.Ledger.RegisterNode(t.Context(), "node", "")
		h.OK(err)
		b.Node = life
		_, err = tasks.New(h.DB).Claim(t.Context(), life, a.Account, a.Task)
		h.OK(err)
	}
	life, _, err := h.Ledger.RegisterNode(t.Context(), "node", "")
	h.OK(err)
	b.Node = life
	b.OK(b.work(t.Context(), a))
	if got := b.read(a); got.Status != tasks.Failed {
		t.Errorf("%+v", got)
	}
}

func TestResultsExpire(t *testing.T) {
	t.Parallel()
	h := setup(t)
	b := h.bench(tts.New(quick()))
	a := b.take("One.", "pcm")
	b.OK(b.work(t.Context(), a))
	got := b.read(a)
	for _, tt := range []struct {
		after time.Duration
		want  error
	}{{resultLife - time.Millisecond, nil}, {resultLife, api.ErrExpired}} {
		file, _, err := b.result(t.Context(), got, got.EndedAt.Add(tt.after))
		if !errors.Is(err, tt.want) {
			t.Errorf("after %v: %v", tt.after, err)
		}
		if err == nil {
			file.Close()
		}
	}
	h.OK(os.WriteFile(filepath.Join(b.Dir(), "old"+partSuffix), nil, 0o600))
	for _, tt := range []struct {
		after time.Duration
		want  int
	}{{timeout, 2}, {timeout + 2*sweepEvery, 1}, {resultLife, 1}, {resultLife + 2*sweepEvery, 0}} {
		b.removeParts(time.Now().Add(tt.after))
		b.removeExpired(t.Context(), time.Now().Add(tt.after))
		if n := b.files(); n != tt.want {
			t.Errorf("%d files after %v, want %d", n, tt.after, tt.want)
		}
	}
	if _, _, err := b.result(t.Context(), got, time.Now()); !errors.Is(err, api.ErrExpired) {
		t.Errorf("without its file: %v", err)
	}
}

// river of speech: a speaker that never holds more than a second of it.
type flood struct {
	*tts.Service
	seconds int
	each    func(second int)
}

func (f flood) Speak(_ context.Context, r tts.Request) iter.Seq2[tts.Chunk, error] {
	return func(yield func(tts.Chunk, error) bool) {
		for i := range f.seconds {
			f.each(i)
			if !yield(tts.Chunk{Samples: make([]int16, tts.Rate), Chars: len(r.Text) * (i + 1) / f.seconds}, nil) {
				return
			}
		}
	}
}

// However long a text is, its audio goes to the disk and not into memory.
func TestMemoryIsBounded(t *testing.T) {
	h := setup(t)
	live := func() int64 { // garbage, of other tests too, is none of it
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before, most := live(), int64(0)
	b := h.bench(flood{tts.New(quick()), 40 * 60, func(second int) { // 212 MB of audio
		if second%100 == 0 {
			most = max(most, live()-before)
		}
	}})
	a := b.take(strings.Repeat("a", 100_000), "wav")
	b.OK(b.work(t.Context(), a))
	got := b.read(a)
	f, _ := formatNamed("wav")
	info, err := b.Files.Stat(t.Context(), key(got, f))
	h.OK(err)
	if got.Duration != 40*time.Minute || info.Size != 40*60*88200+44 {
		t.Errorf("%v, %d bytes", got.Duration, info.Size)
	}
	t.Logf("%d kB more than before at most", most>>10)
	if most > 32<<20 {
		t.Errorf("%d MB more than before", most>>20)
	}
}

// Progress is stored while a task is being spoken, and never falls.
func TestProgress(t *testing.T) {
	t.Parallel()
	h := setup(t)
	var b *bench
	var a speakArgs
	var seen atomic.Int32
	b = h.bench(flood{tts.New(quick()), 4, func(second int) {
		if second == 2 { // half of it is spoken: wait for the next sign
			for b.read(a).Progress == 0 {
				time.Sleep(10 * time.Millisecond)
			}
			seen.Store(int32(b.read(a).Progress))
		}
	}})
	a = b.take(strings.Repeat("a", 1000), "ulaw")
	b.OK(b.work(t.Context(), a))
	if got := seen.Load(); got != 50 {
		t.Errorf("progress %d midway", got)
	}
	if got := b.read(a); got.Progress != 100 {
		t.Errorf("progress %d at the end", got.Progress)
	}
}
