package command

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// hidden has a terminal show nothing of what is typed until restore is called. It is for
// in that IsTerminal.
func hidden(in io.Reader) (restore func(), err error) {
	f, ok := in.(*os.File)
	if !ok {
		return nil, fmt.Errorf("%T is no terminal", in)
	}
	was, err := unix.IoctlGetTermios(int(f.Fd()), terminalRequest)
	if err != nil {
		return nil, err
	}
	now := *was
	now.Lflag &^= unix.ECHO
	if err := unix.IoctlSetTermios(int(f.Fd()), terminalChange, &now); err != nil {
		return nil, err
	}
	return func() { _ = unix.IoctlSetTermios(int(f.Fd()), terminalChange, was) }, nil // there is nothing else to do
}
