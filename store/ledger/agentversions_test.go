package ledger_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"parley/store"
	"parley/store/history"
)

// Every change leaves a version; what belongs to somebody else has none, nor has what
// is gone.
func TestAgentVersions(t *testing.T) {
	f := setup(t)
	mine, theirs := f.NewAccount(0), f.NewAccount(0)
	a, other := f.NewAgent(mine), f.NewAgent(theirs)
	for i, prompt := range []string{"one", "two", "three"} {
		a.Prompt = prompt
		var err error
		a, err = f.UpdateAgent(f.At(t0.Add(time.Duration(i+1)*time.Minute)), mine, *a)
		f.OK(err)
	}
	stale := *a
	stale.Version, stale.Prompt = 2, "late"
	if _, err := f.UpdateAgent(f.Context(), mine, stale); !errors.Is(err, store.ErrVersion) {
		t.Errorf("a change of a version that is past: %v", err)
	}
	list, err := f.AgentVersions(f.Context(), mine, a.ID, 0, 0)
	f.OK(err)
	if len(list) != 4 || list[0].Version != 4 || list[0].Prompt != "three" || list[3].Version != 1 || list[3].Prompt != "" || list[3].Name != "Ana" ||
		!list[0].UpdatedAt.Equal(t0.Add(3*time.Minute)) || !list[0].CreatedAt.Equal(t0) {
		t.Errorf("versions are %+v", list)
	}
	page, err := f.AgentVersions(f.Context(), mine, a.ID, 4, 2)
	f.OK(err)
	if len(page) != 2 || page[0].Version != 3 || page[1].Version != 2 {
		t.Errorf("a page of them is %+v", page)
	}
	second, err := f.AgentVersion(f.Context(), mine, a.ID, 2)
	f.OK(err)
	if second.Prompt != "one" || second.ID != a.ID {
		t.Errorf("the second is %+v", second)
	}
	for _, id := range []string{other.ID, "ag_nobody"} {
		if list, err := f.AgentVersions(f.Context(), mine, id, 0, 0); err != nil || len(list) != 0 {
			t.Errorf("versions of %s: %v, %v", id, list, err)
		}
	}
	for _, version := range []int64{0, 5, -1} {
		if _, err := f.AgentVersion(f.Context(), mine, a.ID, version); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("version %d: %v", version, err)
		}
	}
	f.OK(f.DeleteAgent(f.Context(), mine, a.ID, 4))
	if _, err := f.AgentVersion(f.Context(), mine, a.ID, 1); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a version of what is gone: %v", err)
	}
}

// TestUnchangedAgentsKeepTheirVersion: the same document, written with other spaces, makes no version.
func TestUnchangedAgentsKeepTheirVersion(t *testing.T) {
	f := setup(t)
	account := f.NewAccount(0)
	a := f.NewAgent(account)
	a.Tools = json.RawMessage(`[{"type":"function","function":{"name":"book","parameters":{"z":1,"a":2}}}]`)
	a.Settings = json.RawMessage(`{"speed":1.5,"record":true}`)
	a, err := f.UpdateAgent(f.At(t0.Add(time.Minute)), account, *a)
	f.OK(err)
	same := *a
	same.Settings = json.RawMessage(`{ "record": true, "speed": 1.5 }`)
	saved, err := f.UpdateAgent(f.At(t0.Add(2*time.Minute)), account, same)
	f.OK(err)
	if saved.Version != a.Version || !saved.UpdatedAt.Equal(a.UpdatedAt) {
		t.Errorf("version %d of %v, want %d of %v", saved.Version, saved.UpdatedAt, a.Version, a.UpdatedAt)
	}
	if list, err := f.AgentVersions(f.Context(), account, a.ID, 0, 0); err != nil || len(list) != 2 {
		t.Errorf("%d versions, %v", len(list), err)
	}
	same.Version = 1
	if _, err := f.UpdateAgent(f.Context(), account, same); !errors.Is(err, store.ErrVersion) {
		t.Errorf("the same over a version that is past: %v", err)
	}
	same.Version, same.Tools = 0, json.RawMessage(`[{"type":"function","function":{"name":"book","parameters":{"a":2,"z":1}}}]`)
	if saved, err = f.UpdateAgent(f.Context(), account, same); err != nil || saved.Version != 3 {
		t.Errorf("parameters in another order: %+v, %v", saved, err)
	}
}

// A call says with which version it runs.
func TestCallsNameTheVersion(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(0)
	a := f.NewAgent(acc)
	for _, version := range []int64{0, 1} {
		r := f.Request(acc, web)
		r.Agent, r.AgentVersion = a.ID, version
		s, err := f.StartSession(f.Context(), r)
		f.OK(err)
		c, err := history.New(f.DB).Call(f.Context(), acc, s.ID)
		f.OK(err)
		if version == 0 && c.AgentVersion != nil || version == 1 && (c.AgentVersion == nil || *c.AgentVersion != 1) {
			t.Errorf("the call with version %d says %v", version, c.AgentVersion)
		}
	}
}
