package main

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"parley/cmd/parley/command"
	"parley/cmd/parley/doctor"
)

func TestDoctorSettings(t *testing.T) {
	for _, tt := range []struct{ name, value string }{{"PARLEY_SECRET", "hunter2"}, {"PARLEY_CONFIG", "/nonexistent.yaml"}} {
		t.Setenv(tt.name, tt.value)
		o := run("", "doctor")
		if o.Status != command.ExitFailed || !strings.Contains(o.Out, "fail  settings") || !strings.Contains(o.Out, "2 checks") || strings.Contains(o.Out+o.ErrOut, "hunter2") {
			t.Errorf("exit status %d: %s%s", o.Status, o.Out, o.ErrOut)
		}
		t.Setenv(tt.name, "")
	}
}

// checkDoctorBeside looks at a machine where everything works and is in use.
func checkDoctorBeside(t *testing.T, r *running, dir string) {
	t.Helper()
	cmd := parley(dir, "doctor", "--json")
	cmd.Env = append(cmd.Env, "PARLEY_HTTP_ADDR="+r.addrs["http"], "PARLEY_METRICS_ADDR="+r.addrs["metrics"], "PARLEY_SIP_ADDR="+r.addrs["sip"])
	out, err := cmd.Output()
	var report struct {
		OK     bool
		Checks []doctor.Finding
	}
	if jsonErr := json.Unmarshal(out, &report); err != nil || jsonErr != nil || !report.OK {
		t.Fatalf("%v %v: %s", err, jsonErr, out)
	}
	seen := map[string]doctor.Finding{}
	for _, f := range report.Checks {
		seen[f.Name] = f
	}
	for name, want := range map[string]string{
		"http port": "ok: running Parley", "metrics port": "ok: running Parley", "sip udp port": "ok: running Parley", "sip tcp port": "ok: running Parley",
		"rtp ports": "ok: not tried", "database": "ok: PostgreSQL", "clock": "ok: the database's is", "asr engine": "ok: ", "tts engine": "ok: ",
		"public address": "ok: this machine only", "rate card": "ok: ", "settings": "ok: ", "mail": "ok: off", "storage": "ok: off",
	} {
		status, detail, _ := strings.Cut(want, ": ")
		if f := seen[name]; string(f.Status) != status || !strings.Contains(f.Detail, detail) {
			t.Errorf("%+v, want %s", f, want)
		}
	}
	if code, body := r.get("http", "/readyz"); code != 200 {
		t.Errorf("the server suffered: %d %s", code, body)
	}
}

func TestDoctorIsInterrupted(t *testing.T) {
	for _, name := range []string{"HTTP_ADDR", "METRICS_ADDR", "SIP_ADDR"} {
		t.Setenv("PARLEY_"+name, "127.0.0.1:0")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	root := newRoot()
	root.SetArgs([]string{"doctor"})
	if err := root.ExecuteContext(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v", err)
	}
}
