package sandbox

import (
	"bufio"
	"context"
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"strings"
	"syscall"
)

// marker is the name under which this program starts again to confine itself.
const marker = "parley-sandbox"

// accounts may run the children of a server that was started as root, the first that exists.
var accounts = []string{"parley", "nobody"}

// overflowID is the kernel's identity for nobody, where the system has no such account.
const overflowID = 65534

// plan is what the second start of this program has to do. It travels as an argument.
type plan struct {
	Config          // without Args, which are arguments themselves
	Run    []string // files that the program consists of: itself, its interpreter, its loader
	// Drop says that the process gives up being root for UID and GID.
	Drop     bool
	UID, GID int
}

func command(ctx context.Context, c Config) (*exec.Cmd, error) {
	run, err := parts(c.Path)
	if err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	p := plan{Config: c, Run: run}
	p.Args = nil
	if os.Geteuid() == 0 {
		p.Drop = true
		p.UID, p.GID = serviceAccount()
	}
	text, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "/proc/self/exe")
	cmd.Args = append([]string{marker, string(text)}, c.Args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd, nil
}

func serviceAccount() (uid, gid int) {
	for _, name := range accounts {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.Atoi(u.Uid)
		gid, err2 := strconv.Atoi(u.Gid)
		if errors.Join(err1, err2) == nil && uid != 0 {
			return uid, gid
		}
	}
	return overflowID, overflowID
}

// parts lists the files that the kernel opens to execute path: itself, the interpreter of a
// script, the loader of a dynamically linked program.
func parts(path string) ([]string, error) {
	list := []string{path}
	for range 2 { // an interpreter of a script may not be a script again
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		next, err := interpreter(f)
		f.Close()
		if err != nil || next == "" {
			return list, err
		}
		list, path = append(list, next), next
	}
	return list, nil
}

// interpreter is what the kernel starts in the place of f, or empty.
func interpreter(f *os.File) (string, error) {
	head := bufio.NewReader(io.LimitReader(f, 256))
	if magic, _ := head.Peek(2); string(magic) == "#!" {
		line, _ := head.ReadString('\n') // a script of one line may lack its end
		fields := strings.Fields(line[2:])
		if len(fields) == 0 {
			return "", fmt.Errorf("%s names no interpreter", f.Name())
		}
		return fields[0], nil
	}
	program, err := elf.NewFile(f)
	if err != nil {
		return "", fmt.Errorf("%s is no program: %w", f.Name(), err)
	}
	for _, p := range program.Progs {
		if p.Type == elf.PT_INTERP {
			name, err := io.ReadAll(io.LimitReader(p.Open(), 4096))
			return strings.TrimRight(string(name), "\x00"), err
		}
	}
	return "", nil
}
