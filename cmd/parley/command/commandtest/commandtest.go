// Package commandtest runs command lines in the process of a test.
package commandtest

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"parley/cmd/parley/command"
)

// Outcome is what a command did.
type Outcome struct {
	Status      int
	Out, ErrOut string
}

// Run executes a command line of root, as command.Execute does.
func Run(root *cobra.Command, in string, args []string, statuses ...func(error) int) Outcome {
	var out, errOut bytes.Buffer
	status := command.Execute(root, args, strings.NewReader(in), &out, &errOut, statuses...)
	return Outcome{status, out.String(), errOut.String()}
}

// Terminal is a pseudo-terminal: what the program sees, and what a person does.
func Terminal(t *testing.T) (program, person *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no pseudo-terminals here: ", err)
	}
	t.Cleanup(func() { person.Close() })
	if err := unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if program, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { program.Close() })
	return program, person
}
