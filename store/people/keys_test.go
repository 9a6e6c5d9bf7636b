package people_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"parley/store"
	"parley/store/people"
	"parley/store/storetest"
)

// People of another account, and invitations to it, are no exception.
func TestForeignPeopleAreUnknown(t *testing.T) {
	f := setup(t)
	ctx := f.ctx()
	mine, theirs := f.account(), f.account()
	me, them := f.user("ana@example.com", people.RoleMember), f.user("eve@example.com", people.RoleMember)
	f.ok(f.AddMember(ctx, mine, me.ID, people.RoleOwner))
	f.ok(f.AddMember(ctx, theirs, them.ID, people.RoleOwner))
	inv, _, err := f.Invite(ctx, theirs, "luis@example.com", people.RoleMember, them.ID)
	f.ok(err)
	token, err := f.OpenBrowser(ctx, me.ID, false)
	f.ok(err)
	b, err := f.Browser(ctx, token)
	f.ok(err)
	for name, try := range map[string]func(account, user, invitation string) error{
		"switch":        func(a, _, _ string) error { return f.SwitchAccount(ctx, b, a) },
		"change member": func(_, u, _ string) error { return f.ChangeMember(ctx, mine, u, people.RoleMember) },
		"remove member": func(_, u, _ string) error { return f.removed(mine, u) },
		"revoke":        func(_, _, i string) error { return f.RevokeInvitation(ctx, mine, i) },
		"another's session": func(_, u, _ string) error {
			x := *b
			x.User.ID = u
			return f.SwitchAccount(ctx, &x, mine)
		},
		"another's notice": func(_, u, _ string) error {
			x := *b
			x.User.ID = u
			return f.PutNotice(ctx, &x, "x")
		},
	} {
		foreign, unknown := try(theirs, them.ID, inv.ID), try("acc_x", "usr_x", "inv_x")
		if !errors.Is(foreign, store.ErrNotFound) || unknown == nil || foreign.Error() != unknown.Error() {
			t.Errorf("%s: foreign %v, unknown %v", name, foreign, unknown)
		}
	}
	if list, err := f.Members(ctx, theirs, store.Page{}); err != nil || len(list) != 1 || list[0].User != them.ID || list[0].Role != people.RoleOwner {
		t.Errorf("their people were touched: %+v, %v", list, err)
	}
	if list, err := f.Memberships(ctx, me.ID); err != nil || len(list) != 1 || list[0].Account != mine {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestKeys(t *testing.T) {
	f := setup(t)
	acc := f.account()
	key, secret, err := f.MakeKey(f.ctx(), people.NewKey{Account: acc, Name: "server", Role: people.RoleMember})
	f.ok(err)
	if !regexp.MustCompile(`^sk_[0-9A-Za-z]{49}$`).MatchString(secret) || !strings.HasSuffix(secret, key.Last4) || len(key.Last4) != 4 {
		t.Errorf("secret of %d characters, last four %q", len(secret), key.Last4)
	}
	at := t0.Add(90 * time.Second)
	p, err := f.Authenticate(storetest.At(f.ctx(), at), secret)
	f.ok(err)
	if p.Account != acc || p.Key != key.ID {
		t.Errorf("%+v", p)
	}
	keys, err := f.Keys(f.ctx(), acc, store.Page{})
	f.ok(err)
	if len(keys) != 1 || !keys[0].LastUsedAt.Equal(t0.Add(time.Minute)) {
		t.Errorf("last used %v; want whole minutes", keys[0].LastUsedAt)
	}
	wrong := []string{"", "sk_", "wst_abc", secret + "0", secret[1:], secret[:len(secret)-1], strings.ToUpper(secret), "sk_\x00" + secret[4:]}
	flipped := []byte(secret)
	flipped[10] ^= 1
	for _, s := range append(wrong, string(flipped)) {
		if _, err := f.Authenticate(f.ctx(), s); !errors.Is(err, store.ErrUnauthorized) {
			t.Errorf("a wrong secret: %v", err)
		} else if len(s) > 6 && strings.Contains(err.Error(), s[4:]) {
			t.Error("the error tells the secret")
		}
	}
	f.ok(f.CheckKey(f.ctx(), p))
	f.ok(f.RevokeKey(f.ctx(), acc, key.ID))
	f.ok(f.RevokeKey(storetest.At(f.ctx(), t0.Add(time.Hour)), acc, key.ID))
	if _, err := f.Authenticate(f.ctx(), secret); !errors.Is(err, store.ErrUnauthorized) {
		t.Errorf("a revoked key: %v", err)
	}
	if err := f.CheckKey(f.ctx(), p); !errors.Is(err, store.ErrUnauthorized) {
		t.Errorf("a revoked key by identifier: %v", err)
	}
	if _, _, err := f.MakeKey(f.ctx(), people.NewKey{Account: "acc_nobody", Name: "x", Role: people.RoleMember}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a key for nobody: %v", err)
	}
}
