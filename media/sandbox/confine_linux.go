package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// exitStatus is the shell's for a command that was found and could not be executed.
const exitStatus = 126

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
	os.Exit(exitStatus)
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
	rules, err := p.landlock()
	if err != nil {
		return err
	}
	if err := unix.Setpriority(unix.PRIO_PROCESS, 0, p.Nice); err != nil {
		return fmt.Errorf("priority: %w", err)
	}
	if err := p.limit(); err != nil {
		return err
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
	argv := append([]string{p.Path}, args...)
	err = syscall.Exec(p.Path, argv, os.Environ())
	if errors.Is(err, unix.EACCES) {
		err = execDescriptor(program, argv)
	}
	return fmt.Errorf("%s: %w", p.Path, err)
}

func (p *plan) limit() error {
	set := func(resource int, n int64) error {
		return unix.Setrlimit(resource, &unix.Rlimit{Cur: uint64(n), Max: uint64(n)})
	}
	err := errors.Join(set(unix.RLIMIT_CORE, 0), set(unix.RLIMIT_FSIZE, p.FileSize))
	for resource, n := range map[int]int64{unix.RLIMIT_DATA: p.Memory, unix.RLIMIT_CPU: p.CPU, unix.RLIMIT_NOFILE: int64(p.Files)} {
		if n > 0 {
			err = errors.Join(err, set(resource, n))
		}
	}
	if err != nil {
		return fmt.Errorf("resource limits: %w", err)
	}
	return nil
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

// execDescriptor is execveat(2) of an open file; it does not work for scripts, which their
// interpreter opens by name.
func execDescriptor(fd int, argv []string) error {
	args, err := syscall.SlicePtrFromStrings(argv)
	if err != nil {
		return err
	}
	env, err := syscall.SlicePtrFromStrings(os.Environ())
	if err != nil {
		return err
	}
	empty := [1]byte{}
	_, _, errno := unix.Syscall6(unix.SYS_EXECVEAT, uintptr(fd), uintptr(unsafe.Pointer(&empty)),
		uintptr(unsafe.Pointer(&args[0])), uintptr(unsafe.Pointer(&env[0])), unix.AT_EMPTY_PATH, 0)
	return errno
}
