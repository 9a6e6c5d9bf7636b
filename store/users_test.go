package store_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/store"
)

// user makes a user with a password.
func (f *fixture) user(email, role string) *store.User {
	f.t.Helper()
	u, err := f.CreateUser(f.ctx(), email, role, t0)
	f.ok(err)
	f.ok(f.ChangePassword(f.ctx(), u.ID, "$hash", ""))
	return u
}

func TestUsers(t *testing.T) {
	f := setup(t)
	ctx := f.ctx()
	if yes, err := f.AnybodySignsIn(ctx); err != nil || yes {
		t.Errorf("in a new database: %v, %v", yes, err)
	}
	u, err := f.CreateUser(ctx, " Ana@Example.COM ", store.RoleOperator, t0)
	f.ok(err)
	if u.Email != "ana@example.com" || !u.Operator() || u.Password {
		t.Errorf("%+v", u)
	}
	if yes, err := f.AnybodySignsIn(ctx); err != nil || yes {
		t.Errorf("nobody has a password: %v, %v", yes, err)
	}
	for _, email := range []string{"", "ana", "Ana <ana@example.com>", "a@b\r\nBcc: c@d", "ana@example.com\x00", strings.Repeat("a", 300) + "@example.com"} {
		if _, err := f.CreateUser(ctx, email, store.RoleMember, t0); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%q: %v", email, err)
		}
		if _, _, err := f.UserByEmail(ctx, email); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%q is found: %v", email, err)
		}
	}
	if _, err := f.CreateUser(ctx, "b@example.com", "owner", t0); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("a role of accounts: %v", err)
	}
	if _, err := f.CreateUser(ctx, "ANA@example.com", store.RoleMember, t0); !errors.Is(err, store.ErrUserExists) {
		t.Errorf("twice: %v", err)
	}
	f.ok(f.ChangePassword(ctx, u.ID, "$hash", ""))
	found, password, err := f.UserByEmail(ctx, "Ana@example.com")
	f.ok(err)
	if found.ID != u.ID || password != "$hash" || !found.Password {
		t.Errorf("%+v, %q", found, password)
	}
	if yes, err := f.AnybodySignsIn(ctx); err != nil || !yes {
		t.Errorf("with a password: %v, %v", yes, err)
	}
	if err := f.ChangePassword(ctx, "usr_x", "$hash", ""); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("nobody's password: %v", err)
	}
	if all, err := f.Users(ctx, store.Page{}); err != nil || len(all) != 1 {
		t.Errorf("%+v, %v", all, err)
	}
}

