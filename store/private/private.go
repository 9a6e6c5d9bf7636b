// Package private runs a PostgreSQL server of our own as a child process: the
// database of a Parley that was given none. It listens on a Unix socket only,
// lets in only the account that runs it, the one that started us and root, and
// ends when we end, however that happens.
//
// Started as root it changes to an unprivileged service account, because
// PostgreSQL refuses to run as root. That account must be able to reach the
// directory: one below a closed home does not work (ErrUnreachable).
package private

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// Why a cluster does not start. The errors of Start wrap one of these when the
// operator can do something about it.
var (
	ErrNotInstalled = errors.New("PostgreSQL's programs are not installed")
	ErrVersion      = errors.New("the data directory belongs to another version of PostgreSQL")
	ErrInUse        = errors.New("the data directory is in use by another server")
	ErrUnreachable  = errors.New("the service account cannot reach the data directory")
	ErrAccount      = errors.New("PostgreSQL cannot run under this account")
	ErrNotRunning   = errors.New("no server is running on the data directory")
)

// database is the name of both the role and the database that URL opens. The
// role is the cluster's superuser: the cluster serves nobody else.
const database = "parley"

// Options say where a cluster lives and who runs it.
type Options struct {
	// Dir holds the cluster and nothing else; it is created when missing and
	// then belongs to the account that runs PostgreSQL.
	Dir string
	// Account names the service account. Empty: the owner of an existing
	// cluster, else postgres, else nobody. Not used unless we are root.
	Account string
	// Log takes what PostgreSQL reports; nil means slog.Default.
	Log *slog.Logger
	// Volatile gives up safety against a power cut for speed. For tests.
	Volatile bool

	patience time.Duration // leftoverPatience unless a test says otherwise
}

// Cluster is a running PostgreSQL server. When its process dies it is started
// again behind the same URL. Its methods may be called from several goroutines.
type Cluster struct {
	opts   Options
	log    *slog.Logger
	bin    string // directory of PostgreSQL's programs
	run    account
	data   string // PostgreSQL's own data directory
	socket string // directory of the socket
	lock   *os.File

	cancel context.CancelFunc
	done   chan struct{}
	err    error // why it ended; set before done is closed
}

// Start creates the cluster when there is none, starts it and returns when it
// answers queries; ctx bounds that. Unlike a constructor it leaves a goroutine
// and a process behind: call Stop.
func Start(ctx context.Context, o Options) (*Cluster, error) {
	c := &Cluster{opts: o, log: o.Log, done: make(chan struct{})}
	if c.log == nil {
		c.log = slog.Default()
	}
	if c.opts.patience == 0 {
		c.opts.patience = leftoverPatience
	}
	if err := c.prepare(ctx); err != nil {
		c.release()
		return nil, err
	}
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c.cancel = cancel
	ready := make(chan struct{})
	go c.supervise(life, ready) // not isolated: without its database no call goes on
	select {
	case <-ready:
	case <-c.done:
		return nil, c.err
	case <-ctx.Done():
		c.Stop()
		return nil, fmt.Errorf("PostgreSQL did not become ready: %w", context.Cause(ctx))
	}
	if err := c.createDatabase(ctx); err != nil {
		c.Stop()
		return nil, err
	}
	return c, nil
}

// prepare does everything that comes before the server's own process.
func (c *Cluster) prepare(ctx context.Context) (err error) {
	if c.opts.Dir, err = filepath.Abs(c.opts.Dir); err != nil {
		return err
	}
	c.data = filepath.Join(c.opts.Dir, "data")
	if c.run, err = chooseAccount(c.opts.Account, c.data); err != nil {
		return err
	}
	if c.bin, err = findPrograms(c.data); err != nil {
		return err
	}
	if err = c.run.reaches(c.bin, nearest(filepath.Dir(c.opts.Dir))); err != nil {
		return err
	}
	if err = c.run.makeDir(c.opts.Dir); err != nil {
		return err
	}
	if err = c.run.reaches(c.bin, c.opts.Dir); err != nil {
		return err
	}
	if c.lock, err = c.lockDir(); err != nil {
		return err
	}
	if c.socket, err = c.run.socketDir(c.opts.Dir); err != nil {
		return err
	}
	return c.create(ctx)
}

// URL is the address of the database, for pgx. It does not change while the
// cluster lives, also when the server behind it is started again.
func (c *Cluster) URL() string { return address(c.socket, database) }

// Done is closed when the cluster has ended for good: stopped, or beyond help.
func (c *Cluster) Done() <-chan struct{} { return c.done }

// Stop ends the server in good order, open connections included, and waits for
// it. It may be called more than once; it returns why the cluster had ended by itself.
func (c *Cluster) Stop() error {
	c.cancel()
	<-c.done
	return c.err
}

// release gives back what prepare took. The socket directory goes too when it
// had to be put elsewhere; a server's socket is gone by then.
func (c *Cluster) release() {
	if c.lock == nil {
		return
	}
	if filepath.Dir(c.socket) != c.opts.Dir {
		os.Remove(c.socket)
	}
	c.lock.Close()
}

func (c *Cluster) createDatabase(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, address(c.socket, "postgres"))
	if err != nil {
		return fmt.Errorf("open PostgreSQL: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var exists bool
	err = conn.QueryRow(ctx, "select exists (select 1 from pg_database where datname = $1)", database).Scan(&exists)
	if err == nil && !exists {
		_, err = conn.Exec(ctx, "create database "+database)
	}
	if err != nil {
		return fmt.Errorf("create the database: %w", err)
	}
	return nil
}

// Locate returns the URL of the cluster in dir that some process is running now,
// for commands that work beside a server. It needs that server's account, or root.
func Locate(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	l, err := readLockFile(filepath.Join(dir, "data"))
	if err != nil {
		return "", err
	}
	if l.socket == "" || errors.Is(syscall.Kill(l.pid, 0), syscall.ESRCH) {
		return "", fmt.Errorf("%w: %s", ErrNotRunning, dir)
	}
	return address(l.socket, database), nil
}

// address spells out what pgx would otherwise take from PG* variables.
func address(socket, db string) string {
	q := url.Values{"host": {socket}, "port": {"5432"}, "sslmode": {"disable"}}
	u := url.URL{Scheme: "postgres", User: url.User(database), Host: "", Path: "/" + db, RawQuery: q.Encode()}
	return u.String()
}

// answers says whether the server behind socket takes queries.
func answers(ctx context.Context, socket string) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, address(socket, "postgres"))
	if err != nil {
		return false
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, "select 1")
	return err == nil
}
