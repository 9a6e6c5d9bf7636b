package private

import "syscall"

// EndWithParent has the kernel send a child sig when the thread that starts it ends.
func EndWithParent(child *syscall.SysProcAttr, sig syscall.Signal) { child.Pdeathsig = sig }
