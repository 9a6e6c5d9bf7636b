// Package storetest gives tests a real database each: one PostgreSQL cluster for
// a package's run, a copy of one that was made before (seed.go), with one migrated
// template in it, and a fresh copy of that for each test.
//
//	func TestMain(m *testing.M) { storetest.Main(m) }
//
//	func TestSomething(t *testing.T) {
//		db := storetest.New(t)
//
// The cluster starts with the first test that wants a database. It forgets what it
// wrote when power is lost, which tests do not mind. PARLEY_TEST_DATABASE_URL names
// a server to use instead; its role must be allowed to create databases.
package storetest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/store"
	"parley/store/internal/at"
	"parley/store/private"
)

// startTimeout bounds creating, starting and migrating on a busy machine.
const startTimeout = 2 * time.Minute

// server is the one of this run.
type server struct {
	admin    string // URL of a database to create others from
	template string // name of the migrated database
	strategy string // how a template is copied
	stop     func()
}

var (
	run      string // random, keeps apart runs that share a server
	inMain   bool
	theOne   *server
	startErr error
	start    = sync.OnceFunc(func() {
		if !inMain {
			startErr = errors.New("TestMain must call storetest.Main, which ends the cluster")
			return
		}
		theOne, startErr = begin()
	})
)

// Main runs a package's tests and ends the cluster after them. It does not return.
func Main(m interface{ Run() int }) { os.Exit(Run(m)) }

// Run is Main for a package that ends more than the cluster: it returns the exit status.
func Run(m interface{ Run() int }) int {
	inMain = true
	run = strings.ToLower(rand.Text()[:8])
	code := m.Run()
	if theOne != nil {
		theOne.stop()
	}
	return code
}

// Scratch is a directory for the data of databases that tests throw away. Each has some three
// hundred files, which take a disk several times the processor time; so it is in memory where
// there is much room for files. Its name is short, as a socket's must be.
func Scratch() string {
	const memory, room = "/dev/shm", 4 << 30
	var fs syscall.Statfs_t
	if syscall.Statfs(memory, &fs) == nil && fs.Bavail*uint64(fs.Bsize) >= room {
		return memory
	}
	return "/tmp"
}

// Dir is an empty directory that a database's service account reaches, which t.TempDir of
// a root user is not, until the test ends.
func Dir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp(Scratch(), "parley-data-")
	if err == nil {
		t.Cleanup(func() { os.RemoveAll(dir) })
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		t.Fatal("storetest: ", err)
	}
	return dir
}

// New returns a store on a fresh, migrated database that the test has to itself.
func New(t testing.TB) *store.DB {
	t.Helper()
	return Open(t, URL(t))
}

// At returns a context in which the packages of the store take it to be t.
func At(ctx context.Context, t time.Time) context.Context { return context.WithValue(ctx, at.Key{}, t) }

// Open returns a store on the database at url until the test ends.
func Open(t testing.TB, url string) *store.DB {
	t.Helper()
	db, err := store.Open(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db
}

// URL returns the address of a fresh, migrated database that the test has to
// itself. The role behind it may do anything.
func URL(t testing.TB) string {
	t.Helper()
	start()
	if startErr != nil {
		t.Fatal("storetest: ", startErr)
	}
	return create(t, theOne.template)
}

// Shifted is URL for a database whose clock is apart from this machine's, behind it where
// apart is negative. Of SQL now() and clock_timestamp() are, which is what the store uses.
func Shifted(t testing.TB, apart time.Duration) string {
	t.Helper()
	start()
	if startErr != nil {
		t.Fatal("storetest: ", startErr)
	}
	address := create(t, "template1")
	name := address[strings.LastIndex(address, "/")+1:]
	name, _, _ = strings.Cut(name, "?")
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		t.Fatal("storetest: ", err)
	}
	defer conn.Close(ctx)
	const clock = "create function public.%[1]s() returns timestamptz language sql %[2]s as $$ select pg_catalog.%[1]s() + interval '%[3]d seconds' $$; "
	_, err = conn.Exec(ctx, fmt.Sprintf(clock, "now", "stable", int(apart.Seconds()))+fmt.Sprintf(clock, "clock_timestamp", "volatile", int(apart.Seconds()))+
		"alter database "+name+" set search_path = public, pg_catalog")
	if err != nil {
		t.Fatal("storetest: ", err)
	}
	if err := Open(t, address).Migrate(ctx); err != nil {
		t.Fatal("storetest: ", err)
	}
	return address
}

