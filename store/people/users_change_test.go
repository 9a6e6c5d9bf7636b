package people_test

import (
	"errors"
	"testing"

	"parley/store"
	"parley/store/people"
)

// TestLeaving: somebody who is disabled or deleted has nothing left that opens a door.
func TestLeaving(t *testing.T) {
	for name, leave := range map[string]func(*fixture, string, bool) ([]people.Key, error){
		"disabled": func(f *fixture, u string, end bool) ([]people.Key, error) { return f.DisableUser(f.ctx(), u, end) },
		"deleted":  func(f *fixture, u string, end bool) ([]people.Key, error) { return f.DeleteUser(f.ctx(), u, end) },
	} {
		f := setup(t)
		ctx := f.ctx()
		acc := f.account()
		u, boss := f.user("ana@example.com", people.RoleOperator), f.user("boss@example.com", people.RoleMember)
		f.ok(f.AddMember(ctx, acc, u.ID, people.RoleOwner))
		f.ok(f.ChangePassword(ctx, u.ID, "$right", ""))
		session, err := f.OpenBrowser(ctx, u.ID, false)
		f.ok(err)
		b, err := f.Browser(ctx, session)
		f.ok(err)
		link, err := f.NewSignInLink(ctx, u.ID)
		f.ok(err)
		_, invitation, err := f.Invite(ctx, acc, "friend@example.com", people.RoleOwner, u.ID)
		f.ok(err)
		_, runs, err := f.CreateOperatorKey(ctx, u.ID, "x")
		f.ok(err)
		mine, key, err := f.MakeKey(ctx, people.NewKey{Account: acc, Name: "hers", Role: people.RoleOwner, Maker: u.ID})
		f.ok(err)

		f.ok(f.AddMember(ctx, acc, boss.ID, people.RoleMember))
		if _, err := leave(f, u.ID, true); name == "deleted" && !errors.Is(err, store.ErrInvalid) {
			t.Errorf("the last owner of others was deleted: %v", err)
		}
		f.ok(f.AddMember(ctx, acc, boss.ID, people.RoleOwner))
		keys, err := leave(f, u.ID, true)
		f.ok(err)
		if name == "deleted" && (len(keys) != 1 || keys[0].ID != mine.ID || keys[0].RevokedAt == nil) {
			t.Errorf("%s: her keys are %+v", name, keys)
		}
		_, password, _ := f.UserByEmail(ctx, "ana@example.com")
		for what, err := range map[string]error{
			"session":      second(f.Browser(ctx, session)),
			"its ticket":   f.CheckKey(ctx, b.Principal()),
			"link":         second(f.ChoosePassword(ctx, link, "$new")),
			"invitation":   second(f.AcceptInvitation(ctx, invitation, "", "$new")),
			"operator key": second(f.Authenticate(ctx, runs)),
			"key":          second(f.Authenticate(ctx, key)),
			"new session":  second(f.OpenBrowser(ctx, u.ID, false)),
			"new link":     second(f.NewSignInLink(ctx, u.ID)),
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
	u := f.user("ana@example.com", people.RoleOperator)
	f.ok(f.ChangePassword(ctx, u.ID, "$right", ""))
	_, err := f.DisableUser(ctx, u.ID, false)
	f.ok(err)
	f.ok(f.EnableUser(ctx, u.ID))
	if _, password, err := f.UserByEmail(ctx, "ana@example.com"); err != nil || password != "$right" {
		t.Errorf("%q, %v", password, err)
	}
	f.ok(f.ChangeRole(ctx, u.ID, people.RoleMember))
	if _, _, err := f.CreateOperatorKey(ctx, u.ID, "x"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("somebody who was demoted makes an operator's key: %v", err)
	}
	for _, err := range []error{f.ChangeRole(ctx, "usr_none", people.RoleMember), f.EnableUser(ctx, "usr_none")} {
		if !errors.Is(err, store.ErrNotFound) {
			t.Error(err)
		}
	}
}
