package sandbox

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Rights of landlock(7). A rule on a file takes those of files only.
const (
	readFile = unix.LANDLOCK_ACCESS_FS_READ_FILE
	readTree = readFile | unix.LANDLOCK_ACCESS_FS_READ_DIR
	runFile  = readFile | unix.LANDLOCK_ACCESS_FS_EXECUTE
	useFile  = readFile | unix.LANDLOCK_ACCESS_FS_WRITE_FILE
)

// system is what any program needs: libraries, their index and data.
var system = []string{"/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/localtime", "/dev/zero", "/dev/urandom"}

// ruleset is a landlock ruleset; the zero value, of a kernel without landlock, restricts nothing.
type ruleset struct {
	fd int
	on bool
}

// landlock prepares the rules while the process may still open everything.
func (p *plan) landlock() (ruleset, error) {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 { // not built in, or switched off
		return ruleset{}, nil
	}
	// All rights that the kernel knows are taken; then the rules give some back.
	attr := unix.LandlockRulesetAttr{Handled_access_fs: 1<<13 - 1}
	size := unsafe.Sizeof(attr.Handled_access_fs)
	if version >= 2 {
		attr.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if version >= 3 {
		attr.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if version >= 4 {
		attr.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
		size += unsafe.Sizeof(attr.Handled_access_net)
	}
	if version >= 5 {
		attr.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if version >= 6 {
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
		size += unsafe.Sizeof(attr.Scoped)
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return ruleset{}, fmt.Errorf("landlock: %w", errno)
	}
	unix.CloseOnExec(int(fd))
	r := ruleset{fd: int(fd), on: true}
	var err error
	for _, path := range append(system, p.Read...) {
		err = errors.Join(err, r.allow(path, readTree))
	}
	for _, path := range p.Files {
		err = errors.Join(err, r.allow(path, readFile))
	}
	for _, path := range p.Run {
		err = errors.Join(err, r.allow(path, runFile))
	}
	err = errors.Join(err, r.allow("/dev/null", useFile))
	if info, e := os.Stdin.Stat(); e == nil && info.Mode().IsRegular() {
		err = errors.Join(err, r.add(0, readFile))
	}
	return r, err
}

// allow gives rights on a file, or on all below a directory. What is not there needs none.
func (r ruleset) allow(path string, rights uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		if errors.Is(err, unix.ENOENT) {
			return nil
		}
		return fmt.Errorf("%s: %w", path, err)
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &^= unix.LANDLOCK_ACCESS_FS_READ_DIR
	}
	return r.add(fd, rights)
}

func (r ruleset) add(fd int, rights uint64) error {
	rule := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(r.fd), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if errno != 0 {
		return fmt.Errorf("landlock: %w", errno)
	}
	return nil
}

// restrict applies the rules to this thread; no_new_privs is set.
func (r ruleset) restrict() error {
	if !r.on {
		return nil
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(r.fd), 0, 0); errno != 0 {
		return fmt.Errorf("landlock: %w", errno)
	}
	return nil
}
