package isolate_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/media/isolate"
)

// TestGo: a goroutine that waits for one that panicked learns why before it learns that it
// has ended, and the log holds the place and not the words.
func TestGo(t *testing.T) {
	var log bytes.Buffer
	isolate.Log(slog.New(slog.NewTextHandler(&log, nil)))
	before := isolate.Panics()["media/isolate/test"]
	told := make(chan string, 4)
	isolate.Go("media/isolate/test", func(err error) {
		if !errors.Is(err, isolate.Internal) {
			t.Error(err)
		}
		told <- "failed"
	}, func() { panic("the caller's secret") }, func() { told <- "first" }, func() { told <- "second" })
	for _, want := range []string{"failed", "first", "second"} {
		if got := <-told; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if n := isolate.Panics()["media/isolate/test"] - before; n != 1 {
		t.Errorf("%d panics are counted, want 1", n)
	}
	if text := log.String(); strings.Count(text, "\n") != 1 || strings.Contains(text, "secret") || !strings.Contains(text, "isolate_test.go") {
		t.Errorf("the log is\n%s", text)
	}
}

// TestDo: what is called afterwards is called after a panic of one of them, too, also a
// panic in failed.
func TestDo(t *testing.T) {
	before := isolate.Panics()["media/isolate/test"]
	var calls []string
	isolate.Do("media/isolate/test", func(error) { panic(3) }, func() { calls[0] = "none" },
		func() { panic(2) }, func() { calls = append(calls, "last") })
	if len(calls) != 1 {
		t.Error(calls)
	}
	if n := isolate.Panics()["media/isolate/test"] - before; n != 4 {
		t.Errorf("%d panics are counted, want 4", n)
	}
	isolate.Do("media/isolate/test", nil, func() { panic("no observer") })
}

// TestEvery: each period has one call, the first of them too, until the context ends.
func TestEvery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 3500*time.Millisecond)
		defer cancel()
		var at []time.Duration
		if err := isolate.Every(ctx, time.Second, func() { at = append(at, time.Since(begun)) }); err != nil {
			t.Error(err)
		}
		if !slices.Equal(at, []time.Duration{time.Second, 2 * time.Second, 3 * time.Second}) || time.Since(begun) != 3500*time.Millisecond {
			t.Errorf("called after %v, and ended after %v", at, time.Since(begun))
		}
	})
}
