package store_test

import (
	"errors"
	"testing"

	"parley/store"
)

// TestLeaving: somebody who is disabled or deleted has nothing left that opens a door.
func TestLeaving(t *testing.T) {
	for name, leave := range map[string]func(*fixture, string, bool) ([]store.Key, error){
		"disabled": func(f *fixture, u string, end bool) ([]store.Key, error) { return f.DisableUser(f.ctx(), u, end, t0) },
		"deleted":  func(f *fixture, u string, end bool) ([]store.Key, error) { return f.DeleteUser(f.ctx(), u, end, t0) },
	} {
		f := setup(t)
		ctx := f.ctx()
		acc := f.account(0)
		u, boss := f.user("ana@example.com", store.RoleOperator), f.user("boss@example.com", store.RoleMember)
		f.ok(f.AddMember(ctx, acc, u.ID, store.RoleOwner, t0))
		f.ok(f.ChangePassword(ctx, u.ID, "$right", ""))
		session, err := f.OpenBrowser(ctx, u.ID, false, t0)
		f.ok(err)
		b, err := f.Browser(ctx, session, t0)
		f.ok(err)
		link, err := f.NewSignInLink(ctx, u.ID, t0)
		f.ok(err)
		_, invitation, err := f.Invite(ctx, acc, "friend@example.com", store.RoleOwner, u.ID, t0)
		f.ok(err)
		_, runs, err := f.CreateOperatorKey(ctx, u.ID, "x", t0)
		f.ok(err)
		mine, key, err := f.MakeKey(ctx, store.NewKey{Account: acc, Name: "hers", Role: store.RoleOwner, Maker: u.ID}, t0)
		f.ok(err)

		f.ok(f.AddMember(ctx, acc, boss.ID, store.RoleMember, t0))
		if _, err := leave(f, u.ID, true); name == "deleted" && !errors.Is(err, store.ErrInvalid) {
			t.Errorf("the last owner of others was deleted: %v", err)
		}
		f.ok(f.AddMember(ctx, acc, boss.ID, store.RoleOwner, t0))
		keys, err := leave(f, u.ID, true)
		f.ok(err)
		if name == "deleted" && (len(keys) != 1 || keys[0].ID != mine.ID || keys[0].RevokedAt == nil) {
			t.Errorf("%s: her keys are %+v", name, keys)
		}
		_, password, _ := f.UserByEmail(ctx, "ana@example.com")
		for what, err := range map[string]error{
			"session":      second(f.Browser(ctx, session, t0)),
			"its ticket":   f.CheckKey(ctx, b.Principal()),
			"link":         second(f.ChoosePassword(ctx, link, "$new", t0)),
			"invitation":   second(f.AcceptInvitation(ctx, invitation, "", "$new", t0)),
			"operator key": second(f.Authenticate(ctx, runs, t0)),
			"key":          second(f.Authenticate(ctx, key, t0)),
			"new session":  second(f.OpenBrowser(ctx, u.ID, false, t0)),
			"new link":     second(f.NewSignInLink(ctx, u.ID, t0)),
		} {
			if err == nil {
				t.Errorf("%s: the %s is still good", name, what)
			}
		}
		if password != "" {
			t.Errorf("%s: the password is still compared", name)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// TestEnable: who is enabled again signs in with the password that they had.
func TestEnable(t *testing.T) {
	f := setup(t)
	ctx := f.ctx()
	u := f.user("ana@example.com", store.RoleOperator)
	f.ok(f.ChangePassword(ctx, u.ID, "$right", ""))
	_, err := f.DisableUser(ctx, u.ID, false, t0)
	f.ok(err)
	f.ok(f.EnableUser(ctx, u.ID))
	if _, password, err := f.UserByEmail(ctx, "ana@example.com"); err != nil || password != "$right" {
		t.Errorf("%q, %v", password, err)
	}
	f.ok(f.ChangeRole(ctx, u.ID, store.RoleMember))
	if _, _, err := f.CreateOperatorKey(ctx, u.ID, "x", t0); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("somebody who was demoted makes an operator's key: %v", err)
	}
	for _, err := range []error{f.ChangeRole(ctx, "usr_none", store.RoleMember), f.EnableUser(ctx, "usr_none")} {
		if !errors.Is(err, store.ErrNotFound) {
			t.Error(err)
		}
	}
}
