package client_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"parley/api/talk"
	"parley/api/wsagent/client"
	"parley/media"
)

// TestSessionComesBack: a conversation whose server restarts is begun anew after a second, with what it began with, and
// ends with its context.
func TestSessionComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var talks atomic.Int32
		h := &house{converse: func(ctx context.Context, c talk.Change, leg talk.Leg) {
			leg.Status("prompt_set", 0)
			if talks.Add(1) == 1 {
				var stop context.CancelFunc
				ctx, stop = context.WithTimeout(ctx, 40*time.Second)
				defer stop()
			}
			_ = leg.Run(ctx)
		}}
		url, dialer := open(t, h, true)
		ctx, end := context.WithCancel(t.Context())
		var lost []client.Closed
		var s *client.Session
		s = client.NewSession(url, goodKey, "agt_1", client.SessionOptions{
			OnLost: func(c client.Closed) {
				lost = append(lost, c)
				if err := s.SendText("anybody there?"); !errors.Is(err, client.ErrLost) {
					t.Errorf("a turn while there is no connection: %v", err)
				}
			},
			Options: client.Options{Dialer: dialer, OnEvent: func(e client.Event) {
				if e.Kind == client.Status && e.Text == "prompt_set" && talks.Load() == 2 {
					if err := s.SendText("back again"); err != nil {
						t.Error(err)
					}
				}
			}},
		})
		done := make(chan error, 1)
		go func() { done <- s.Run(ctx) }()
		if said := <-h.told; said != "type back again" {
			t.Errorf("the second conversation heard %q", said)
		}
		end()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if len(lost) != 1 || lost[0].Code != 1001 || !slices.Equal(h.asked, []string{"agt_1", "agt_1"}) {
			t.Errorf("lost %+v, asked for %q", lost, h.asked)
		}
	})
}

// TestSessionEnds: what is not tried again, and what is tried five times in a row.
func TestSessionEnds(t *testing.T) {
	for _, tt := range []struct {
		name   string
		key    string
		talks  func(context.Context, talk.Change, talk.Leg)
		lost   int
		status int // of the refusal; 0: it is none
		code   int // of the end; 0: it is none
	}{
		{"the agent hangs up", goodKey, func(ctx context.Context, _ talk.Change, leg talk.Leg) {
			ctx, hangUp := context.WithCancelCause(ctx)
			hangUp(&media.Ended{Reason: media.AgentHangup})
			_ = leg.Run(ctx)
		}, 0, 0, 0},
		{"a wrong key", "sk_wrong", nil, 0, 401, 0},
		{"a server that always restarts", goodKey, func(ctx context.Context, _ talk.Change, leg talk.Leg) {
			ctx, stop := context.WithCancel(ctx)
			stop()
			_ = leg.Run(ctx)
		}, 5, 0, 1001},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				url, dialer := open(t, &house{converse: tt.talks}, true)
				lost := 0
				s := client.NewSession(url, tt.key, "agt_1", client.SessionOptions{
					OnLost: func(client.Closed) { lost++ }, Options: client.Options{Dialer: dialer}})
				err := s.Run(t.Context())
				var refused *client.Refused
				var ended *client.EndedError
				switch {
				case tt.status != 0 && (!errors.As(err, &refused) || refused.Status != tt.status),
					tt.code != 0 && (!errors.As(err, &ended) || ended.Code != tt.code),
					tt.status == 0 && tt.code == 0 && err != nil:
					t.Errorf("it ends with %v", err)
				}
				if lost != tt.lost {
					t.Errorf("it was tried again %d times", lost)
				}
			})
		})
	}
}
