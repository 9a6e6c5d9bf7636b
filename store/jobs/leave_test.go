package jobs_test

import (
	"context"
	"testing"
	"time"

	"parley/store/jobs"
)

type here struct{}

func (here) Kind() string { return "here" }

// TestJobsAreLeftToOthers: a node that drains begins no job that another can do; what it does it finishes, and what only it
// can do it does.
func TestJobsAreLeftToOthers(t *testing.T) {
	f := setup(t)
	type done struct{ node, name string }
	all := make(chan done, 100)
	finish := make(chan struct{})
	open := func(node string) *jobs.Queue {
		q := f.queue()
		jobs.Handle(q, jobs.Limits{Workers: 1, Timeout: time.Minute}, func(ctx context.Context, g greet) error {
			if g.Name == "long" {
				all <- done{node, "begins"}
				select {
				case <-finish:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			all <- done{node, g.Name}
			return nil
		})
		jobs.Handle(q, jobs.Limits{Workers: 1, Timeout: time.Minute, Local: true}, func(context.Context, here) error {
			all <- done{node, "local"}
			return nil
		})
		f.ok(q.Open(t.Context(), f.url))
		t.Cleanup(q.Close)
		return q
	}
	want := func(w done) {
		t.Helper()
		if got := <-all; got != w {
			t.Fatalf("%v; want %v", got, w)
		}
	}
	one := open("one")
	stop := f.run(one)
	f.insert(one, greet{"long"}, nil)
	want(done{"one", "begins"})
	one.LeaveToOthers()
	f.insert(one, greet{"Ada"}, nil)
	f.insert(one, here{}, nil)
	want(done{"one", "local"})
	close(finish)
	want(done{"one", "long"})
	f.insert(one, here{}, nil) // it still looks, and has not taken the other
	want(done{"one", "local"})
	f.run(open("two"))
	want(done{"two", "Ada"})
	for range 5 {
		f.insert(one, greet{"Bob"}, nil)
		want(done{"two", "Bob"})
	}
	stop()
}
