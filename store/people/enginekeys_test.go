package people_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/store"
	"parley/store/people"
	"parley/store/storetest"
)

// engineKeys are those of a fixture.
func (f *fixture) engineKeys() *people.EngineKeys { return people.NewEngineKeys(f.vault(master)) }

// warned checks how many warnings an account has had, and how many hold, all of a key that was refused.
func (f *fixture) warned(account string, all, holding int) {
	f.t.Helper()
	list, err := f.db.Warnings(f.ctx(), account, store.Page{})
	f.ok(err)
	n := 0
	for _, w := range list {
		if w.ClearedAt == nil {
			n++
		}
		if w.Kind != store.WarnEngineKey || w.Data.Engine != "flux" || !strings.HasPrefix(w.Data.Reason, "status 40") {
			f.t.Errorf("%+v", w)
		}
	}
	if len(list) != all || n != holding {
		f.t.Errorf("%d warnings, %d of them hold; want %d and %d", len(list), n, all, holding)
	}
}

func TestEngineKeys(t *testing.T) {
	f := setup(t)
	mine, other, k := f.account(), f.account(), f.engineKeys()
	put := func(account, engine, key string, at time.Time) *people.EngineKey {
		t.Helper()
		one, err := k.Put(storetest.At(f.ctx(), at), account, engine, key, "usr_ana")
		f.ok(err)
		return one
	}
	put(mine, "flux", "key-of-mine-1111", t0)
	later := t0.Add(time.Hour)
	if one := put(mine, "flux", "key-of-mine-2222", later); one.Last4 != "2222" || !one.CreatedAt.Equal(t0) || !one.UpdatedAt.Equal(later) || one.SetBy != "usr_ana" || one.RefusedAt != nil {
		t.Errorf("%+v", one)
	}
	put(mine, "aura", "key-of-mine-3333", t0)
	put(other, "flux", "key-of-another-4", t0)
	for page, want := range map[store.Page]string{{}: "aura flux", {After: "aura"}: "flux", {Limit: 1}: "aura"} {
		list, err := k.List(f.ctx(), mine, page)
		f.ok(err)
		var names []string
		for _, one := range list {
			names = append(names, one.Engine)
		}
		if strings.Join(names, " ") != want {
			t.Errorf("%+v: %v, want %s", page, names, want)
		}
	}
	keys, err := k.Keys(f.ctx(), mine)
	if err != nil || !maps.Equal(keys, map[string]string{"flux": "key-of-mine-2222", "aura": "key-of-mine-3333"}) {
		t.Errorf("%v, %v", keys, err)
	}
	f.ok(k.Delete(f.ctx(), mine, "flux"))
	f.is(k.Delete(f.ctx(), mine, "flux"), store.ErrNotFound)
	_, err = k.Key(f.ctx(), mine, "flux")
	f.is(err, store.ErrNotFound)
	if key, err := k.Key(f.ctx(), other, "flux"); err != nil || key != "key-of-another-4" {
		t.Errorf("%q, %v", key, err)
	}
	// Another master key opens nothing, and says which.
	keys, err = people.NewEngineKeys(f.vault(strings.Repeat("x", 32))).Keys(f.ctx(), mine)
	if len(keys) != 0 || !errors.Is(err, store.ErrUnsealed) || strings.Contains(fmt.Sprint(err), "key-of") {
		t.Errorf("%v, %v", keys, err)
	}
}

func TestWrongEngineKeys(t *testing.T) {
	f := setup(t)
	acc, k := f.account(), f.engineKeys()
	for _, key := range []string{"", "short", "has a space in it", "has-a-line\nbreak", "ñandú-ñandú", strings.Repeat("x", 4<<10+1)} {
		_, err := k.Put(f.ctx(), acc, "flux", key, "usr_ana")
		f.is(err, store.ErrInvalid)
		if key != "" && strings.Contains(fmt.Sprint(err), key) {
			t.Errorf("%v holds the key", err)
		}
	}
	_, err := k.Put(f.ctx(), "acc_none", "flux", "a-key-of-nobody", "usr_ana")
	f.is(err, store.ErrNotFound)
}

// TestRefusedEngineKey: it is opened no more and the account is warned once, until it is set again or taken again.
func TestRefusedEngineKey(t *testing.T) {
	f := setup(t)
	mine, other, k := f.account(), f.account(), f.engineKeys()
	const first, second = "key-of-mine-1111", "key-of-mine-2222"
	for _, account := range []string{mine, other} {
		_, err := k.Put(f.ctx(), account, "flux", first, "usr_ana")
		f.ok(err)
	}
	for range 3 {
		f.ok(k.Refused(f.ctx(), mine, "flux", first, "status 401"))
	}
	list, err := k.List(f.ctx(), mine, store.Page{})
	f.ok(err)
	if list[0].RefusedAt == nil || !list[0].RefusedAt.Equal(t0) || list[0].Refusal != "status 401" {
		t.Errorf("%+v", list[0])
	}
	opened := func(account string, want int) {
		t.Helper()
		if keys, err := k.Keys(f.ctx(), account); err != nil || len(keys) != want {
			t.Errorf("%d keys are used, want %d: %v", len(keys), want, err)
		}
	}
	opened(mine, 0)
	opened(other, 1)
	f.warned(mine, 1, 1)
	f.warned(other, 0, 0)
	// A test shows that it works again.
	f.ok(k.Accepted(f.ctx(), mine, "flux", first))
	opened(mine, 1)
	f.warned(mine, 1, 0)
	// Another key is judged by itself: what is said of the one before changes nothing.
	f.ok(k.Refused(f.ctx(), mine, "flux", first, "status 403"))
	_, err = k.Put(f.ctx(), mine, "flux", second, "usr_ana")
	f.ok(err)
	f.ok(k.Refused(f.ctx(), mine, "flux", first, "status 403"))
	opened(mine, 1)
	f.warned(mine, 2, 0)
	f.ok(k.Refused(f.ctx(), mine, "flux", second, "status 401"))
	f.ok(k.Accepted(f.ctx(), mine, "flux", first))
	opened(mine, 0)
	f.warned(mine, 3, 1)
	f.ok(k.Delete(f.ctx(), mine, "flux"))
	f.ok(k.Refused(f.ctx(), mine, "flux", second, "status 401"))
	f.warned(mine, 3, 0)
}

// TestEngineKeysAtRest: rows hold no key, and open nowhere but where they belong.
func TestEngineKeysAtRest(t *testing.T) {
	url := storetest.URL(t)
	f := prepare(t, storetest.Open(t, url))
	conn, err := pgx.Connect(f.ctx(), url)
	f.ok(err)
	defer conn.Close(f.ctx())
	mine, other, k := f.account(), f.account(), f.engineKeys()
	_, err = k.Put(f.ctx(), mine, "flux", "hunter2-hunter2", "usr_ana")
	f.ok(err)
	var sealed []byte
	f.ok(conn.QueryRow(f.ctx(), "select sealed from engine_keys").Scan(&sealed))
	if bytes.Contains(sealed, []byte("hunter2")) {
		t.Error("the key is in the row")
	}
	for _, change := range []string{"insert into engine_keys select '" + other + "', engine, sealed, last4, set_by, created_at, updated_at from engine_keys where engine = 'flux'",
		"insert into engine_keys select account_id, 'aura', sealed, last4, set_by, created_at, updated_at from engine_keys where account_id = '" + mine + "' and engine = 'flux'",
		"update engine_keys set sealed = set_byte(sealed, 30, get_byte(sealed, 30) # 1) where engine = 'flux' and account_id = '" + mine + "'"} {
		_, err := conn.Exec(f.ctx(), change)
		f.ok(err)
	}
	for _, account := range []string{mine, other} {
		keys, err := k.Keys(f.ctx(), account)
		if len(keys) != 0 || !errors.Is(err, store.ErrUnsealed) {
			t.Errorf("%v, %v", keys, err)
		}
	}
}
