package ice_test

import (
	"context"
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/pion/stun/v4"

	"parley/media/ice"
	"parley/media/ice/icetest"
)

func TestDiscover(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(int, *stun.Message) *stun.Message{
		"at once": func(_ int, req *stun.Message) *stun.Message { return icetest.Seen(req, "203.0.113.7") },
		"the first question is lost": func(n int, req *stun.Message) *stun.Message {
			if n == 1 {
				return nil
			}
			return icetest.Seen(req, "203.0.113.7")
		},
		"another's answer comes first": func(n int, req *stun.Message) *stun.Message {
			if n == 1 {
				return icetest.Seen(stun.MustBuild(stun.TransactionID, stun.BindingRequest), "198.51.100.1")
			}
			return icetest.Seen(req, "203.0.113.7")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if at, err := ice.Discover(t.Context(), icetest.Server(t, answer)); err != nil || at != netip.MustParseAddr("203.0.113.7") {
				t.Errorf("%s, %v", at, err)
			}
		})
	}
}

// One that refuses, or says nothing, is no answer; who asks waits no longer than wanted.
func TestDiscoverWithoutAnswer(t *testing.T) {
	t.Parallel()
	for name, server := range map[string]string{
		"silent": icetest.Server(t, func(int, *stun.Message) *stun.Message { return nil }),
		"refuses": icetest.Server(t, func(_ int, req *stun.Message) *stun.Message {
			return stun.MustBuild(stun.NewTransactionIDSetter(req.TransactionID), stun.BindingError, stun.CodeServerError)
		}),
		"no name": "stun.invalid:3478",
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 700*time.Millisecond)
		at, err := ice.Discover(ctx, server)
		cancel()
		if !errors.Is(err, ice.ErrNoAddress) || at.IsValid() {
			t.Errorf("%s: %s, %v", name, at, err)
		}
	}
}
