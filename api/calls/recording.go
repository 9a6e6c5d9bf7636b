package calls

import (
	"context"
	"errors"

	"parley/api/wire"
	"parley/store"
)

// recordingOf is the recording of a call of the account; nil: it was not recorded.
func (m *calls) recordingOf(ctx context.Context, account, id string) (*wire.CallRecording, error) {
	r, err := m.history.Recording(ctx, account, id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	v := &wire.CallRecording{State: string(r.State), Duration: r.Length.Seconds(), Bytes: r.Bytes, DeletedAt: r.DeletedAt}
	if r.Format != "" {
		v.Format = &r.Format
	}
	if r.DeletedBy != "" {
		v.DeletedBy = &r.DeletedBy
	} else {
		v.ExpiresAt = &r.ExpiresAt
	}
	return v, nil
}
