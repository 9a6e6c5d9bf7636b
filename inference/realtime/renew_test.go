package realtime_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"parley/inference"
	"parley/inference/enginetest"
)

var down = &inference.Error{Engine: "fake-realtime", Fault: inference.ErrUnavailable}

// TestRenewalIsTriedAgain: where no other session can be had it is asked for three times, and the old one goes on.
func TestRenewalIsTriedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		refused []error
		want    int // sessions
	}{
		"twice in vain": {[]error{down, down}, 2},
		"in vain":       {[]error{down, down, down}, 1},
		"refused":       {[]error{&inference.Error{Engine: "fake-realtime", Fault: inference.ErrRefused}}, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			engine := enginetest.NewFakeRealtime()
			r := begin(t, engine)
			engine.Refuse(c.refused...)
			old := r.session()
			old.Expire()
			time.Sleep(time.Minute)
			if all := engine.Sessions(); len(all) != c.want || engine.Busy() != 1 {
				t.Fatalf("%s: %d sessions, %d are open", name, len(all), engine.Busy())
			}
			if now := r.session(); now != old && now.Config().After != inference.Session(old) {
				t.Errorf("%s: the session does not know the one before", name)
			}
			if text, _, _ := r.thinks(t, t.Context(), said("hello")); text == "" {
				t.Errorf("%s: no answer", name)
			}
		})
	}
}

// TestRenewedAfterABargeIn: what is left of a reply that was interrupted keeps no session from being replaced.
func TestRenewedAfterABargeIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := enginetest.NewFakeRealtime()
		engine.Replies = []enginetest.RealtimeReply{{Text: "A long story.", Length: 20 * time.Second}}
		r := begin(t, engine)
		r.thinks(t, t.Context(), said("Tell me more."))
		u, err := r.call.TTS().Open(t.Context(), inference.VoiceConfig{})
		if err != nil {
			t.Fatal(err)
		}
		u.Say("A long story.")
		for range 20 {
			<-u.Chunks()
		}
		r.call.Interrupted(1500 * ms)
		u.Cancel()
		for range u.Chunks() {
		}
		r.session().Expire()
		time.Sleep(10 * time.Second)
		if n := len(engine.Sessions()); n != 2 {
			t.Errorf("%d sessions", n)
		}
	})
}

// TestFunctionOutlivesNoSession: a session is not replaced while a function runs, whose result the next one could not place.
func TestFunctionOutlivesNoSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := enginetest.NewFakeRealtime()
		call := inference.ToolCall{ID: "call_1", Name: "look_up", Arguments: "{}"}
		engine.Replies = []enginetest.RealtimeReply{{Tool: &call}, {Text: "It is free.", Length: time.Second}}
		r := begin(t, engine)
		r.thinks(t, t.Context(), said("is the table free"))
		old := r.session()
		old.Expire()
		time.Sleep(10 * time.Second)
		if n := len(engine.Sessions()); n != 1 {
			t.Fatalf("%d sessions while the function runs", n)
		}
		r.thinks(t, t.Context(), said("is the table free"),
			inference.Message{Role: inference.RoleAgent, ToolCalls: []inference.ToolCall{call}},
			inference.Message{Role: inference.RoleTool, ToolCallID: "call_1", Text: "yes"})
		if old.Results()["call_1"] != "yes" {
			t.Error("the session has no result")
		}
		r.speaks(t, "It is free.")
		time.Sleep(10 * time.Second)
		if n := len(engine.Sessions()); n != 2 {
			t.Errorf("%d sessions afterwards", n)
		}
	})
}

// TestSessionsInVain: after three sessions in a row that heard and said nothing the engine counts as one that refuses.
func TestSessionsInVain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := enginetest.NewFakeRealtime()
		r := begin(t, engine)
		r.stream.Close()
		broken := errors.New("1007")
		fails := func(first bool) error {
			stream, err := r.call.ASR().Open(context.WithoutCancel(t.Context()), inference.ASRConfig{})
			if err != nil {
				t.Fatal(err)
			}
			defer stream.Close()
			if first {
				r.thinks(t, t.Context(), said("hello"))
			}
			r.session().Fail(broken)
			var last inference.Result
			for last = range stream.Results() {
			}
			return last.Err
		}
		for _, first := range []bool{true, false, true, false} {
			if err := fails(first); !errors.Is(err, broken) {
				t.Errorf("it gives up: %v", err)
			}
		}
		if err := fails(false); inference.FaultOf(err) != inference.ErrRefused {
			t.Errorf("the third in a row: %v", err)
		}
	})
}
