package jobs

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river/riverdriver"
)

// driver is the library's driver for PostgreSQL, except that it hears of jobs from wakes and neither sends nor hears
// notifications of the database. The library calls the interface its own, which changes with any version; this one was
// read in v0.51.0, and TestHintsReachTheLibrary fails when jobs are not heard of any more. Polling, the only other way, would
// have each kind looked at every few seconds, its jobs and its settings.
type driver struct {
	riverdriver.Driver[pgx.Tx]
	wakes *wakes
}

// GetListener implements riverdriver.Driver.
func (d driver) GetListener(*riverdriver.GetListenenerParams) riverdriver.Listener {
	return listener{d.wakes.kinds}
}

// SupportsListener implements riverdriver.Driver.
func (driver) SupportsListener() bool { return true }

// SupportsListenNotify implements riverdriver.Driver.
func (driver) SupportsListenNotify() bool { return false }

// topicInsert is what the library calls news of jobs.
const topicInsert = "river_insert"

// listener hands wakes to the library as if they were notifications.
type listener struct{ kinds <-chan string }

// WaitForNotification implements riverdriver.Listener.
func (l listener) WaitForNotification(ctx context.Context) (*riverdriver.Notification, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case kind := <-l.kinds:
		return &riverdriver.Notification{Topic: topicInsert, Payload: fmt.Sprintf(`{"queue": %q}`, kind)}, nil
	}
}

// Connect implements riverdriver.Listener: there is no connection.
func (listener) Connect(context.Context) error { return nil }

// Close implements riverdriver.Listener.
func (listener) Close(context.Context) error { return nil }

// Listen implements riverdriver.Listener.
func (listener) Listen(context.Context, string) error { return nil }

// Unlisten implements riverdriver.Listener.
func (listener) Unlisten(context.Context, string) error { return nil }

// Ping implements riverdriver.Listener.
func (listener) Ping(context.Context) error { return nil }

// Schema implements riverdriver.Listener.
func (listener) Schema() string { return schema }

// SetAfterConnectExec implements riverdriver.Listener.
func (listener) SetAfterConnectExec(string) {}
