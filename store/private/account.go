package private

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// maxSocketPath is what a Unix socket's address holds on Linux, without its
// final zero; the socket's own name takes the last 14 bytes.
const (
	maxSocketPath = 107
	socketName    = ".s.PGSQL.5432"
)

// account is who runs PostgreSQL.
type account struct {
	name     string
	uid, gid int
	// starter is our own account, which connects to the server.
	starter string
	// drop is nil when the account is our own.
	drop *syscall.Credential
}

// chooseAccount picks the account that runs the cluster in data. Only root has a choice. An
// existing cluster keeps its owner, so that it survives being started by root
// once and by its owner the next time.
func chooseAccount(name, data string) (account, error) {
	euid := os.Geteuid()
	me, err := user.LookupId(strconv.Itoa(euid))
	if err != nil {
		return account{}, fmt.Errorf("%w: user id %d has no entry in the password file, and initdb needs one", ErrAccount, euid)
	}
	owner := ownerOf(data)
	if euid != 0 {
		if owner != "" && owner != me.Username {
			return account{}, fmt.Errorf("%w: %s belongs to %s and we are %s", ErrAccount, data, owner, me.Username)
		}
		return newAccount(me, me.Username, false)
	}
	candidates := []string{name}
	if name == "" {
		candidates = []string{owner, "postgres", "nobody"}
	}
	for _, n := range candidates {
		if u, err := user.Lookup(n); err == nil {
			return newAccount(u, me.Username, true)
		}
	}
	return account{}, fmt.Errorf("%w: the service account %q does not exist", ErrAccount, candidates[len(candidates)-1])
}

func newAccount(u *user.User, starter string, drop bool) (account, error) {
	uid, err1 := strconv.Atoi(u.Uid)
	gid, err2 := strconv.Atoi(u.Gid)
	if err := errors.Join(err1, err2); err != nil {
		return account{}, err
	}
	if uid == 0 {
		return account{}, fmt.Errorf("%w: it refuses to run as root", ErrAccount)
	}
	a := account{name: u.Username, uid: uid, gid: gid, starter: starter}
	if drop {
		a.drop = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
	return a, nil
}

// ownerOf is the name of the owner of an existing cluster, else empty.
func ownerOf(data string) string {
	info, err := os.Stat(data)
	if err != nil {
		return ""
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	u, err := user.LookupId(strconv.Itoa(int(st.Uid)))
	if err != nil {
		return ""
	}
	return u.Username
}

// Check says whether a cluster can live in dir: nil, ErrUnreachable, or another
// of Start's errors. It changes nothing.
func Check(dir, accountName string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	data := filepath.Join(dir, "data")
	a, err := chooseAccount(accountName, data)
	if err != nil {
		return err
	}
	bin, err := findPrograms(data)
	if err != nil {
		return err
	}
	return a.reaches(bin, nearest(filepath.Dir(dir)))
}

// nearest is dir, or the closest directory above it that exists.
func nearest(dir string) string {
	for {
		if info, err := os.Stat(dir); err == nil && info.IsDir() || dir == "/" {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

// reaches asks the kernel, by running a harmless program there as the account:
// reading permission bits would miss access lists and mount options.
func (a account) reaches(bin, dir string) error {
	if err := a.runs(bin, "/"); err != nil {
		return fmt.Errorf("%w: %s cannot run %s/postgres: %v", ErrAccount, a.name, bin, err)
	}
	if err := a.runs(bin, dir); err != nil {
		return fmt.Errorf("%w: %s may not enter %s", ErrUnreachable, a.name, dir)
	}
	return nil
}

func (a account) runs(bin, dir string) error {
	cmd := exec.Command(filepath.Join(bin, "postgres"), "--version")
	cmd.Dir = dir
	cmd.Env = environment
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: a.drop}
	return cmd.Run()
}

// makeDir makes dir, and what is above it, so that the account can use it and
// nobody else can look in.
func (a account) makeDir(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if a.drop == nil {
		return os.Chmod(dir, 0o700)
	}
	if err := os.Chown(dir, a.uid, a.gid); err != nil {
		return err
	}
	return os.Chmod(dir, 0o700)
}

// socketDir is where the socket goes: in dir, or when that path is too long for
// a socket's address, in a short runtime directory that depends on dir only.
func (a account) socketDir(dir string) (string, error) {
	socket := filepath.Join(dir, "run")
	if len(socket)+1+len(socketName) <= maxSocketPath {
		return socket, a.makeDir(socket)
	}
	base := os.TempDir()
	if x := os.Getenv("XDG_RUNTIME_DIR"); a.drop == nil && x != "" {
		base = x
	} else if info, err := os.Stat("/run"); a.drop != nil && err == nil && info.IsDir() {
		base = "/run"
	}
	sum := sha256.Sum256([]byte(dir))
	socket = filepath.Join(base, fmt.Sprintf("parley-%x", sum[:6]))
	// In a shared directory somebody else may have been here first.
	if info, err := os.Lstat(socket); err == nil {
		st, ok := info.Sys().(*syscall.Stat_t)
		if !info.IsDir() || !ok || int(st.Uid) != a.uid {
			return "", fmt.Errorf("%s is in the way of the database's socket and is not %s's", socket, a.name)
		}
	}
	return socket, a.makeDir(socket)
}
