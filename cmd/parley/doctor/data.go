package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sys/unix"

	"parley/billing"
	"parley/cmd/parley/config"
	"parley/store"
	"parley/store/private"
)

const (
	// oldestPostgres is the first version the store's SQL is written for.
	oldestPostgres   = 14
	databasePatience = 5 * time.Second
	// maxDrift is how far two clocks may be apart that write into one database.
	maxDrift = 2 * time.Second
	// maxStep is how much the clock may be corrected while the doctor looks.
	maxStep = 100 * time.Millisecond
)

// Free space in the data directory: a day of a busy server's calls and log, and
// what PostgreSQL needs to stop in good order.
const (
	wantFree = 2 << 30 // bytes
	needFree = 200 << 20
)

// Open files: a call has two sockets, RTP and RTCP, and up to two connections to
// remote engines; beside calls there are the database, listeners and workers.
const (
	filesPerCall = 4
	filesBeside  = 500
	usualCalls   = 1_000
)

// checkDatabase also says how far its clock is from ours; nil when it was not asked.
func checkDatabase(ctx context.Context, cfg *config.Config, dir string) (f Finding, drift *time.Duration) {
	url := cfg.DatabaseURL
	if url == "" {
		var err error
		if url, err = private.Locate(private.Dir(dir)); err != nil { // not running
			return checkCluster(private.Check(private.Dir(dir), "")), nil
		}
	}
	ctx, cancel := context.WithTimeout(ctx, databasePatience)
	defer cancel()
	conn, err := store.Connect(ctx, url)
	if err != nil {
		return fail("check PARLEY_DATABASE_URL, and that PostgreSQL runs and lets this machine in", "%v", err), nil // pgx shows no password
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var version int
	var now time.Time
	asked := time.Now()
	err = conn.QueryRow(ctx, "select current_setting('server_version_num')::int, clock_timestamp()").Scan(&version, &now)
	if err != nil {
		return fail("look into PostgreSQL's log", "%v", err), nil
	}
	apart := now.Sub(asked.Add(time.Since(asked) / 2))
	if lent, err := lends(ctx, conn, url); err != nil || lent {
		if err != nil {
			return fail("look into PostgreSQL's log", "%v", err), &apart
		}
		return fail("give the server's database pool_mode = session, or name PostgreSQL itself in PARLEY_DATABASE_URL",
			"there is a pooler in transaction mode before it, which loses settings, locks and statements of sessions"), &apart
	}
	return checkVersion(version), &apart
}

// lends says whether two connections that are open at once have one of the database:
// something before it lends that by the transaction.
func lends(ctx context.Context, one *pgx.Conn, url string) (bool, error) {
	two, err := store.Connect(ctx, url)
	if err != nil {
		return false, err
	}
	defer two.Close(context.WithoutCancel(ctx))
	var pids [2]int
	for i, c := range []*pgx.Conn{one, two} {
		if err := c.QueryRow(ctx, "select pg_backend_pid()", pgx.QueryExecModeSimpleProtocol).Scan(&pids[i]); err != nil {
			return false, err
		}
	}
	return pids[0] == pids[1], nil
}

// checkVersion is given a number such as 150018 for 15.18.
func checkVersion(number int) Finding {
	if number/10_000 < oldestPostgres {
		return fail(fmt.Sprintf("use PostgreSQL %d or later", oldestPostgres), "PostgreSQL %d is too old", number/10_000)
	}
	return good("PostgreSQL %d.%d answers", number/10_000, number%10_000)
}

// checkCluster says whether a private database could be started.
func checkCluster(err error) Finding {
	switch {
	case err == nil:
		return good("the server will run a PostgreSQL of its own")
	case errors.Is(err, private.ErrNotInstalled):
		return fail("apt-get install postgresql, or set PARLEY_DATABASE_URL", "%v", err)
	case errors.Is(err, private.ErrVersion):
		return fail("install that version beside the newer one, parley backup DIR, move the data directory aside, parley restore DIR", "%v", err)
	case errors.Is(err, private.ErrUnreachable):
		return fail("name a directory that it can reach: PARLEY_DATA_DIR="+config.SystemDataDir+" parley serve", "%v", err)
	}
	return fail("set PARLEY_DATABASE_URL to a database of your own", "%v", err)
}

// checkClock compares how far the clock on the wall has gone with how far the one
// has that only counts, and the time with the database's.
func checkClock(now time.Time, wall, counted time.Duration, drift *time.Duration) Finding {
	const fix = "run a time service: apt-get install chrony"
	step := wall - counted
	switch {
	case now.Year() < 2025:
		return fail(fix, "it says %s", now.Format(time.DateOnly))
	case step.Abs() > maxStep:
		return warn(fix, "it was set by %v while we looked", step.Round(time.Millisecond))
	case drift == nil:
		return good("runs evenly; the database was not asked")
	case drift.Abs() > maxDrift:
		return warn(fix+" on both machines", "the database's is %v away", drift.Round(time.Millisecond))
	}
	return good("runs evenly, the database's is %v away", drift.Round(time.Millisecond))
}

// openFiles is how many files the server may have open: it raises its own limit up
// to the hard one.
func openFiles() uint64 {
	var l syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l) != nil {
		return 0
	}
	return l.Max
}

