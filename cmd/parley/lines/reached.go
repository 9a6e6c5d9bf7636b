package lines

import (
	"net/url"

	"parley/api/trunks/preset"
	"parley/cmd/parley/config"
)

// Reached is where exchanges and carriers reach a server, as far as its settings say it.
func Reached(cfg *config.Config) (s preset.Server) {
	s.Base = cfg.BaseURL
	if base, err := url.Parse(cfg.BaseURL); err == nil {
		s.Host = base.Hostname()
	}
	if cfg.PublicIP.IsValid() {
		s.Host = cfg.PublicIP.String()
	}
	for addr, to := range map[string]*int{cfg.SIPAddr: &s.Port, cfg.SIPTLSAddr: &s.TLSPort} {
		if at, err := config.Listening(addr); err == nil {
			*to = int(at.Port())
		}
	}
	return s
}
