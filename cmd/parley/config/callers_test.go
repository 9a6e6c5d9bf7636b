package config_test

import (
	"net/netip"
	"testing"

	"parley/cmd/parley/config"
)

// Without the simulated carrier not even this machine may call without a trunk.
func TestWhoMayCall(t *testing.T) {
	for _, tt := range []struct {
		carrier, source string
		want            bool
	}{{"simulated", "127.0.0.1", true}, {"sip", "127.0.0.1", false}, {"sip", "10.1.2.3", true}, {"simulated", "10.1.2.3", true},
		{"simulated", "192.0.2.1", false}, {"sip", "::ffff:10.1.2.3", true}} {
		cfg := &config.Config{Carrier: tt.carrier, SIPAllow: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}
		if got := cfg.TakesCallsFrom(netip.MustParseAddr(tt.source)); got != tt.want {
			t.Errorf("%s with %s: %v", tt.source, tt.carrier, got)
		}
	}
}
