package private

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// ErrClient is a client program that is missing, or older than the server.
var ErrClient = errors.New("none of PostgreSQL's programs fits the server")

// Dir is where a server with that data directory keeps its cluster.
func Dir(dataDir string) string { return filepath.Join(dataDir, "postgres") }

// Exists says whether there is a cluster in dir, running or not. An error means
// that we may not look.
func Exists(dir string) (bool, error) {
	_, err := os.Stat(filepath.Join(dir, "data", "PG_VERSION"))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// Client finds pg_dump, pg_restore or another client program for a server of that
// major version: its own, else the next newer one that is installed, because an
// older one cannot read a newer server. It returns the version it found.
func Client(name string, server int) (program string, version int, err error) {
	programs, _ := filepath.Glob(filepath.Join(debianDir, "*", "bin", name))
	// The PATH comes last, for Debian's is a script that picks a version by itself.
	if p, err := exec.LookPath(name); err == nil {
		programs = append(programs, p)
	}
	found := map[int]string{}
	for _, p := range programs {
		v := majorVersion(p)
		if _, ok := found[v]; v != 0 && !ok {
			found[v] = p
		}
	}
	return pickClient(name, found, server)
}

func pickClient(name string, found map[int]string, server int) (string, int, error) {
	best, newest := 0, 0
	for v := range found {
		newest = max(newest, v)
		if v >= server && (best == 0 || v < best) {
			best = v
		}
	}
	switch {
	case newest == 0:
		return "", 0, fmt.Errorf("%w: %s is missing: apt-get install postgresql-client-%d", ErrClient, name, server)
	case best == 0:
		return "", 0, fmt.Errorf("%w: %s is version %d and the server %d: apt-get install postgresql-client-%d", ErrClient, name, newest, server, server)
	}
	return found[best], best, nil
}

// Environment is what PostgreSQL's programs get, so that no PG* variable of ours
// moves a connection. The caller owns the slice.
func Environment() []string { return append([]string{}, environment...) }
