package calls

import (
	"context"
	"errors"
	"time"

	"parley/store"
)

// CallRecording is the recording of a call.
type CallRecording struct {
	State     string     `json:"state" doc:"Status of the recording; failed has no audio." enum:"recording,encoding,ready,failed,deleted" example:"ready"`
	Duration  float64    `json:"duration" doc:"Seconds; 0 before it has ended." example:"193.4"`
	Format    *string    `json:"format" doc:"What it is kept as; null until it is ready." enum:"ogg,wav" example:"ogg"`
	Bytes     int64      `json:"bytes" doc:"Size of the file." example:"1160400"`
	ExpiresAt *time.Time `json:"expires_at" doc:"Until when it is kept; null: it is not any more."`
	DeletedAt *time.Time `json:"deleted_at" doc:"When it was deleted; null: it was not."`
	DeletedBy *string    `json:"deleted_by" doc:"Somebody's request, or because the account had kept it long enough." enum:"request,expiry" example:"expiry"`
}

// recordingOf is the recording of a call of the account; nil: it was not recorded.
func (m *calls) recordingOf(ctx context.Context, account, id string) (*CallRecording, error) {
	r, err := m.history.Recording(ctx, account, id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	v := &CallRecording{State: string(r.State), Duration: r.Length.Seconds(), Bytes: r.Bytes, DeletedAt: r.DeletedAt}
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