// Copy returns the address of a copy of the database at address, which nobody may be
// connected to.
func Copy(t testing.TB, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal("storetest: ", err)
	}
	return create(t, strings.TrimPrefix(u.Path, "/"))
}

func create(t testing.TB, template string) string {
	t.Helper()
	name := fmt.Sprintf("parley_test_%s_%s", run, strings.ToLower(rand.Text()[:12]))
	if err := theOne.exec(fmt.Sprintf("create database %s template %s %s", name, template, theOne.strategy)); err != nil {
		t.Fatal("storetest: ", err)
	}
	t.Cleanup(func() {
		if err := theOne.exec("drop database " + name + " with (force)"); err != nil {
			t.Error("storetest: ", err)
		}
	})
	return patient(inDatabase(theOne.admin, name))
}

// patient is an address whose transactions may be idle for a minute, and wait for a lock for ten seconds: a test on a machine
// that has more to do than it can is held up for longer than a server ever is, and so is what waits for it.
func patient(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address // connecting will say so
	}
	q := u.Query()
	q.Set("idle_in_transaction_session_timeout", "60000")
	q.Set("lock_timeout", "10000")
	u.RawQuery = q.Encode()
	return u.String()
}

func begin() (*server, error) {
	s := &server{template: seeded, stop: func() {}}
	if s.admin = os.Getenv("PARLEY_TEST_DATABASE_URL"); s.admin == "" {
		if err := s.cluster(); err != nil {
			return s, err
		}
		return s, s.choose()
	}
	s.template = "parley_template_" + run
	if err := s.migrate(); err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

// cluster starts a server of our own.
func (s *server) cluster() error {
	// Short and outside of closed homes: the name of a socket has little room, and
	// the service account must get there.
	dir, err := os.MkdirTemp(Scratch(), "parley-pg-")
	if err != nil {
		return err
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	from, err := seed()
	if err == nil {
		err = copyTree(from, filepath.Join(dir, "pg"))
	}
	var c *private.Cluster
	if err == nil {
		c, err = private.Start(ctx, private.Options{Dir: filepath.Join(dir, "pg"), Volatile: true,
			Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	}
	if err != nil {
		os.RemoveAll(dir)
		return err
	}
	s.admin = inDatabase(c.URL(), "postgres") // nobody may be connected to a template
	s.stop = func() {
		if err := c.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "storetest: ", err)
		}
		os.RemoveAll(dir)
	}
	return nil
}

// choose has templates copied as files, with half of the processor time that it takes page by page, which is what
// PostgreSQL does from 15 on unless it is told; before, it knows only files.
func (s *server) choose() error {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.admin)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	var version int
	if err := conn.QueryRow(ctx, "select current_setting('server_version_num')::int").Scan(&version); err != nil {
		return err
	}
	if version >= 150000 {
		s.strategy = "strategy file_copy"
	}
	return nil
}

// migrate makes the template on a server that stays; ending drops it again.
func (s *server) migrate() error {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	if err := s.exec("create database " + s.template); err != nil {
		return err
	}
	stop := s.stop
	s.stop = func() {
		if err := s.exec("drop database if exists " + s.template + " with (force)"); err != nil {
			fmt.Fprintln(os.Stderr, "storetest: ", err)
		}
		stop()
	}
	db, err := store.Open(ctx, inDatabase(s.admin, s.template))
	if err != nil {
		return err
	}
	defer db.Close()
	return db.Migrate(ctx)
}

// exec runs one command on the server; creating a database allows nothing else.
func (s *server) exec(sql string) error {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.admin)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, sql)
	return err
}

// inDatabase is address with another database name.
func inDatabase(address, name string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address // connecting will say so
	}
	u.Path = "/" + name
	return u.String()
}
