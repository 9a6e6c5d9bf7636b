package sounds_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/billing"
	"parley/store"
	"parley/store/ledger"
	"parley/store/sounds"
	"parley/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// fixture is a database with sounds, and helpers that end the test when they fail.
type fixture struct {
	*sounds.Store
	db *store.DB
	t  testing.TB
}

func setup(t testing.TB) *fixture {
	t.Helper()
	db := storetest.New(t)
	f := &fixture{sounds.New(db), db, t}
	f.ok(db.PutRateCard(f.ctx(), billing.DefaultRateCard()))
	return f
}

func (f *fixture) ctx() context.Context { return f.t.Context() }

func (f *fixture) ok(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) is(what string, err, want error) {
	f.t.Helper()
	if !errors.Is(err, want) {
		f.t.Errorf("%s: %v, want %v", what, err, want)
	}
}

func (f *fixture) account() string {
	f.t.Helper()
	a, err := ledger.New(f.db).CreateAccount(f.ctx(), "Test", billing.DefaultRateCard())
	f.ok(err)
	return a.ID
}

// TestSounds: an account has sounds, which nobody else reads, lists or deletes, also not out of the cache.
func TestSounds(t *testing.T) {
	f := setup(t)
	ours, other := f.account(), f.account()
	codes := bytes.Repeat([]byte{1, 2, 3, 4}, 3000)
	s, err := f.Add(f.ctx(), ours, " Waltz ", codes)
	f.ok(err)
	if !strings.HasPrefix(s.ID, store.SoundID) || s.Name != "Waltz" || s.Duration() != 1500*time.Millisecond {
		t.Errorf("%+v", s)
	}
	for range 2 { // the second time from memory
		got, err := f.Codes(f.ctx(), ours, s.ID)
		f.ok(err)
		if !bytes.Equal(got, codes) {
			t.Error("the audio is another")
		}
		_, err = f.Codes(f.ctx(), other, s.ID)
		f.is("another account's audio", err, store.ErrNotFound)
	}
	_, err = f.Audio(f.ctx(), other, s.ID)
	f.is("another account's audio", err, store.ErrNotFound)
	_, err = f.Get(f.ctx(), other, s.ID)
	f.is("another account's", err, store.ErrNotFound)
	f.is("delete another account's", f.Delete(f.ctx(), other, s.ID), store.ErrNotFound)
	list, err := f.List(f.ctx(), other, store.Page{})
	f.ok(err)
	if len(list) != 0 {
		t.Errorf("the other account has %+v", list)
	}
	f.ok(f.Delete(f.ctx(), ours, s.ID))
	_, err = f.Codes(f.ctx(), ours, s.ID)
	f.is("what was deleted", err, store.ErrNotFound)
}

// TestLimits: names, lengths and numbers of sounds are bounded, and the cache gives each its own audio when it is full, too.
func TestLimits(t *testing.T) {
	f := setup(t)
	account := f.account()
	for _, name := range []string{"", " ", "a\nb", strings.Repeat("x", 101), "\xff"} {
		_, err := f.Add(f.ctx(), account, name, []byte{1})
		f.is("a name", err, store.ErrInvalid)
	}
	for _, codes := range [][]byte{nil, make([]byte, 180*8000+1)} {
		_, err := f.Add(f.ctx(), account, "Waltz", codes)
		f.is("a length", err, store.ErrInvalid)
	}
	_, err := f.Add(f.ctx(), "acc_none", "Waltz", []byte{1})
	f.is("no account", err, store.ErrNotFound)
	var ids []string
	for i := range sounds.MaxSounds {
		s, err := f.Add(f.ctx(), account, "Waltz", bytes.Repeat([]byte{byte(i)}, 160))
		f.ok(err)
		ids = append(ids, s.ID)
	}
	_, err = f.Add(f.ctx(), account, "Waltz", []byte{1})
	f.is("one too many", err, store.ErrInvalid)
	for range 2 {
		for i, id := range ids {
			got, err := f.Codes(f.ctx(), account, id)
			f.ok(err)
			if len(got) != 160 || got[0] != byte(i) {
				t.Errorf("sound %d has the audio of another", i)
			}
		}
	}
	slices.Sort(ids) // those of one millisecond have no order
	list, err := f.List(f.ctx(), account, store.Page{Limit: 5, After: ids[5]})
	f.ok(err)
	if len(list) != 5 || list[0].ID != ids[4] {
		t.Errorf("%+v", list)
	}
}
