package ledger_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"parley/store"
	"parley/store/history"
)

// TestCallReplay: what a call is replayed from is there after the call, with the agent's
// settings of today, and gone with the call's recording, whoever came first.
func TestCallReplay(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(0)
	s := f.Start(acc, inboundES)
	if _, err := history.New(f.DB).CallReplay(f.Context(), s.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("before anything is stored: %v", err)
	}
	record := []byte{0x1f, 0x8b, 0, 1, 2}
	f.OK(history.New(f.DB).SaveConversation(f.Context(), acc, s.ID, history.Conversation{Replay: []byte("first")}))
	f.OK(history.New(f.DB).SaveConversation(f.Context(), acc, s.ID, history.Conversation{Replay: record})) // replaces
	f.OK(history.New(f.DB).SaveConversation(f.Context(), acc, s.ID, history.Conversation{}))               // leaves it
	r, err := history.New(f.DB).CallReplay(f.Context(), s.ID)
	f.OK(err)
	if !bytes.Equal(r.Record, record) {
		t.Errorf("%x", r.Record)
	}

	f.OK(history.New(f.DB).BeginRecording(f.Context(), s.ID, "n"))
	f.OK(history.New(f.DB).DeleteRecording(f.Context(), acc, s.ID))
	if _, err := history.New(f.DB).CallReplay(f.Context(), s.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("without the recording: %v", err)
	}
	f.OK(history.New(f.DB).SaveConversation(f.Context(), acc, s.ID, history.Conversation{Replay: record}))
	if _, err := history.New(f.DB).CallReplay(f.Context(), s.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("stored after the recording was deleted: %v", err)
	}
}

// TestReplayKnowsTodaysSettings: what the agent of a call is set to now comes along.
func TestReplayKnowsTodaysSettings(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(0)
	a := f.NewAgent(acc)
	r := f.Request(acc, web)
	r.Agent = a.ID
	s, err := f.StartSession(f.Context(), r)
	f.OK(err)
	f.OK(history.New(f.DB).SaveConversation(f.Context(), acc, s.ID, history.Conversation{Replay: []byte("x")}))
	a.Settings = []byte(`{"min_endpoint_ms": 700}`)
	_, err = f.UpdateAgent(f.At(t0.Add(time.Second)), acc, *a)
	f.OK(err)
	kept, err := history.New(f.DB).CallReplay(f.Context(), s.ID)
	f.OK(err)
	if !strings.Contains(string(kept.Settings), "700") {
		t.Errorf("settings %s", kept.Settings)
	}
	f.OK(f.DeleteAgent(f.Context(), acc, a.ID, 0))
	kept, err = history.New(f.DB).CallReplay(f.Context(), s.ID)
	f.OK(err)
	if kept.Settings != nil || string(kept.Record) != "x" {
		t.Errorf("without the agent %+v", kept)
	}
}
