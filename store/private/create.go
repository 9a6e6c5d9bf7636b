package private

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

// debianDir is where Debian and Ubuntu keep the programs of each version, away
// from the PATH.
const debianDir = "/usr/lib/postgresql"

// minVersion is the oldest major version the server's SQL is written for.
const minVersion = 14

// environment is all that PostgreSQL's programs get: no PG* variable of ours
// may move or open the cluster, and messages must be in English to be read.
var environment = []string{"PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", "TZ=UTC"}

// findPrograms returns the directory of the programs that fit the cluster in
// data; for a new one, of the newest.
func findPrograms(data string) (string, error) {
	want := 0
	if b, err := os.ReadFile(filepath.Join(data, "PG_VERSION")); err == nil {
		if want, err = strconv.Atoi(strings.TrimSpace(string(b))); err != nil {
			return "", fmt.Errorf("%s/PG_VERSION does not hold a version number", data)
		}
	}
	found := installed()
	best := 0
	for v := range found {
		if v == want || want == 0 && v > best {
			best = v
		}
	}
	switch {
	case len(found) == 0:
		return "", fmt.Errorf("%w: apt-get install postgresql", ErrNotInstalled)
	case want == 0 && best < minVersion:
		return "", fmt.Errorf("%w: version %d or later is needed, %d is here", ErrNotInstalled, minVersion, best)
	case best == 0:
		return "", fmt.Errorf("%w: %s needs version %d: apt-get install postgresql-%d", ErrVersion, data, want, want)
	}
	return found[best], nil
}

// installed lists the directories of PostgreSQL's programs by major version.
func installed() map[int]string {
	found := map[int]string{}
	dirs, _ := filepath.Glob(debianDir + "/*/bin")
	if p, err := exec.LookPath("postgres"); err == nil {
		if p, err = filepath.EvalSymlinks(p); err == nil {
			dirs = append(dirs, filepath.Dir(p))
		}
	}
	for _, dir := range dirs {
		if _, err := os.Stat(filepath.Join(dir, "initdb")); err != nil {
			continue
		}
		if v := majorVersion(filepath.Join(dir, "postgres")); v != 0 {
			found[v] = dir
		}
	}
	return found
}

// majorVersion reads "postgres (PostgreSQL) 15.18 ..."; 0 when it cannot.
func majorVersion(program string) int {
	cmd := exec.Command(program, "--version")
	cmd.Env = environment
	out, err := cmd.Output()
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(out), ") ")
	digits := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
	if digits < 0 {
		return 0
	}
	v, _ := strconv.Atoi(rest[:digits])
	return v
}

// create runs initdb when there is no cluster yet and writes who may connect.
// A cluster appears under its name only when it is complete: whatever dies
// half-way leaves nothing that a later start could take for one.
func (c *Cluster) create(ctx context.Context) error {
	if _, err := os.Stat(filepath.Join(c.data, "PG_VERSION")); err == nil {
		return c.writeAccess(c.data)
	}
	if _, err := os.Stat(c.data); err == nil {
		return fmt.Errorf("%s exists and is not a PostgreSQL cluster", c.data)
	}
	fresh := filepath.Join(c.opts.Dir, "data.new")
	if err := os.RemoveAll(fresh); err != nil {
		return err
	}
	if err := c.initdb(ctx, fresh); err != nil {
		return err
	}
	if err := c.writeAccess(fresh); err != nil {
		return err
	}
	return os.Rename(fresh, c.data)
}

func (c *Cluster) initdb(ctx context.Context, dir string) error {
	runtime.LockOSThread() // EndWithParent follows the thread
	defer runtime.UnlockOSThread()
	args := []string{"-D", dir, "-U", database, "-A", "peer", "-E", "UTF8", "--locale=C.UTF-8", "--data-checksums"}
	if c.opts.Volatile {
		args = append(args, "--no-sync")
	}
	cmd := exec.CommandContext(ctx, filepath.Join(c.bin, "initdb"), args...)
	cmd.Dir = c.opts.Dir
	cmd.Env = environment
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: c.run.drop, Setpgid: true}
	EndWithParent(cmd.SysProcAttr, syscall.SIGKILL)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, lastLine(out))
	}
	return nil
}

// writeAccess lets in, over the socket, the account that runs the server, the one
// that starts it, and root, as the one role there is. The kernel says who asks.
func (c *Cluster) writeAccess(dir string) error {
	ident := fmt.Sprintf("app %q %s\n", c.run.name, database)
	if c.run.starter != c.run.name {
		ident += fmt.Sprintf("app %q %s\n", c.run.starter, database)
	}
	if c.run.starter != "root" {
		ident += fmt.Sprintf("app \"root\" %s\n", database)
	}
	return errors.Join(
		c.write(filepath.Join(dir, "pg_hba.conf"), "local all all peer map=app\n"),
		c.write(filepath.Join(dir, "pg_ident.conf"), ident))
}

func (c *Cluster) write(path, text string) error {
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return err
	}
	if c.run.drop == nil {
		return nil
	}
	return os.Chown(path, c.run.uid, c.run.gid)
}

// lockDir keeps a second server out for as long as this process lives; the
// kernel takes the lock back from a process that was killed.
func (c *Cluster) lockDir() (*os.File, error) {
	path := filepath.Join(c.opts.Dir, "lock")
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err != nil {
		err = fmt.Errorf("%w: %s", ErrInUse, c.opts.Dir)
	} else if c.run.drop != nil {
		err = f.Chown(c.run.uid, c.run.gid)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func lastLine(out []byte) string {
	out = bytes.TrimSpace(out)
	return string(out[bytes.LastIndexByte(out, '\n')+1:])
}
