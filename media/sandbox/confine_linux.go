package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// init is where the second start of this program ends: it confines its thread, to which the
// kernel reduces the process when it executes the child.
func init() {
	if len(os.Args) < 2 || os.Args[0] != marker {
		return
	}
	runtime.LockOSThread()
	var p plan
	err := json.Unmarshal([]byte(os.Args[1]), &p)
	if err == nil {
		err = p.execute(os.Args[2:])
	}
	fmt.Fprintln(os.Stderr, "sandbox:", err)
	os.Exit(NotStarted)
}

// execute returns only when it fails.
func (p *plan) execute(args []string) error {
	parent := os.Getppid()
	// A service account may not reach a program that lies in root's home, so it is opened
	// before, and executed by its descriptor if need be.
	program, err := unix.Open(p.Path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("%s: %w", p.Path, err)
	}
	files, err := p.open()
	if err != nil {
		return err
	}
	rules, err := p.landlock()
	if err != nil {
		return err
	}
	if err := p.yield(); err != nil {
		return fmt.Errorf("priority: %w", err)
	}
	if err := p.drop(); err != nil {
		return fmt.Errorf("service account: %w", err)
	}
	// Another identity loses the signal that our end sends; if the end came meanwhile, the
	// process has another parent already.
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return err
	}
	if os.Getppid() != parent {
		return errors.New("the server has gone")
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no new privileges: %w", err)
	}
	if err := rules.restrict(); err != nil {
		return err
	}
	if err := filter(); err != nil {
		return err
	}
	return p.start(program, append([]string{p.Path}, p.reachable(args, files)...))
}

// firstFile is the descriptor of the first of Files, above those that a program opens by itself.
const firstFile = 100

// open opens Files for the child, while the process may still open everything.
func (p *plan) open() (descriptors []int, err error) {
	for i, path := range p.Files {
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if fd, err = unix.FcntlInt(uintptr(fd), unix.F_DUPFD, firstFile+i); err != nil {
			return nil, err
		}
		descriptors = append(descriptors, fd)
	}
	return descriptors, nil
}

// reachable is args with the descriptors of those Files that the account cannot reach.
func (p *plan) reachable(args []string, descriptors []int) []string {
	args = slices.Clone(args)
	for i, path := range p.Files {
		if unix.Access(path, unix.R_OK) == nil {
			continue
		}
		for n := range args {
			if args[n] == path {
				args[n] = fmt.Sprintf("/proc/self/fd/%d", descriptors[i])
			}
		}
	}
	return args
}

// yield lowers the priority to Nice. A server that was started with a lower one keeps it:
// an ordinary user may not raise it again (setpriority(2)).
func (p *plan) yield() error {
	has, err := unix.Getpriority(unix.PRIO_PROCESS, 0) // 20 less the nice value
	if err != nil || 20-has >= p.Nice {
		return err
	}
	return unix.Setpriority(unix.PRIO_PROCESS, 0, p.Nice)
}

// start executes the program under its limits. This process may be over them already, the
// race detector's memory alone is, so that nothing is allocated from the first limit on.
func (p *plan) start(program int, args []string) error {
	name, err := syscall.BytePtrFromString(p.Path)
	if err != nil {
		return err
	}
	argv, err := syscall.SlicePtrFromStrings(args)
	if err != nil {
		return err
	}
	env, err := syscall.SlicePtrFromStrings(os.Environ())
	if err != nil {
		return err
	}
	l := p.Limits
	limits := []limit{{unix.RLIMIT_CORE, 0, 0}, {unix.RLIMIT_FSIZE, l.FileSize, l.FileSize}}
	for resource, n := range map[uintptr]int64{unix.RLIMIT_DATA: l.Memory, unix.RLIMIT_CPU: seconds(l.CPU), unix.RLIMIT_NOFILE: int64(l.Files)} {
		if n > 0 {
			limits = append(limits, limit{resource, n, n})
		}
	}
	empty := new(byte)
	for i := range limits {
		if _, _, errno := unix.RawSyscall6(unix.SYS_PRLIMIT64, 0, limits[i].resource, uintptr(unsafe.Pointer(&limits[i].soft)), 0, 0, 0); errno != 0 {
			return fmt.Errorf("resource limits: %w", errno)
		}
	}
	_, _, errno := unix.RawSyscall(unix.SYS_EXECVE, uintptr(unsafe.Pointer(name)), uintptr(unsafe.Pointer(&argv[0])), uintptr(unsafe.Pointer(&env[0])))
	if errno == unix.EACCES {
		// By its descriptor; that does not work for scripts, which their interpreter opens by name.
		_, _, errno = unix.RawSyscall6(unix.SYS_EXECVEAT, uintptr(program), uintptr(unsafe.Pointer(empty)),
			uintptr(unsafe.Pointer(&argv[0])), uintptr(unsafe.Pointer(&env[0])), unix.AT_EMPTY_PATH, 0)
	}
	return fmt.Errorf("%s: %w", p.Path, errno)
}

// limit is a resource limit of this thread's process; its last two fields are a struct
// rlimit64.
type limit struct {
	resource   uintptr
	soft, hard int64
}

// drop changes this thread's identity alone, which is the one that goes on; leaving root
// takes all capabilities with it.
func (p *plan) drop() error {
	if !p.Drop {
		return nil
	}
	for _, call := range [][4]uintptr{
		{unix.SYS_SETGROUPS, 0, 0, 0},
		{unix.SYS_SETRESGID, uintptr(p.GID), uintptr(p.GID), uintptr(p.GID)},
		{unix.SYS_SETRESUID, uintptr(p.UID), uintptr(p.UID), uintptr(p.UID)},
	} {
		if _, _, errno := unix.RawSyscall(call[0], call[1], call[2], call[3]); errno != 0 {
			return errno
		}
	}
	return nil
}
