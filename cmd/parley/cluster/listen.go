package cluster

import (
	"context"
	"fmt"

	"parley/api"
	"parley/media/monitor"
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
