package recording

import (
	"parley/store/history"

	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"parley/api"
)

// unnamed makes a file for a copy.
func unnamed(t *testing.T) (*os.File, error) {
	f, err := os.CreateTemp(t.TempDir(), "")
	if err == nil {
		_, err = f.WriteString("RIFF")
	}
	return f, err
}

// TestCopiesAreShared: forty readers of one recording have it decoded once, and who comes
// back within minutes finds it.
func TestCopiesAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopies()
		var decoded atomic.Int32
		decode := func(context.Context) (*os.File, error) {
			decoded.Add(1)
			time.Sleep(time.Second)
			return unnamed(t)
		}
		var readers sync.WaitGroup
		for range 40 {
			readers.Go(func() {
				f, done, err := c.take(t.Context(), "a", "ses_1", decode)
				if err != nil {
					t.Error(err)
					return
				}
				time.Sleep(time.Minute) // a slow one
				if _, err := f.ReadAt(make([]byte, 4), 0); err != nil {
					t.Error(err)
				}
				done()
			})
		}
		readers.Wait()
		time.Sleep(copyKept - time.Second)
		again := func(want int32) {
			t.Helper()
			_, done, err := c.take(t.Context(), "a", "ses_1", decode)
			if err != nil || decoded.Load() != want {
				t.Errorf("decoded %d times, %v; want %d", decoded.Load(), err, want)
				return
			}
			done()
		}
		again(1)
		time.Sleep(copyKept + time.Second)
		again(2)
		c.drop("ses_1")
		again(3)
		c.drop("")
	})
}

// TestCopiesAreBounded: forty slow readers of as many recordings hold half the places of
// all, one is decoded at a time, and another account is not kept out.
func TestCopiesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCopies()
		var now, most, held, refused atomic.Int32
		decode := func(context.Context) (*os.File, error) {
			most.Store(max(most.Load(), now.Add(1)))
			defer now.Add(-1)
			time.Sleep(time.Second)
			return unnamed(t)
		}
		var readers sync.WaitGroup
		for i := range 40 {
			readers.Go(func() {
				_, done, err := c.take(t.Context(), "greedy", "ses_"+string(rune('A'+i)), decode)
				if err != nil {
					if !errors.Is(err, api.ErrBusy) {
						t.Error(err)
					}
					refused.Add(1)
					return
				}
				held.Add(1)
				time.Sleep(time.Hour)
				done()
			})
		}
		time.Sleep(time.Minute)
		if held.Load() != maxCopies/2 || refused.Load() != 40-maxCopies/2 || most.Load() != 1 {
			t.Errorf("%d are held, %d refused, %d decoded at once", held.Load(), refused.Load(), most.Load())
		}
		began := time.Now()
		if _, done, err := c.take(t.Context(), "other", "ses_other", decode); err != nil || time.Since(began) != time.Second {
			t.Errorf("another account: %v after %s", err, time.Since(began))
		} else {
			done()
		}
		readers.Wait()
		c.drop("")
	})
}

// TestCopiesForgetFailures: what failed is tried again by the next.
func TestCopiesForgetFailures(t *testing.T) {
	c, broken := newCopies(), errors.New("broken")
	if _, _, err := c.take(t.Context(), "a", "ses_1", func(context.Context) (*os.File, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Error(err)
	}
	for i := range 2 * maxCopies { // idle ones make room
		_, done, err := c.take(t.Context(), "a", "ses_"+string(rune('A'+i)), func(context.Context) (*os.File, error) { return unnamed(t) })
		if err != nil {
			t.Fatal(i, err)
		}
		done()
	}
	c.drop("")
	if len(c.made) != 0 {
		t.Errorf("%d copies are left", len(c.made))
	}
}

// TestHeadDecodesNothing: it tells what a GET would be, without the work.
func TestHeadDecodesNothing(t *testing.T) {
	h := setup(t)
	l := h.live("node")
	call := h.call()
	l.talk(call)()
	if r := l.until(call, history.RecordingReady); r.Format != "ogg" {
		t.Fatalf("%+v", r)
	}
	head := l.ask("HEAD", call, "?format=wav", "sk_a")
	if head.status != 200 || head.kind != "audio/wav" || !strings.Contains(head.header.Get("ETag"), ".wav") || len(l.copies.made) != 0 {
		t.Errorf("%d %s %v, %d copies", head.status, head.kind, head.header, len(l.copies.made))
	}
	for range 3 {
		if got := l.ask("GET", call, "?format=wav", "sk_a"); got.status != 200 || !strings.HasPrefix(got.body, "RIFF") {
			t.Errorf("%d", got.status)
		}
	}
	if len(l.copies.made) != 1 {
		t.Errorf("%d copies", len(l.copies.made))
	}
}
