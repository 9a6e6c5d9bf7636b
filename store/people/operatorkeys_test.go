package people_test

import (
	"errors"
	"regexp"
	"testing"
	"time"

	"parley/store"
	"parley/store/people"
	"parley/store/storetest"
)

// An operator's key says whose it is and belongs to no account, for as long as its user
// runs the server.
func TestOperatorKeys(t *testing.T) {
	f := setup(t)
	ctx := f.ctx()
	acc := f.account()
	ana, eve, luis := f.user("ana@example.com", people.RoleOperator), f.user("eve@example.com", people.RoleOperator), f.user("luis@example.com", people.RoleMember)
	k, secret, err := f.CreateOperatorKey(ctx, ana.ID, "provisioning")
	f.ok(err)
	if !regexp.MustCompile(`^op_[0-9A-Za-z]{49}$`).MatchString(secret) || k.Role != people.RoleOperator || k.Last4 != secret[len(secret)-4:] {
		t.Errorf("%+v, a secret of %d characters", k, len(secret))
	}
	p, err := f.Authenticate(storetest.At(ctx, t0.Add(90*time.Second)), secret)
	f.ok(err)
	if want := (people.Principal{Key: k.ID, User: ana.ID, Operator: true}); p != want {
		t.Errorf("%+v, want %+v", p, want)
	}
	if err := f.CheckKey(ctx, p); !errors.Is(err, store.ErrUnauthorized) {
		t.Errorf("a ticket made from it: %v", err)
	}
	keys, err := f.OperatorKeys(ctx, ana.ID, store.Page{})
	f.ok(err)
	if len(keys) != 1 || keys[0].ID != k.ID || keys[0].Name != "provisioning" || !keys[0].LastUsedAt.Equal(t0.Add(time.Minute)) {
		t.Errorf("%+v", keys)
	}
	for what, err := range map[string]error{
		"for a member":          refusal(f.CreateOperatorKey(ctx, luis.ID, "x")),
		"for nobody":            refusal(f.CreateOperatorKey(ctx, "usr_x", "x")),
		"another's is revoked":  f.RevokeOperatorKey(ctx, eve.ID, k.ID),
		"an unknown is revoked": f.RevokeOperatorKey(ctx, ana.ID, "okey_x"),
		"by an account":         f.RevokeKey(ctx, acc, k.ID),
	} {
		if !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: %v", what, err)
		}
	}
	wrong := []string{"sk_" + secret[3:], secret[:len(secret)-1], "op_", secret + "0"}
	f.ok(f.RevokeOperatorKey(ctx, ana.ID, k.ID))
	f.ok(f.RevokeOperatorKey(storetest.At(ctx, t0.Add(time.Hour)), ana.ID, k.ID))
	for _, s := range append(wrong, secret) {
		if _, err := f.Authenticate(ctx, s); !errors.Is(err, store.ErrUnauthorized) {
			t.Errorf("a wrong or revoked secret: %v", err)
		}
	}
}

// Keys of an account have the role that they were made with.
func TestKeyRoles(t *testing.T) {
	f := setup(t)
	ctx := f.ctx()
	acc := f.account()
	for role, owner := range map[string]bool{people.RoleMember: false, people.RoleOwner: true} {
		k, secret, err := f.MakeKey(ctx, people.NewKey{Account: acc, Role: role, Name: "x"})
		f.ok(err)
		p, err := f.Authenticate(ctx, secret)
		f.ok(err)
		if want := (people.Principal{Account: acc, Key: k.ID, Owner: owner}); p != want || k.Role != role {
			t.Errorf("%s: %+v, want %+v", role, p, want)
		}
	}
	k, secret, err := f.FirstKey(ctx, acc, "x", "")
	f.ok(err)
	if p, err := f.Authenticate(ctx, secret); err != nil || p != (people.Principal{Account: acc, Key: k.ID, Owner: true, Money: true}) {
		t.Errorf("the first key is %+v, %v", p, err)
	}
	if _, _, err := f.MakeKey(ctx, people.NewKey{Account: acc, Role: people.RoleOperator, Name: "x"}); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("an operator's key of an account: %v", err)
	}
	_, secret, err = f.MakeKey(ctx, people.NewKey{Account: acc, Name: "x", Role: people.RoleMember})
	f.ok(err)
	if p, err := f.Authenticate(ctx, secret); err != nil || p.Owner || p.Operator || p.Money {
		t.Errorf("%+v, %v", p, err)
	}
}

// refusal is the error of what returns two things before it.
func refusal(_ people.Key, _ string, err error) error { return err }
