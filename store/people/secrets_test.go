package people_test

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/store"
	"parley/store/people"
	"parley/store/storetest"
)

const master = "0123456789abcdef0123456789abcdef"

func (f *fixture) vault(key string) *people.Vault {
	f.t.Helper()
	v, err := people.NewVault(f.db, key)
	f.ok(err)
	return v
}

func TestSecrets(t *testing.T) {
	f := setup(t)
	mine, other := f.account(), f.account()
	v := f.vault(master)
	put := func(account, name, value string, at time.Time) *people.Secret {
		t.Helper()
		s, err := v.Put(storetest.At(f.ctx(), at), account, name, value, nil)
		f.ok(err)
		return s
	}
	put(mine, "KEY", "first", t0)
	later := t0.Add(time.Hour)
	if s := put(mine, "KEY", "second", later); !s.CreatedAt.Equal(t0) || !s.UpdatedAt.Equal(later) {
		t.Errorf("%+v", s)
	}
	put(mine, "A", "a", t0)
	put(other, "KEY", "theirs", t0)
	list, err := v.List(f.ctx(), mine, store.Page{})
	f.ok(err)
	if len(list) != 2 || list[0].Name != "A" || list[1].Name != "KEY" {
		t.Errorf("%+v", list)
	}
	values, err := v.Values(f.ctx(), mine, []string{"KEY", "A", "NONE"})
	if err != nil || !reflect.DeepEqual(values, map[string]people.SecretValue{"KEY": {Value: "second"}, "A": {Value: "a"}}) {
		t.Errorf("%v, %v", values, err)
	}
	f.ok(v.Delete(f.ctx(), mine, "KEY"))
	f.is(v.Delete(f.ctx(), mine, "KEY"), store.ErrNotFound)
	if values, err := v.Values(f.ctx(), other, []string{"KEY"}); err != nil || values["KEY"].Value != "theirs" {
		t.Errorf("%v, %v", values, err)
	}
	// Another master key opens nothing, and says which.
	put(mine, "KEY", "third-third", t0)
	values, err = f.vault(strings.Repeat("x", 32)).Values(f.ctx(), mine, []string{"KEY", "A"})
	if len(values) != 0 || !errors.Is(err, store.ErrUnsealed) || strings.Contains(fmt.Sprint(err), "third") {
		t.Errorf("%v, %v", values, err)
	}
}

func TestSecretsThatAreRefused(t *testing.T) {
	f := setup(t)
	acc, v := f.account(), f.vault(master)
	for _, tt := range [][2]string{{"", "x"}, {"1A", "x"}, {"A-B", "x"}, {"é", "x"}, {strings.Repeat("A", 65), "x"}, {"A", ""}, {"A", "x\ny"}, {"A", "x\x00"},
		{"A", strings.Repeat("x", people.MaxSecretValue+1)}} {
		_, err := v.Put(f.ctx(), acc, tt[0], tt[1], nil)
		f.is(err, store.ErrInvalid)
	}
	for i := range people.MaxSecrets {
		_, err := v.Put(f.ctx(), acc, fmt.Sprintf("S%d", i), "x", nil)
		f.ok(err)
	}
	_, err := v.Put(f.ctx(), acc, "ONE_MORE", "x", nil)
	f.is(err, store.ErrInvalid)
	_, err = v.Put(f.ctx(), acc, "S7", "y", nil)
	f.ok(err)
	_, err = v.Put(f.ctx(), "acc_none", "A", "x", nil)
	f.is(err, store.ErrNotFound)
}

// TestSecretsAtRest: rows hold no value, and open nowhere but where they belong.
func TestSecretsAtRest(t *testing.T) {
	url := storetest.URL(t)
	f := prepare(t, storetest.Open(t, url))
	conn, err := pgx.Connect(f.ctx(), url)
	f.ok(err)
	defer conn.Close(f.ctx())
	mine, other := f.account(), f.account()
	v := f.vault(master)
	for range 2 {
		_, err = v.Put(f.ctx(), mine, "KEY", "hunter2-hunter2", nil)
		f.ok(err)
	}
	var sealed []byte
	f.ok(conn.QueryRow(f.ctx(), "select sealed from secrets").Scan(&sealed))
	if bytes.Contains(sealed, []byte("hunter2")) {
		t.Error("the value is in the row")
	}
	for _, change := range []string{"insert into secrets select '" + other + "', name, sealed, created_at, updated_at from secrets where name = 'KEY'",
		"insert into secrets select account_id, 'OTHER', sealed, created_at, updated_at from secrets where account_id = '" + mine + "' and name = 'KEY'",
		"update secrets set sealed = set_byte(sealed, 30, get_byte(sealed, 30) # 1) where name = 'KEY' and account_id = '" + mine + "'"} {
		_, err := conn.Exec(f.ctx(), change)
		f.ok(err)
	}
	for _, account := range []string{mine, other} {
		values, err := v.Values(f.ctx(), account, []string{"KEY", "OTHER"})
		if len(values) != 0 || !errors.Is(err, store.ErrUnsealed) {
			t.Errorf("%v, %v", values, err)
		}
	}
}

// TestSecretHosts: a secret stays bound when its value changes, and is bound to others
// only by whoever writes a value of their own.
func TestSecretHosts(t *testing.T) {
	f := setup(t)
	acc, v := f.account(), f.vault(master)
	for _, step := range []struct{ give, want []string }{
		{nil, nil}, {[]string{"API.example.com.", "*.example.org", "192.0.2.1", "2001:db8::1"}, []string{"api.example.com", "*.example.org", "192.0.2.1", "2001:db8::1"}},
		{nil, []string{"api.example.com", "*.example.org", "192.0.2.1", "2001:db8::1"}}, {[]string{"other"}, []string{"other"}},
	} {
		s, err := v.Put(f.ctx(), acc, "KEY", "x", step.give)
		f.ok(err)
		values, err := v.Values(f.ctx(), acc, []string{"KEY"})
		f.ok(err)
		if !slices.Equal(s.Hosts, step.want) || !slices.Equal(values["KEY"].Hosts, step.want) {
			t.Errorf("%q: %q, opened %q, want %q", step.give, s.Hosts, values["KEY"].Hosts, step.want)
		}
	}
	for _, wrong := range []string{"", "*", "https://a.example", "a.example/x", "a.example:443", "a*.example", "a b", "*.", "a..b"} {
		_, err := v.Put(f.ctx(), acc, "KEY", "x", []string{wrong})
		f.is(err, store.ErrInvalid)
	}
	_, err := v.Put(f.ctx(), acc, "KEY", "x", make([]string, people.MaxSecretHosts+1))
	f.is(err, store.ErrInvalid)
}
