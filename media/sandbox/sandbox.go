// Package sandbox starts child processes that parse untrusted input: espeak-ng,
// pocketsphinx, ffmpeg, and readers of documents. A child sees nothing of our environment, and an overflow in it
// reaches nothing but its own pipes.
//
// On Linux a child has resource limits, no new privileges (prctl PR_SET_NO_NEW_PRIVS), no
// capabilities, and where the server runs as root a service account (parley, else nobody);
// landlock lets it read
// libraries and what Config names, write nothing and run nothing else; seccomp refuses
// sockets, other processes and the kernel's administration. A kernel without landlock or
// seccomp leaves that part out. On other systems only environment and limits apply.
//
// A process can be confined by itself only, and between fork and exec a Go program runs no
// code of its own. So a command first starts this very program again, whose init function
// in this package confines itself and then executes the command in its place.
package sandbox

import (
	"context"
	"os/exec"
	"time"
)

// Config describes a child.
type Config struct {
	Path string   // absolute path of the program
	Args []string // its arguments, without its name
	// Read are files and directories that it may read, besides the system's libraries and
	// data under /usr and /lib. What does not exist is left out. A regular file that the
	// command has as its standard input may always be read.
	Read []string
	// Files are files that it may read, too, which its account may not be able to reach. Where it
	// cannot, an argument that is the path of one becomes that of an open descriptor.
	Files []string
	// Nice is what the child yields to others, 0 to 19, as in nice(1): what it does must not
	// delay audio that is due.
	Nice   int
	Limits Limits
}

// Limits are a child's resource limits; it also leaves no core file.
type Limits struct {
	Memory   int64         // bytes of its data segment, libraries it only maps not counted; 0: no limit
	CPU      time.Duration // processor time, rounded up to seconds; 0: no limit
	FileSize int64         // bytes of the largest file, anonymous memory files included; 0: it writes none
	Files    int           // open files; 0: what the system gives
}

// NotStarted is the exit status of a child that could not be confined or executed, the
// shell's for a command that was found and could not be executed.
const NotStarted = 126

// environment is all that a child sees of ours.
var environment = []string{"LC_ALL=C", "PATH=/usr/bin:/bin"}

// Command returns the command of a confined child; ctx ends it as in exec.CommandContext.
// The kernel kills the child when the thread that started it ends, so the
// caller locks its goroutine to a thread for as long as it needs the child. A child that cannot be confined or executed ends
// with status NotStarted and a line on its standard error.
func Command(ctx context.Context, c Config) (*exec.Cmd, error) {
	cmd, err := command(ctx, c)
	if err != nil {
		return nil, err
	}
	cmd.Env = environment
	cmd.Dir = "/"
	return cmd, nil
}

// seconds rounds up.
func seconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }
