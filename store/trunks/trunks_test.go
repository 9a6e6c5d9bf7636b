package trunks_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"parley/billing"
	"parley/store"
	"parley/store/ledger"
	"parley/store/numbers"
	"parley/store/people"
	"parley/store/storetest"
	"parley/store/trunks"
)

func TestMain(m *testing.M) { storetest.Main(m) }

type fixture struct {
	*trunks.Store
	db *store.DB
	t  *testing.T
}

func setup(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{db: storetest.New(t), t: t}
	f.ok(f.db.PutRateCard(t.Context(), billing.DefaultRateCard()))
	f.Store = trunks.New(f.db, f.vault("a master secret of a test, long enough"))
	return f
}

func (f *fixture) vault(master string) *people.Vault {
	v, err := people.NewVault(f.db, master)
	f.ok(err)
	return v
}

func (f *fixture) ok(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) is(err, want error) {
	f.t.Helper()
	if !errors.Is(err, want) {
		f.t.Errorf("%v; want %v", err, want)
	}
}

func (f *fixture) account() string {
	f.t.Helper()
	a, err := ledger.New(f.db).CreateAccount(f.t.Context(), "Test", billing.DefaultRateCard())
	f.ok(err)
	return a.ID
}

func draft(name string, sources ...string) trunks.Draft {
	d := trunks.Draft{Name: name, Settings: json.RawMessage(`{"country": "DE"}`), Secrets: trunks.Secrets{Password: "open sesame"}, Sources: []netip.Prefix{}}
	for _, s := range sources {
		d.Sources = append(d.Sources, netip.MustParsePrefix(s))
	}
	return d
}

// A trunk is its account's, and nobody else reads it; its secrets are sealed; and each change can be noticed.
func TestTrunks(t *testing.T) {
	f := setup(t)
	mine, theirs := f.account(), f.account()
	mark := func() trunks.Mark {
		t.Helper()
		m, err := f.Mark(t.Context())
		f.ok(err)
		return m
	}
	empty := mark()
	made, err := f.Create(t.Context(), mine, draft("pbx", "192.0.2.1/32"))
	f.ok(err)
	created := mark()
	if secrets, err := f.Secrets(made); err != nil || secrets.Password != "open sesame" || secrets.Inbound != "" {
		t.Errorf("%+v, %v", secrets, err)
	}
	if bytes.Contains(made.Sealed, []byte("sesame")) {
		t.Error("a password is stored as it is")
	}
	for _, key := range []string{made.ID, "pbx"} {
		if got, err := f.Get(t.Context(), mine, key); err != nil || got.ID != made.ID || got.Name != "pbx" {
			t.Errorf("%s: %+v, %v", key, got, err)
		}
		if got, err := f.Find(t.Context(), key); (key == made.ID) != (err == nil) || err == nil && got.Account != mine {
			t.Errorf("%s, whosever it is: %+v, %v", key, got, err)
		}
		_, err := f.Get(t.Context(), theirs, key)
		f.is(err, store.ErrNotFound)
	}
	_, err = f.Create(t.Context(), mine, draft("pbx"))
	f.is(err, store.ErrInvalid)
	_, err = f.Create(t.Context(), "acc_x", draft("pbx"))
	f.is(err, store.ErrNotFound)
	_, err = f.Create(t.Context(), theirs, draft("pbx"))
	f.ok(err)

	_, err = f.Replace(t.Context(), theirs, made.ID, draft("stolen"))
	f.is(err, store.ErrNotFound)
	f.is(f.Delete(t.Context(), theirs, made.ID), store.ErrNotFound)
	changed := draft("office", "192.0.2.2/32")
	changed.Secrets = trunks.Secrets{}
	after, err := f.Replace(t.Context(), mine, made.ID, changed)
	f.ok(err)
	if after.Name != "office" || after.Revision <= made.Revision || after.Sealed != nil || !after.CreatedAt.Equal(made.CreatedAt) {
		t.Errorf("%+v", after)
	}
	if list, err := f.List(t.Context(), mine, store.Page{}); err != nil || len(list) != 1 || list[0].Name != "office" {
		t.Errorf("%+v, %v", list, err)
	}
	if list, err := f.All(t.Context()); err != nil || len(list) != 2 || list[0].Account != mine {
		t.Errorf("%+v, %v", list, err)
	}
	replaced := mark()
	f.ok(f.Delete(t.Context(), mine, made.ID))
	f.is(f.Delete(t.Context(), mine, made.ID), store.ErrNotFound)
	marks := map[trunks.Mark]bool{empty: true, created: true, replaced: true, mark(): true}
	if len(marks) != 4 {
		t.Errorf("not every change is noticed: %v", marks)
	}
}

// TestChangesAreFollowed: those of this process and of others that tell of them at once, and those that nobody tells of when they are
// looked for, until they have been read.
func TestChangesAreFollowed(t *testing.T) {
	f := setup(t)
	account := f.account()
	ctx, stop := context.WithCancel(t.Context())
	read, done := make(chan error), make(chan error, 1)
	go func() { done <- f.Follow(ctx, func() error { return <-read }) }()
	within := func(what string, fate error) {
		t.Helper()
		select {
		case read <- fate:
		case <-time.After(time.Minute):
			t.Fatal("not within a minute: ", what)
		}
	}
	ask := func() {
		t.Helper()
		f.ok(f.db.Hints().Ask(t.Context(), f.db.Pool(), f.db.Now()))
	}
	for listens := false; !listens; { // until it does
		ask()
		select {
		case read <- nil:
			listens = true
		case <-time.After(time.Millisecond):
		}
	}
	_, err := f.Create(t.Context(), account, draft("pbx"))
	f.ok(err)
	within("a change of this process", nil)
	other := trunks.New(storetest.Open(t, f.db.Pool().Config().ConnString()), f.vault("a master secret of a test, long enough"))
	ask()
	within("the look that has not read it", nil)
	_, err = other.Create(t.Context(), account, draft("carrier"))
	f.ok(err)
	ask()
	within("a change that nobody tells of", errors.New("not now"))
	ask()
	within("what could not be read", nil)
	f.ok(other.Delete(t.Context(), account, first(f, account)))
	ask()
	within("a trunk that is gone", nil)
	again := 0
	for range 10 {
		ask()
		select {
		case read <- nil:
			again++
		case <-time.After(20 * time.Millisecond):
		}
	}
	if again > 1 { // a look may come before it is noted that the last one was followed
		t.Errorf("it reads %d times again what it has read", again)
	}
	stop()
	f.ok(<-done)
}

// first is one of the account's trunks.
func first(f *fixture, account string) string {
	f.t.Helper()
	list, err := f.List(f.t.Context(), account, store.Page{Limit: 1})
	f.ok(err)
	return list[0].ID
}

// Another master key opens no secret, and a row that was moved to another account neither.
func TestSecretsOfTrunks(t *testing.T) {
	f := setup(t)
	made, err := f.Create(t.Context(), f.account(), draft("pbx"))
	f.ok(err)
	_, err = trunks.New(f.db, f.vault(strings.Repeat("x", 40))).Secrets(made)
	f.is(err, store.ErrUnsealed)
	moved := *made
	moved.Account = f.account()
	_, err = f.Secrets(&moved)
	f.is(err, store.ErrUnsealed)
}

// A source belongs to one account, unless each far end behind it says by a password who it is.
func TestSources(t *testing.T) {
	f := setup(t)
	mine, theirs := f.account(), f.account()
	_, err := f.Create(t.Context(), mine, draft("a", "192.0.2.0/24", "2001:db8::/48"))
	f.ok(err)
	for _, source := range []string{"192.0.2.7/32", "192.0.2.0/23", "2001:db8::1/128"} {
		_, err = f.Create(t.Context(), theirs, draft("b", source))
		f.is(err, store.ErrTrunkSource)
		identified := draft("b", source)
		identified.Digest = "them"
		_, err = f.Create(t.Context(), theirs, identified)
		f.is(err, store.ErrTrunkSource)
	}
	_, err = f.Create(t.Context(), mine, draft("twin", "192.0.2.7/32"))
	f.ok(err)
	free, err := f.Create(t.Context(), theirs, draft("b", "192.0.3.0/24"))
	f.ok(err)
	_, err = f.Replace(t.Context(), theirs, free.ID, draft("b", "192.0.2.9/32"))
	f.is(err, store.ErrTrunkSource)

	shared := func(user string) trunks.Draft {
		d := draft(user, "203.0.113.5/32")
		d.Digest = user
		return d
	}
	_, err = f.Create(t.Context(), mine, shared("one"))
	f.ok(err)
	_, err = f.Create(t.Context(), theirs, shared("two"))
	f.ok(err)
	_, err = f.Create(t.Context(), f.account(), shared("one"))
	f.is(err, store.ErrTrunkSource)
}

// A trunk with numbers stays, and one whose numbers were released goes.
func TestTrunkWithNumbers(t *testing.T) {
	f := setup(t)
	mine := f.account()
	made, err := f.Create(t.Context(), mine, draft("pbx"))
	f.ok(err)
	own := numbers.New(f.db)
	n, err := own.ImportOwn(t.Context(), mine, made.ID, "+34911234567", "")
	f.ok(err)
	f.is(f.Delete(t.Context(), mine, made.ID), store.ErrInvalid)
	f.ok(own.Release(t.Context(), mine, n.ID))
	f.ok(f.Delete(t.Context(), mine, made.ID))
}

// An account has no more trunks than it may.
func TestMostTrunks(t *testing.T) {
	f := setup(t)
	mine := f.account()
	for i := range trunks.Max {
		_, err := f.Create(t.Context(), mine, draft("t"+strings.Repeat("x", i)))
		f.ok(err)
	}
	_, err := f.Create(t.Context(), mine, draft("more"))
	f.is(err, store.ErrInvalid)
}