func TestBrowserSessions(t *testing.T) {
	f := setup(t)
	ctx := f.ctx()
	u, mine, theirs := f.user("ana@example.com", store.RoleMember), f.account(0), f.account(0)
	f.ok(f.AddMember(ctx, mine, u.ID, store.RoleOwner, t0))
	token, err := f.OpenBrowser(ctx, u.ID, false, t0)
	f.ok(err)
	if len(token) != 43 {
		t.Errorf("a secret of %d characters", len(token))
	}
	b, err := f.Browser(ctx, token, t0.Add(90*time.Second))
	f.ok(err)
	if b.User.ID != u.ID || b.Account != mine || b.Membership != store.RoleOwner || b.Demo {
		t.Errorf("%+v", b)
	}
	for _, wrong := range []string{"", token[1:], token + "A", strings.ToLower(token), b.ID} {
		if _, err := f.Browser(ctx, wrong, t0); !errors.Is(err, store.ErrUnauthorized) {
			t.Errorf("%q: %v", wrong, err)
		}
	}
	p := b.Principal()
	if err := f.CheckKey(ctx, p); err != nil {
		t.Errorf("its tickets: %v", err)
	}
	for _, other := range []store.Principal{{Account: theirs, Key: p.Key}, {Account: mine, Key: u.ID}, {Account: mine, Key: u.ID + "-web_x"}, {Account: mine, Key: "usr_x-" + b.ID}} {
		if err := f.CheckKey(ctx, other); !errors.Is(err, store.ErrUnauthorized) {
			t.Errorf("%+v: %v", other, err)
		}
	}
	if err := f.SwitchAccount(ctx, b, theirs); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a foreign account: %v", err)
	}
	f.ok(f.AddMember(ctx, theirs, u.ID, store.RoleMember, t0))
	f.ok(f.SwitchAccount(ctx, b, theirs))
	f.ok(f.PutNotice(ctx, b, "Done."))
	b, err = f.Browser(ctx, token, t0)
	f.ok(err)
	if b.Account != theirs || b.Membership != store.RoleMember || b.Notice != "Done." {
		t.Errorf("after the switch: %+v", b)
	}
	again, err := f.OpenBrowser(ctx, u.ID, false, t0.Add(time.Hour))
	f.ok(err)
	if next, err := f.Browser(ctx, again, t0.Add(time.Hour)); err != nil || next.Account != theirs {
		t.Errorf("the next sign-in looks at %+v, %v", next, err)
	}
	f.ok(f.AddMember(ctx, theirs, f.user("luis@example.com", store.RoleMember).ID, store.RoleOwner, t0))
	f.ok(f.removed(theirs, u.ID))
	if b, err = f.Browser(ctx, token, t0); err != nil || b.Account != "" || b.Membership != "" {
		t.Errorf("of somebody who was removed: %+v, %v", b, err)
	}
	f.ok(f.CloseBrowser(ctx, token))
	if _, err := f.Browser(ctx, token, t0); !errors.Is(err, store.ErrUnauthorized) {
		t.Errorf("after signing out: %v", err)
	}
	if _, err := f.Browser(ctx, again, t0); err != nil {
		t.Errorf("another browser was signed out: %v", err)
	}
	f.ok(f.CloseBrowsers(ctx, u.ID))
	if _, err := f.Browser(ctx, again, t0); !errors.Is(err, store.ErrUnauthorized) {
		t.Errorf("after signing out everywhere: %v", err)
	}
	if err := f.CheckKey(ctx, p); !errors.Is(err, store.ErrUnauthorized) {
		t.Errorf("tickets after signing out: %v", err)
	}
}

// A session ends a day after its last use, and two weeks after its beginning.
func TestBrowserSessionsRunOut(t *testing.T) {
	f := setup(t)
	ctx := f.ctx()
	u := f.user("ana@example.com", store.RoleMember)
	idle, err := f.OpenBrowser(ctx, u.ID, false, t0)
	f.ok(err)
	used, err := f.OpenBrowser(ctx, u.ID, false, t0)
	f.ok(err)
	at := t0
	for ; at.Before(t0.Add(store.BrowserMost - time.Hour)); at = at.Add(20 * time.Hour) {
		if _, err := f.Browser(ctx, used, at); err != nil {
			t.Fatalf("in use, after %v: %v", at.Sub(t0), err)
		}
	}
	if _, err := f.Browser(ctx, idle, t0.Add(store.BrowserIdle+time.Second)); !errors.Is(err, store.ErrUnauthorized) {
		t.Errorf("not used for a day: %v", err)
	}
	if _, err := f.Browser(ctx, used, t0.Add(store.BrowserMost+time.Second)); !errors.Is(err, store.ErrUnauthorized) {
		t.Errorf("after two weeks: %v", err)
	}
}

func TestChangingAPasswordSignsOut(t *testing.T) {
	f := setup(t)
	ctx := f.ctx()
	u := f.user("ana@example.com", store.RoleMember)
	here, err := f.OpenBrowser(ctx, u.ID, false, t0)
	f.ok(err)
	there, err := f.OpenBrowser(ctx, u.ID, false, t0)
	f.ok(err)
	b, err := f.Browser(ctx, here, t0)
	f.ok(err)
	f.ok(f.ChangePassword(ctx, u.ID, "$other", b.ID))
	if _, err := f.Browser(ctx, here, t0); err != nil {
		t.Errorf("where it was changed: %v", err)
	}
	if _, err := f.Browser(ctx, there, t0); !errors.Is(err, store.ErrUnauthorized) {
		t.Errorf("elsewhere: %v", err)
	}
}

