package private

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// serverLock is the name of the file in which PostgreSQL says who serves a data
// directory.
const serverLock = "postmaster.pid"

// lockFile is what PostgreSQL writes of itself into its data directory.
type lockFile struct {
	pid    int
	socket string // directory; empty until the socket is open
}

func readLockFile(data string) (lockFile, error) {
	b, err := os.ReadFile(filepath.Join(data, serverLock))
	if errors.Is(err, os.ErrNotExist) {
		return lockFile{}, fmt.Errorf("%w: %s", ErrNotRunning, data)
	}
	if err != nil {
		return lockFile{}, err
	}
	// Process id, data directory, start time, port, socket directory, ...
	lines := strings.Split(string(b), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(lines[0]))
	if err != nil {
		return lockFile{}, fmt.Errorf("%w: %s", ErrNotRunning, data)
	}
	l := lockFile{pid: pid}
	if len(lines) > 4 {
		l.socket = strings.TrimSpace(lines[4])
	}
	return l, nil
}

// lockFiles are the two that keep a server out: the data directory's and the
// socket's. Both begin with a process id.
func (c *Cluster) lockFiles() []string {
	return []string{filepath.Join(c.data, serverLock), filepath.Join(c.socket, socketName+".lock")}
}

// removeStaleLocks removes what a killed server left when its process id still
// exists and is not a server: PostgreSQL looks only whether the id exists, so
// a zombie that nobody reaps (a container without an init) or another process
// of the account that was given the same id would keep it out for good.
//
// It is called with the directory's lock held, so no server that we start can
// be writing these files. Backends that outlive their server keep the next one
// out without them: PostgreSQL also finds their shared memory by the inode of
// the data directory.
func (c *Cluster) removeStaleLocks() error {
	for _, path := range c.lockFiles() {
		b, err := os.ReadFile(path)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		line, _, _ := bytes.Cut(b, []byte("\n"))
		pid, err := strconv.Atoi(string(bytes.TrimSpace(line)))
		if err != nil || !stale(pid, c.data) {
			continue // PostgreSQL judges the rest, ids that do not exist included
		}
		c.log.Info("removing the lock file of a killed database server", "path", path, "pid", pid)
		// A server that ended in good order just now has removed it itself.
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// stale says whether process pid exists and certainly does not serve data. When
// the kernel does not tell, it may.
func stale(pid int, data string) bool {
	proc := fmt.Sprintf("/proc/%d", pid)
	stat, err := os.ReadFile(filepath.Join(proc, "stat"))
	if err != nil {
		return false
	}
	// The state follows the program's name, which may hold parentheses itself.
	if i := bytes.LastIndexByte(stat, ')'); i >= 0 && bytes.HasPrefix(stat[i:], []byte(") Z ")) {
		return true
	}
	program, err := os.Readlink(filepath.Join(proc, "exe"))
	// Also "postgres (deleted)", which an upgrade leaves, or a wrapped name.
	if err != nil || strings.Contains(filepath.Base(program), "postgres") {
		return false
	}
	// A server works in its data directory, whatever its program is called.
	here, err1 := os.Stat(filepath.Join(proc, "cwd"))
	dir, err2 := os.Stat(data)
	return err1 == nil && err2 == nil && !os.SameFile(here, dir)
}
