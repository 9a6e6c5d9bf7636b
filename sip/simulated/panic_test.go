package simulated_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"parley/media/isolate"
	"parley/media/isolate/isolatetest"
	"parley/sip"
	"parley/sip/simulated"
)

// TestPanicEndsItsCall: a phone, or its call, that has a fault ends the call at once, and the
// far end is told; the call beside it goes on.
func TestPanicEndsItsCall(t *testing.T) {
	isolatetest.Each(t, func(t *testing.T, site isolatetest.Site) {
		began := isolatetest.Watch(t)
		var agents [3]*agent
		calls := make(chan *agent, len(agents))
		for i := range agents {
			agents[i] = &agent{tone: 600, done: make(chan struct{})}
			calls <- agents[i]
		}
		ua := server(t, 38000, func(ctx context.Context, in *sip.Incoming) { (<-calls).serve(ctx, in) })
		cfg := simulated.PhoneConfig{URI: "sip:+15550100002@" + ua.Addr().String(), RingTimeout: time.Hour, Wait: time.Hour}
		ctx, hangUp := context.WithCancel(t.Context())
		defer hangUp()
		beside := make(chan error, 1)
		go func() { _, err := simulated.Call(ctx, cfg); beside <- err }()
		isolatetest.Await(t, began)
		fired := isolatetest.Inject(t, site.Name)
		_, err := simulated.Call(t.Context(), cfg)
		if !errors.Is(err, isolate.Internal) {
			t.Errorf("it ended by %v", err)
		}
		<-fired
		until(t, func() bool { return ua.Stats().Calls == 1 })
		select {
		case err := <-beside:
			t.Errorf("the call beside it ended with %v", err)
		default:
		}
		hangUp()
		if err := <-beside; err != nil {
			t.Errorf("the call beside it ended with %v", err)
		}
		until(t, func() bool { return ua.Stats().Calls == 0 })
	})
}

// TestPanicLeavesThePhone: of a phone that makes many calls, the call that has a fault is
// hung up, and the phone calls again.
func TestPanicLeavesThePhone(t *testing.T) {
	ua := server(t, 38200, func(ctx context.Context, in *sip.Incoming) {
		(&agent{tone: 600, done: make(chan struct{})}).serve(ctx, in)
	})
	phone, err := simulated.NewPhone(loopback)
	if err != nil {
		t.Fatal(err)
	}
	running, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- phone.Run(running) }()
	defer func() { stop(); <-done }()
	cfg := simulated.PhoneConfig{URI: "sip:+15550100002@" + ua.Addr().String(), Phone: phone}
	fired := isolatetest.Inject(t, "sip/simulated/leg")
	if _, err := simulated.Call(t.Context(), cfg); !errors.Is(err, isolate.Internal) {
		t.Errorf("it ended by %v", err)
	}
	<-fired
	until(t, func() bool { return ua.Stats().Calls == 0 })
	if _, err := simulated.Call(t.Context(), cfg); err != nil {
		t.Errorf("the next call: %v", err)
	}
}

func until(t *testing.T, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it never came")
		}
	}
}
