//go:build !linux

package worker

import "os/exec"

// dieWithParent does nothing where the kernel has no such signal: the child
// still ends when its standard input closes.
func dieWithParent(*exec.Cmd) {}
