//go:build !linux

package command

import "golang.org/x/sys/unix"

// terminalRequest is the ioctl that only terminals answer.
const terminalRequest = unix.TIOCGETA

// terminalChange is the one that changes them.
const terminalChange = unix.TIOCSETA
