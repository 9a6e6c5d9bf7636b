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
	acc := f.account(0)
	s := f.start(acc, inboundES)
	if _, err := history.New(f.DB).CallReplay(f.ctx(), s.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("before anything is stored: %v", err)
	}
	record := []byte{0x1f, 0x8b, 0, 1, 2}
	f.ok(history.New(f.DB).SaveConversation(f.ctx(), acc, s.ID, history.Conversation{Replay: []byte("first")}))
	f.ok(history.New(f.DB).SaveConversation(f.ctx(), acc, s.ID, history.Conversation{Replay: record})) // replaces
	f.ok(history.New(f.DB).SaveConversation(f.ctx(), acc, s.ID, history.Conversation{}))               // leaves it
	r, err := history.New(f.DB).CallReplay(f.ctx(), s.ID)
	f.ok(err)
	if !bytes.Equal(r.Record, record) {
		t.Errorf("%x", r.Record)
	}

	f.ok(history.New(f.DB).BeginRecording(f.ctx(), s.ID, "n"))
	f.ok(history.New(f.DB).DeleteRecording(f.ctx(), acc, s.ID))
	if _, err := history.New(f.DB).CallReplay(f.ctx(), s.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("without the recording: %v", err)
	}
	f.ok(history.New(f.DB).SaveConversation(f.ctx(), acc, s.ID, history.Conversation{Replay: record}))
	if _, err := history.New(f.DB).CallReplay(f.ctx(), s.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("stored after the recording was deleted: %v", err)
	}
}

// TestReplayKnowsTodaysSettings: what the agent of a call is set to now comes along.
func TestReplayKnowsTodaysSettings(t *testing.T) {
	f := setup(t)
	acc := f.account(0)
	a := f.agent(acc)
	r := f.request(acc, web)
	r.Agent = a.ID
	s, err := f.StartSession(f.ctx(), r)
	f.ok(err)
	f.ok(history.New(f.DB).SaveConversation(f.ctx(), acc, s.ID, history.Conversation{Replay: []byte("x")}))
	a.Settings = []byte(`{"min_endpoint_ms": 700}`)
	_, err = f.UpdateAgent(f.at(t0.Add(time.Second)), acc, *a)
	f.ok(err)
	kept, err := history.New(f.DB).CallReplay(f.ctx(), s.ID)
	f.ok(err)
	if !strings.Contains(string(kept.Settings), "700") {
		t.Errorf("settings %s", kept.Settings)
	}
	f.ok(f.DeleteAgent(f.ctx(), acc, a.ID, 0))
	kept, err = history.New(f.DB).CallReplay(f.ctx(), s.ID)
	f.ok(err)
	if kept.Settings != nil || string(kept.Record) != "x" {
		t.Errorf("without the agent %+v", kept)
	}
}
