package worker

import "os/exec"

// ownGroup takes the child out of the server's process group: a terminal's Ctrl-C must not
// reach it, because the calls that are being drained still speak.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr.Setpgid = true }
