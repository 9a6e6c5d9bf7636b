package cluster

import (
	"context"
	"errors"
	"fmt"

	"parley/api"
	"parley/api/listenin"
	"parley/media"
	"parley/media/monitor"
	"parley/pipeline"
	"parley/pipeline/bridge"
	"parley/store"
)

// Listen implements listenin.Calls, for calls of this node.
func (m *Member) Listen(ctx context.Context, account, call string) (*monitor.Listener, error) {
	l, here, err := m.cfg.Calls.Listen(account, call)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", api.ErrSilent, err)
	case here:
		return l, nil
	}
	owner, err := m.cfg.Ledger.CallOwner(ctx, account, call)
	switch {
	case err != nil:
		return nil, err
	case owner == store.Node{} || owner == m.cfg.Life: // it has ended meanwhile
		return nil, api.ErrSilent
	}
	return nil, api.ErrElsewhere
}

// Conversation implements listenin.Calls.
func (m *Member) Conversation(account, call string) listenin.Conversation {
	if c := m.cfg.Calls.Conversation(account, call); c != nil {
		return conversation{c}
	}
	return nil
}

// conversation implements listenin.Conversation.
type conversation struct{ *pipeline.Call }

// StepIn implements listenin.Conversation.
func (c conversation) StepIn(ctx context.Context, credential string, rate media.Rate) (listenin.Supervisor, error) {
	return speaks(ctx, c.Supervisor(credential, rate), api.ErrNotTalking)
}

// Coach implements listenin.Conversation.
func (c conversation) Coach(ctx context.Context, credential string, rate media.Rate) (listenin.Supervisor, error) {
	return speaks(ctx, c.Call.Coach(credential, rate), api.ErrNoColleague)
}

// speaks has somebody speak; absent is the error where nobody would hear them.
func speaks(ctx context.Context, s *bridge.Supervisor, absent error) (listenin.Supervisor, error) {
	err := s.StepIn(ctx)
	switch {
	case errors.Is(err, bridge.ErrSupervised):
		return nil, fmt.Errorf("%w: %w", api.ErrSupervised, err)
	case errors.Is(err, bridge.ErrNotTalking):
		return nil, fmt.Errorf("%w: %w", absent, err)
	case err != nil:
		return nil, err
	}
	return s, nil
}