func TestSignInLinks(t *testing.T) {
	f := setup(t)
	ctx := f.ctx()
	u := f.user("ana@example.com", store.RoleMember)
	session, err := f.OpenBrowser(ctx, u.ID, false, t0)
	f.ok(err)
	old, err := f.NewSignInLink(ctx, u.ID, t0)
	f.ok(err)
	token, err := f.NewSignInLink(ctx, u.ID, t0)
	f.ok(err)
	if _, err := f.SignInLink(ctx, old, t0); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an earlier link: %v", err)
	}
	for range 2 { // looking does not use it
		if who, err := f.SignInLink(ctx, token, t0.Add(29*time.Minute)); err != nil || who.Email != u.Email {
			t.Errorf("%+v, %v", who, err)
		}
	}
	if _, err := f.SignInLink(ctx, token, t0.Add(store.SignInLinkLife)); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("after half an hour: %v", err)
	}
	if _, err := f.ChoosePassword(ctx, token, "$new", t0.Add(store.SignInLinkLife)); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("used after half an hour: %v", err)
	}
	if _, err := f.FirstUser(ctx, token, "eve@example.com", "$new", t0); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a link of a user makes a first one: %v", err)
	}
	if who, err := f.ChoosePassword(ctx, token, "$new", t0); err != nil || who != u.ID {
		t.Errorf("%q, %v", who, err)
	}
	if _, password, err := f.UserByEmail(ctx, u.Email); err != nil || password != "$new" {
		t.Errorf("%q, %v", password, err)
	}
	if _, err := f.ChoosePassword(ctx, token, "$newer", t0); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("twice: %v", err)
	}
	if _, err := f.Browser(ctx, session, t0); !errors.Is(err, store.ErrUnauthorized) {
		t.Errorf("a session from before: %v", err)
	}
	if _, err := f.NewSignInLink(ctx, "usr_x", t0); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("for nobody: %v", err)
	}
}

// The link of a new server makes one user, however many try at once; a start makes
// another and kills it.
func TestFirstUser(t *testing.T) {
	f := setup(t)
	ctx := f.ctx()
	dead, err := f.NewSignInLink(ctx, "", t0)
	f.ok(err)
	token, err := f.NewSignInLink(ctx, "", t0)
	f.ok(err)
	if _, err := f.FirstUser(ctx, dead, "eve@example.com", "$hash", t0); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the link of an earlier start: %v", err)
	}
	if _, err := f.FirstUser(ctx, token, "no address", "$hash", t0); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("without an address: %v", err)
	}
	if u, err := f.SignInLink(ctx, token, t0); err != nil || u != nil {
		t.Errorf("a mistake used the link: %v, %v", u, err)
	}
	var wg sync.WaitGroup
	made := make([]error, 8)
	for i := range made {
		wg.Go(func() {
			_, made[i] = f.FirstUser(ctx, token, string(rune('a'+i))+"@example.com", "$hash", t0)
		})
	}
	wg.Wait()
	n := 0
	for _, err := range made {
		if err == nil {
			n++
		} else if !errors.Is(err, store.ErrNotFound) {
			t.Error(err)
		}
	}
	users, err := f.Users(ctx, store.Page{})
	f.ok(err)
	if n != 1 || len(users) != 1 || !users[0].Operator() {
		t.Errorf("%d were made: %+v", n, users)
	}
	late, err := f.NewSignInLink(ctx, "", t0)
	f.ok(err)
	if _, err := f.FirstUser(ctx, late, "eve@example.com", "$hash", t0); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a second first user: %v", err)
	}
}
