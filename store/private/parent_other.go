//go:build !linux

package private

import "syscall"

// EndWithParent does nothing where the kernel has no such signal.
func EndWithParent(*syscall.SysProcAttr, syscall.Signal) {}
