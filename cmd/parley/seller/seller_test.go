package seller

import (
	"testing"

	"parley/cmd/parley/config"
)

// TestOpen: Telnyx sends messages only with a messaging profile, the simulated carrier does always, and trunks never do.
func TestOpen(t *testing.T) {
	telnyx := config.Config{Carrier: "telnyx", TelnyxAPIKey: "KEY0", TelnyxPublicKey: "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=", TelnyxConnectionID: "1", BaseURL: "https://parley.example/"}
	profiled := telnyx
	profiled.TelnyxMessagingProfile = "4000eba1-a0c0-4563-9925-b25e842a7cb6"
	for _, tt := range []struct {
		cfg   config.Config
		name  string
		texts bool
	}{
		{config.Config{Carrier: "simulated"}, "simulated", true}, {telnyx, "telnyx", false}, {profiled, "telnyx", true}, {config.Config{Carrier: "sip"}, "sip", false},
	} {
		c, texts, err := Open(&tt.cfg, t.TempDir())
		if err != nil || c.Name() != tt.name || (texts != nil) != tt.texts {
			t.Errorf("%s: %v, %v, %v", tt.name, c, texts, err)
		}
	}
	telnyx.TelnyxAPIKey = ""
	if _, _, err := Open(&telnyx, t.TempDir()); err == nil {
		t.Error("without a key")
	}
	if got := webhook(&telnyx); got != "https://parley.example/hooks/telnyx" {
		t.Errorf("Telnyx is sent to %s", got)
	}
}
