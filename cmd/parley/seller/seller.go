// Package seller opens the carrier that the settings name: who sells telephone numbers, and whose
// numbers send and receive text messages.
package seller

import (
	"fmt"
	"path/filepath"
	"strings"

	"parley/cmd/parley/config"
	"parley/sip/carrier"
	"parley/sip/carrier/simulated"
	"parley/sip/carrier/telnyx"
	"parley/sip/carrier/trunk"
)

// Open returns the configured carrier, which keeps its files in a directory, and the same as a messenger where text messages
// are set up; nil: they are not.
func Open(cfg *config.Config, dir string) (c carrier.Carrier, texts carrier.Messenger, err error) {
	switch cfg.Carrier {
	case "simulated":
		var s *simulated.Carrier
		s, err = simulated.New(simulated.Config{File: filepath.Join(dir, "simulated-numbers.json")})
		c, texts = s, s
	case "telnyx":
		var t *telnyx.Carrier
		t, err = telnyx.New(telnyx.Config{APIKey: cfg.TelnyxAPIKey, PublicKey: cfg.TelnyxPublicKey, ConnectionID: cfg.TelnyxConnectionID,
			MessagingProfile: cfg.TelnyxMessagingProfile, Webhook: webhook(cfg)})
		if c = t; cfg.TelnyxMessagingProfile != "" {
			texts = t
		}
	case "sip":
		var numbers []string
		for _, t := range cfg.Trunks {
			numbers = append(numbers, t.Numbers...)
		}
		c, err = trunk.New(numbers)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("carrier: %w", err)
	}
	return c, texts, nil
}

// webhook is where Telnyx reaches this server; empty: the settings do not say it, and its messaging profile has to.
func webhook(cfg *config.Config) string {
	if cfg.BaseURL == "" {
		return ""
	}
	return strings.TrimSuffix(cfg.BaseURL, "/") + "/hooks/telnyx"
}
