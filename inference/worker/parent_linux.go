package worker

import (
	"os/exec"
	"syscall"
)

// dieWithParent has the kernel kill the child when the server dies without
// being able to, as by SIGKILL (prctl PR_SET_PDEATHSIG).
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
