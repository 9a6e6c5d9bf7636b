package jobs_test

import (
	"context"
	"net/url"
	"testing"

	"parley/store/jobs"
	"parley/store/storetest"
)

// Jobs run behind PgBouncer in session mode, with parameters in the address and as few
// connections as a queue may have.
func TestBehindPgBouncer(t *testing.T) {
	t.Parallel()
	direct := storetest.URL(t)
	f := on(t, direct)
	u, err := url.Parse(storetest.Pooled(t, direct, "session", 20))
	f.ok(err)
	q := u.Query()
	q.Set("statement_timeout", "60000")
	q.Set("pool_max_conns", "2")
	u.RawQuery = q.Encode()
	f.url = u.String()
	done := make(chan string, 1)
	queue := f.open(func(_ context.Context, g greet) error { done <- g.Name; return nil })
	f.ok(jobs.Migrate(t.Context(), f.url, quiet)) // again, which does nothing
	f.run(queue)
	f.insert(queue, greet{"Ada"}, nil)
	if got := <-done; got != "Ada" {
		t.Errorf("greeted %q", got)
	}
}
