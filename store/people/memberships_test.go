package people_test

import (
	"errors"
	"sync"
	"testing"

	"parley/store"
	"parley/store/people"
	"parley/store/storetest"
)

func TestInvitations(t *testing.T) {
	f := setup(t)
	ctx := f.ctx()
	owner, mine, theirs := f.user("ana@example.com", people.RoleMember), f.account(), f.account()
	f.ok(f.AddMember(ctx, mine, owner.ID, people.RoleOwner))
	old, dead, err := f.Invite(ctx, mine, "luis@example.com", people.RoleMember, owner.ID)
	f.ok(err)
	inv, token, err := f.Invite(ctx, mine, "Luis@example.com", people.RoleOwner, owner.ID)
	f.ok(err)
	if _, err := f.Invitation(ctx, dead); !errors.Is(err, store.ErrNotFound) || old.ID == inv.ID {
		t.Errorf("an earlier invitation: %v", err)
	}
	if list, err := f.Invitations(ctx, mine, store.Page{}); err != nil || len(list) != 1 || list[0].InvitedBy != owner.Email || list[0].Email != "luis@example.com" {
		t.Errorf("%+v, %v", list, err)
	}
	if list, err := f.Invitations(ctx, theirs, store.Page{}); err != nil || len(list) != 0 {
		t.Errorf("a foreign account shows %+v, %v", list, err)
	}
	if err := f.RevokeInvitation(ctx, theirs, inv.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a foreign invitation is revoked: %v", err)
	}
	if found, err := f.Invitation(ctx, token); err != nil || found.Account != mine || found.Role != people.RoleOwner {
		t.Errorf("%+v, %v", found, err)
	}
	if _, err := f.Invitation(storetest.At(ctx, t0.Add(people.InvitationLife)), token); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("after a week: %v", err)
	}
	if _, err := f.AcceptInvitation(storetest.At(ctx, t0.Add(people.InvitationLife)), token, "", "$hash"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("accepted after a week: %v", err)
	}
	if _, err := f.AcceptInvitation(ctx, token, owner.ID, ""); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("by somebody else: %v", err)
	}
	user, err := f.AcceptInvitation(ctx, token, "", "$hash")
	f.ok(err)
	if u, _, err := f.UserByEmail(ctx, "luis@example.com"); err != nil || u.ID != user || u.Operator() || !u.Password {
		t.Errorf("%+v, %v", u, err)
	}
	if list, err := f.Members(ctx, mine, store.Page{}); err != nil || len(list) != 2 || list[1].Email != "luis@example.com" || list[1].Role != people.RoleOwner {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := f.AcceptInvitation(ctx, token, "", "$hash"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("twice: %v", err)
	}
	if _, _, err := f.Invite(ctx, mine, "luis@example.com", people.RoleMember, owner.ID); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("somebody who belongs to it: %v", err)
	}
	if _, _, err := f.Invite(ctx, "acc_x", "eva@example.com", people.RoleMember, owner.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("to nowhere: %v", err)
	}
	_, revoked, err := f.Invite(ctx, mine, "eva@example.com", people.RoleMember, owner.ID)
	f.ok(err)
	list, err := f.Invitations(ctx, mine, store.Page{})
	f.ok(err)
	f.ok(f.RevokeInvitation(ctx, mine, list[0].ID))
	if _, err := f.AcceptInvitation(ctx, revoked, "", "$hash"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("after it was taken back: %v", err)
	}
}

// Who invites sees the link: it must not open what belongs to the person invited, even
// when they have no password yet.
func TestAnInvitationIsNoWayIntoAUser(t *testing.T) {
	f := setup(t)
	ctx := f.ctx()
	owner, mine := f.user("ana@example.com", people.RoleMember), f.account()
	f.ok(f.AddMember(ctx, mine, owner.ID, people.RoleOwner))
	operator, err := f.CreateUser(ctx, "op@example.com", people.RoleOperator)
	f.ok(err)
	f.user("eva@example.com", people.RoleOperator)
	for _, email := range []string{"op@example.com", "eva@example.com"} {
		_, token, err := f.Invite(ctx, mine, email, people.RoleMember, owner.ID)
		f.ok(err)
		if _, err := f.AcceptInvitation(ctx, token, "", "$stolen"); !errors.Is(err, people.ErrUserExists) {
			t.Errorf("%s: %v", email, err)
		}
		if _, password, err := f.UserByEmail(ctx, email); err != nil || password == "$stolen" {
			t.Errorf("%s has the password %q, %v", email, password, err)
		}
		if _, err := f.Invitation(ctx, token); err != nil {
			t.Errorf("%s: the refusal used the link: %v", email, err)
		}
		if email == operator.Email {
			if _, err := f.AcceptInvitation(ctx, token, operator.ID, ""); err != nil {
				t.Errorf("signed in: %v", err)
			}
		}
	}
}

// removed takes somebody out of an account, whose keys stay good.
func (f *fixture) removed(account, user string) error {
	_, err := f.RemoveMember(f.ctx(), account, user, false)
	return err
}

// The last owner stays, whoever else goes at the same moment. One round proves little;
// of thirty some meet.
func TestAnAccountKeepsAnOwner(t *testing.T) {
	f := setup(t)
	ctx := f.ctx()
	a, b := f.user("a@example.com", people.RoleMember), f.user("b@example.com", people.RoleMember)
	acc := f.account()
	for range 30 {
		f.ok(f.AddMember(ctx, acc, a.ID, people.RoleOwner))
		f.ok(f.AddMember(ctx, acc, b.ID, people.RoleOwner))
		begin := make(chan struct{})
		var wg sync.WaitGroup
		for _, leave := range []func() error{
			func() error { return f.removed(acc, a.ID) },
			func() error { return f.ChangeMember(ctx, acc, b.ID, people.RoleMember) },
		} {
			wg.Go(func() {
				<-begin
				if err := leave(); err != nil && !errors.Is(err, store.ErrInvalid) {
					t.Error(err)
				}
			})
		}
		close(begin)
		wg.Wait()
		list, err := f.Members(ctx, acc, store.Page{})
		f.ok(err)
		n := 0
		for _, m := range list {
			if m.Role == people.RoleOwner {
				n++
			}
		}
		if n != 1 {
			t.Fatalf("%d owners are left: %+v", n, list)
		}
	}
	// An account that is used by its keys alone needs none.
	empty := f.account()
	f.ok(f.AddMember(ctx, empty, a.ID, people.RoleMember))
	f.ok(f.removed(empty, a.ID))
}
