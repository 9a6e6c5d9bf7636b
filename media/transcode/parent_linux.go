package transcode

import (
	"os/exec"
	"syscall"
)

// dieWithParent ends the child when the server is killed and cannot do it itself.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
