package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"parley/cmd/parley/command"
	"parley/inference/model/modeltest"
)

// TestModels has an operator bring a model of their own from a server, with a download that is killed, and take it to a
// machine without a network.
func TestModels(t *testing.T) {
	tiny := modeltest.Tiny()
	host := modeltest.NewHost(t, tiny.Files)
	tiny.Bases = []string{host.URL}
	tiny.Licence = "{name: Terms of Use, accept: true, sha256: " + strings.Repeat("a", 64) + "}"
	dir := t.TempDir()
	manifest, archive := filepath.Join(dir, "tiny.yaml"), filepath.Join(dir, "tiny.tar")
	modeltest.Write(t, manifest, tiny.YAML())
	ask := func(code int, says, dataDir string, args ...string) string {
		t.Helper()
		var out bytes.Buffer
		cmd := parley(filepath.Join(dir, dataDir), append([]string{"models"}, args...)...)
		cmd.Stdout = &out
		got, said := runToEnd(t, cmd)
		if got != code || !strings.Contains(out.String()+said, says) {
			t.Errorf("%q: exit status %d, want %d and %q:\n%s%s", args, got, code, says, &out, said)
		}
		return out.String()
	}
	ask(command.ExitDone, "embedded", "here", "list")
	ask(command.ExitRefused, "licence", "here", "add", "--manifest", manifest)

	reached := make(chan struct{}, 1)
	host.Next(modeltest.Hold(20, reached, nil))
	killed := parley(filepath.Join(dir, "here"), "models", "add", "--manifest", manifest, "--accept-licence", "tiny")
	if err := killed.Start(); err != nil {
		t.Fatal(err)
	}
	<-reached
	part := filepath.Join(dir, "here", "models", "tiny", "1", "model.onnx.part")
	eventually(t, "what was sent is on the disk", func() bool { return firstLine(part) == tiny.Files["model.onnx"][:44] })
	ask(command.ExitFailed, "another command works on this model", "here", "pull", "tiny")
	if err := killed.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	killed.Wait()
	ask(command.ExitDone, "partial", "here", "list")
	host.Asked()
	ask(command.ExitDone, "is installed", "here", "pull", "tiny") // its licence was accepted
	if asked := host.Asked(); len(asked) != 2 || asked[0].Range != "bytes=44-" || asked[0].IfRange == "" {
		t.Errorf("%+v", asked)
	}
	tiny.Check(t, filepath.Join(dir, "here", "models", "tiny", "1"))
	ask(command.ExitDone, "nothing was brought", "here", "pull", "tiny")
	ask(command.ExitDone, "packed", "here", "pack", "tiny", "-o", archive)

	ask(command.ExitRefused, "licence", "there", "pull", "tiny", "--from", archive)
	ask(command.ExitDone, "is installed", "there", "pull", "tiny", "--from", archive, "--accept-licence", "tiny")
	tiny.Check(t, filepath.Join(dir, "there", "models", "tiny", "1"))
	var verified struct{ OK bool }
	if out := ask(command.ExitDone, "", "there", "verify", "--json"); json.Unmarshal([]byte(out), &verified) != nil || !verified.OK {
		t.Errorf("%s", out)
	}
	ask(command.ExitDone, "deleted", "there", "rm", "tiny")
	ask(command.ExitFailed, "no such model", "there", "verify", "tiny")
	if len(host.Asked()) != 0 {
		t.Error("the network was used")
	}
}