// checkFiles compares a limit with what so many calls want; 0 calls: a thousand.
func checkFiles(limit uint64, calls int) Finding {
	calls = cmp.Or(calls, usualCalls)
	if want := uint64(filesPerCall*calls + filesBeside); limit < want {
		return warn("ulimit -n 65536, or LimitNOFILE=65536 in the service's unit", "%d are allowed, %d calls at once want %d", limit, calls, want)
	}
	return good("%d are allowed, enough for %d calls at once", limit, calls)
}

// checkDataDir looks at the data directory, or where it will be made.
func checkDataDir(dir string) Finding {
	fix := "set PARLEY_DATA_DIR, or give it to the user that runs the program"
	dir, err := filepath.Abs(dir)
	if err != nil {
		return fail(fix, "%v", err)
	}
	there := dir
	info, err := os.Stat(there)
	for errors.Is(err, os.ErrNotExist) && there != filepath.Dir(there) {
		there = filepath.Dir(there)
		info, err = os.Stat(there)
	}
	switch {
	case err != nil:
		return fail(fix, "%v", err)
	case !info.IsDir():
		return fail("set PARLEY_DATA_DIR", "%s is not a directory", there)
	}
	// Asked, not tried: the doctor changes nothing.
	if err := unix.Faccessat(unix.AT_FDCWD, there, unix.R_OK|unix.W_OK|unix.X_OK, unix.AT_EACCESS); err != nil {
		return fail(fix, "%s cannot be written: %v", there, err)
	}
	var disk unix.Statfs_t
	if err := unix.Statfs(there, &disk); err != nil {
		return fail(fix, "%s: %v", there, err)
	}
	return checkSpace(dir, disk.Bavail*uint64(disk.Bsize))
}

func checkSpace(dir string, free uint64) Finding {
	const fix = "make room, or set PARLEY_DATA_DIR to a larger disk"
	switch {
	case free < needFree:
		return fail(fix, "%s has %d MB left", dir, free>>20)
	case free < wantFree:
		return warn(fix, "%s has %d MB left", dir, free>>20)
	}
	return good("%s can be written, %d GB left", dir, free>>30)
}

func checkRateCard(cfg *config.Config) Finding {
	card, err := billing.ReadRateCard(cfg.RateCard)
	switch {
	case err != nil:
		return fail("correct the file; billing/ratecard.yaml in the source is a card in order", "%v", err)
	case len(cfg.Realtime.All()) > 0 && !card.SellsRealtime():
		return fail("add the three prices of realtime to the rate card, under a new version", "version %s has no prices of realtime engines, and there is one: the server does not start", card.Version())
	case cfg.RateCard == "":
		return good("version %s, built in", card.Version())
	}
	return good("version %s of %s", card.Version(), cfg.RateCard)
}
