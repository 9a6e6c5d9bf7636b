package worker

import (
	"os/exec"
	"syscall"
)

// dieWithParent has the kernel kill the child when the server dies without
// being able to, as by SIGKILL (prctl PR_SET_PDEATHSIG). A terminal's Ctrl-C, which
// reaches the server's process group, must not reach it: the calls that are being
// drained still speak.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
