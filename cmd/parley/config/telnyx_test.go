package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const trunkOfTelnyx = "trunks:\n  - name: telnyx\n    targets:\n      - host: sip.telnyx.example\n"

// telnyx is a complete environment, with one line changed: NAME=VALUE, or NAME= to
// take it away.
func telnyx(change string) (env []string) {
	name, value, _ := strings.Cut(change, "=")
	for _, line := range []string{
		"PARLEY_CARRIER=telnyx", "PARLEY_PAYMENTS=none", "PARLEY_TELNYX_API_KEY=KEY0_hunter2",
		"PARLEY_TELNYX_PUBLIC_KEY=AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=", "PARLEY_TELNYX_CONNECTION_ID=1494404757140276705",
	} {
		if !strings.HasPrefix(line, name+"=") || name == "" {
			env = append(env, line)
		}
	}
	if value != "" {
		env = append(env, change)
	}
	return env
}

func TestTelnyx(t *testing.T) {
	file := write(t, trunkOfTelnyx)
	c, warnings, err := Load(Sources{Env: telnyx(""), File: file})
	if err != nil || len(warnings) != 0 {
		t.Fatal(err, warnings)
	}
	if c.TelnyxAPIKey != "KEY0_hunter2" || len(c.TelnyxPublicKey) != 44 || c.TelnyxConnectionID != "1494404757140276705" || !c.Telephony() {
		t.Errorf("%+v", c)
	}
	for _, s := range c.Shown() {
		if strings.Contains(s.Value, "hunter2") {
			t.Errorf("%s shows the key", s.Key)
		}
	}
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte("KEY1_hunter2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, _, err = Load(Sources{Env: append(telnyx("PARLEY_TELNYX_API_KEY="), "PARLEY_TELNYX_API_KEY_FILE="+key), File: file})
	if err != nil || c.TelnyxAPIKey != "KEY1_hunter2" {
		t.Errorf("from a file: %v", err)
	}
}

// Half a configuration is refused, and so is play money.
func TestTelnyxIsComplete(t *testing.T) {
	for _, tt := range []struct{ change, want string }{
		{"PARLEY_TELNYX_API_KEY=", "PARLEY_TELNYX_API_KEY: PARLEY_CARRIER=telnyx needs it; allowed: KEY..."},
		{"PARLEY_TELNYX_PUBLIC_KEY=", "PARLEY_TELNYX_PUBLIC_KEY: PARLEY_CARRIER=telnyx needs it"},
		{"PARLEY_TELNYX_CONNECTION_ID=", "PARLEY_TELNYX_CONNECTION_ID: PARLEY_CARRIER=telnyx needs it"},
		{"PARLEY_TELNYX_API_KEY=hunter2", "PARLEY_TELNYX_API_KEY: this value is not allowed; allowed: an API key"},
		{"PARLEY_TELNYX_API_KEY=KEY hunter2", "PARLEY_TELNYX_API_KEY: this value is not allowed"},
		{"PARLEY_TELNYX_PUBLIC_KEY=c2hvcnQ=", "PARLEY_TELNYX_PUBLIC_KEY: \"c2hvcnQ=\" is not allowed"},
		{"PARLEY_TELNYX_CONNECTION_ID=main", "PARLEY_TELNYX_CONNECTION_ID: \"main\" is not allowed"},
		{"PARLEY_TELNYX_MESSAGING_PROFILE=main", "PARLEY_TELNYX_MESSAGING_PROFILE: \"main\" is not allowed"},
		{"PARLEY_PAYMENTS=simulated", "PARLEY_PAYMENTS: simulated payments do not pay a real carrier"},
	} {
		_, _, err := Load(Sources{Env: telnyx(tt.change), File: write(t, trunkOfTelnyx)})
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) || strings.ContainsAny(err.Error(), "\r\n") || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v, want %q", tt.change, err, tt.want)
		}
	}
	// Settings of a carrier that is not chosen may lie there.
	if _, _, err := Load(Sources{Env: telnyx("PARLEY_CARRIER=none")}); err != nil {
		t.Error(err)
	}
}
