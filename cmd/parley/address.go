package main

import (
	"context"
	"time"
)

// discoverEvery is how often a STUN server is asked whether others still see us where they did.
const discoverEvery = time.Minute

// discover learns our public address from the STUN server of the settings, where it is needed, and begins to watch it.
func (s *server) discover(ctx context.Context) error {
	asked, err := s.cfg.Discover(ctx)
	if err != nil || !asked {
		return err
	}
	s.log.Info("found the public address", "addr", s.cfg.PublicIP.String(), "stun", s.cfg.STUNAddr)
	s.life.run("stun", func(ctx context.Context) error {
		s.watchAddress(ctx, time.Tick(discoverEvery))
		return nil
	})
	return nil
}

// watchAddress says each new address at which others see us. Calls and sessions are still described with the first one: a new one
// takes effect with a restart, since media over WebRTC is bound to it.
func (s *server) watchAddress(ctx context.Context, tick <-chan time.Time) {
	said := s.cfg.PublicIP
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick:
		}
		at, err := s.cfg.Seen(ctx)
		if err != nil || at == said { // without an answer nothing is known to have changed
			continue
		}
		if said = at; at != s.cfg.PublicIP {
			s.log.Warn("others see this server at another address than it tells them; restart it", "told", s.cfg.PublicIP.String(), "seen", at.String())
		}
	}
}
