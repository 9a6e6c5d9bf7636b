package outbound

import (
	"context"
	"errors"
	"testing"

	"parley/media"
	"parley/sip"
)

// Who hung up counts before what the telephone network says of it.
func TestNotReached(t *testing.T) {
	crossed := &sip.NotAnswered{Err: &media.Ended{Reason: media.Failed, Detail: sip.AnsweredAfterCancel}}
	hungUp, drained := &media.Ended{Reason: media.APIHangup}, &media.Ended{Reason: media.APIHangup, Detail: "drain"}
	for _, tt := range []struct {
		why  *media.Ended
		err  error
		want media.Ended
	}{
		{nil, &sip.NotAnswered{Code: 486}, media.Ended{Reason: media.Busy}},
		{nil, &sip.NotAnswered{Err: context.DeadlineExceeded}, media.Ended{Reason: media.NoAnswer}},
		{nil, errors.New("no trunk"), media.Ended{Reason: media.Failed, Detail: "carrier_unavailable"}},
		{nil, crossed, media.Ended{Reason: media.Failed, Detail: "answered_after_cancel"}},
		{hungUp, &sip.NotAnswered{Code: 487}, *hungUp},
		{hungUp, crossed, media.Ended{Reason: media.APIHangup, Detail: "answered_after_cancel"}},
		{drained, crossed, *drained},
	} {
		if got := notReached(tt.why, tt.err); got != tt.want {
			t.Errorf("%v, %v: %+v, want %+v", tt.why, tt.err, got, tt.want)
		}
	}
}
