package people_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/store"
	"parley/store/people"
	"parley/store/storetest"
)

// user makes a user with a password.
func (f *fixture) user(email, role string) *people.User {
	f.t.Helper()
	u, err := f.CreateUser(f.ctx(), email, role)
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
	u, err := f.CreateUser(ctx, " Ana@Example.COM ", people.RoleOperator)
	f.ok(err)
	if u.Email != "ana@example.com" || !u.Operator() || u.Password {
		t.Errorf("%+v", u)
	}
	if yes, err := f.AnybodySignsIn(ctx); err != nil || yes {
		t.Errorf("nobody has a password: %v, %v", yes, err)
	}
	for _, email := range []string{"", "ana", "Ana <ana@example.com>", "a@b\r\nBcc: c@d", "ana@example.com\x00", strings.Repeat("a", 300) + "@example.com"} {
		if _, err := f.CreateUser(ctx, email, people.RoleMember); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%q: %v", email, err)
		}
		if _, _, err := f.UserByEmail(ctx, email); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%q is found: %v", email, err)
		}
	}
	if _, err := f.CreateUser(ctx, "b@example.com", "owner"); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("a role of accounts: %v", err)
	}
	if _, err := f.CreateUser(ctx, "ANA@example.com", people.RoleMember); !errors.Is(err, people.ErrUserExists) {
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
	u, mine, theirs := f.user("ana@example.com", people.RoleMember), f.account(), f.account()
	f.ok(f.AddMember(ctx, mine, u.ID, people.RoleOwner))
	token, err := f.OpenBrowser(ctx, u.ID, false)
	f.ok(err)
	if len(token) != 43 {
		t.Errorf("a secret of %d characters", len(token))
	}
	b, err := f.Browser(storetest.At(ctx, t0.Add(90*time.Second)), token)
	f.ok(err)
	if b.User.ID != u.ID || b.Account != mine || b.Membership != people.RoleOwner || b.Demo {
		t.Errorf("%+v", b)
	}
	for _, wrong := range []string{"", token[1:], token + "A", strings.ToLower(token), b.ID} {
		if _, err := f.Browser(ctx, wrong); !errors.Is(err, store.ErrUnauthorized) {
			t.Errorf("%q: %v", wrong, err)
		}
	}
	p := b.Principal()
	if err := f.CheckKey(ctx, p); err != nil {
		t.Errorf("its tickets: %v", err)
	}
	for _, other := range []people.Principal{{Account: theirs, Key: p.Key}, {Account: mine, Key: u.ID}, {Account: mine, Key: u.ID + "-web_x"}, {Account: mine, Key: "usr_x-" + b.ID}} {
		if err := f.CheckKey(ctx, other); !errors.Is(err, store.ErrUnauthorized) {
			t.Errorf("%+v: %v", other, err)
		}
	}
	if err := f.SwitchAccount(ctx, b, theirs); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a foreign account: %v", err)
	}
	f.ok(f.AddMember(ctx, theirs, u.ID, people.RoleMember))
	f.ok(f.SwitchAccount(ctx, b, theirs))
	f.ok(f.PutNotice(ctx, b, "Done."))
	b, err = f.Browser(ctx, token)
	f.ok(err)
	if b.Account != theirs || b.Membership != people.RoleMember || b.Notice != "Done." {
		t.Errorf("after the switch: %+v", b)
	}
	again, err := f.OpenBrowser(storetest.At(ctx, t0.Add(time.Hour)), u.ID, false)
	f.ok(err)
	if next, err := f.Browser(storetest.At(ctx, t0.Add(time.Hour)), again); err != nil || next.Account != theirs {
		t.Errorf("the next sign-in looks at %+v, %v", next, err)
	}
	f.ok(f.AddMember(ctx, theirs, f.user("luis@example.com", people.RoleMember).ID, people.RoleOwner))
	f.ok(f.removed(theirs, u.ID))
	if b, err = f.Browser(ctx, token); err != nil || b.Account != "" || b.Membership != "" {
		t.Errorf("of somebody who was removed: %+v, %v", b, err)
	}
	f.ok(f.CloseBrowser(ctx, token))
	if _, err := f.Browser(ctx, token); !errors.Is(err, store.ErrUnauthorized) {
		t.Errorf("after signing out: %v", err)
	}
	if _, err := f.Browser(ctx, again); err != nil {
		t.Errorf("another browser was signed out: %v", err)
	}
	f.ok(f.CloseBrowsers(ctx, u.ID))
	if _, err := f.Browser(ctx, again); !errors.Is(err, store.ErrUnauthorized) {
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
	u := f.user("ana@example.com", people.RoleMember)
	idle, err := f.OpenBrowser(ctx, u.ID, false)
	f.ok(err)
	used, err := f.OpenBrowser(ctx, u.ID, false)
	f.ok(err)
	at := t0
	for ; at.Before(t0.Add(people.BrowserMost - time.Hour)); at = at.Add(20 * time.Hour) {
		if _, err := f.Browser(storetest.At(ctx, at), used); err != nil {
			t.Fatalf("in use, after %v: %v", at.Sub(t0), err)
		}
	}
	if _, err := f.Browser(storetest.At(ctx, t0.Add(people.BrowserIdle+time.Second)), idle); !errors.Is(err, store.ErrUnauthorized) {
		t.Errorf("not used for a day: %v", err)
	}
	if _, err := f.Browser(storetest.At(ctx, t0.Add(people.BrowserMost+time.Second)), used); !errors.Is(err, store.ErrUnauthorized) {
		t.Errorf("after two weeks: %v", err)
	}
}

func TestChangingAPasswordSignsOut(t *testing.T) {
	f := setup(t)
	ctx := f.ctx()
	u := f.user("ana@example.com", people.RoleMember)
	here, err := f.OpenBrowser(ctx, u.ID, false)
	f.ok(err)
	there, err := f.OpenBrowser(ctx, u.ID, false)
	f.ok(err)
	b, err := f.Browser(ctx, here)
	f.ok(err)
	f.ok(f.ChangePassword(ctx, u.ID, "$other", b.ID))
	if _, err := f.Browser(ctx, here); err != nil {
		t.Errorf("where it was changed: %v", err)
	}
	if _, err := f.Browser(ctx, there); !errors.Is(err, store.ErrUnauthorized) {
		t.Errorf("elsewhere: %v", err)
	}
}

func TestSignInLinks(t *testing.T) {
	f := setup(t)
	ctx := f.ctx()
	u := f.user("ana@example.com", people.RoleMember)
	session, err := f.OpenBrowser(ctx, u.ID, false)
	f.ok(err)
	old, err := f.NewSignInLink(ctx, u.ID)
	f.ok(err)
	token, err := f.NewSignInLink(ctx, u.ID)
	f.ok(err)
	if _, err := f.SignInLink(ctx, old); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an earlier link: %v", err)
	}
	for range 2 { // looking does not use it
		if who, err := f.SignInLink(storetest.At(ctx, t0.Add(29*time.Minute)), token); err != nil || who.Email != u.Email {
			t.Errorf("%+v, %v", who, err)
		}
	}
	if _, err := f.SignInLink(storetest.At(ctx, t0.Add(people.SignInLinkLife)), token); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("after half an hour: %v", err)
	}
	if _, err := f.ChoosePassword(storetest.At(ctx, t0.Add(people.SignInLinkLife)), token, "$new"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("used after half an hour: %v", err)
	}
	if _, err := f.FirstUser(ctx, token, "eve@example.com", "$new"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a link of a user makes a first one: %v", err)
	}
	if who, err := f.ChoosePassword(ctx, token, "$new"); err != nil || who != u.ID {
		t.Errorf("%q, %v", who, err)
	}
	if _, password, err := f.UserByEmail(ctx, u.Email); err != nil || password != "$new" {
		t.Errorf("%q, %v", password, err)
	}
	if _, err := f.ChoosePassword(ctx, token, "$newer"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("twice: %v", err)
	}
	if _, err := f.Browser(ctx, session); !errors.Is(err, store.ErrUnauthorized) {
		t.Errorf("a session from before: %v", err)
	}
	if _, err := f.NewSignInLink(ctx, "usr_x"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("for nobody: %v", err)
	}
}

// The link of a new server makes one user, however many try at once; a start makes
// another and kills it.
func TestFirstUser(t *testing.T) {
	f := setup(t)
	ctx := f.ctx()
	dead, err := f.NewSignInLink(ctx, "")
	f.ok(err)
	token, err := f.NewSignInLink(ctx, "")
	f.ok(err)
	if _, err := f.FirstUser(ctx, dead, "eve@example.com", "$hash"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the link of an earlier start: %v", err)
	}
	if _, err := f.FirstUser(ctx, token, "no address", "$hash"); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("without an address: %v", err)
	}
	if u, err := f.SignInLink(ctx, token); err != nil || u != nil {
		t.Errorf("a mistake used the link: %v, %v", u, err)
	}
	var wg sync.WaitGroup
	made := make([]error, 8)
	for i := range made {
		wg.Go(func() {
			_, made[i] = f.FirstUser(ctx, token, string(rune('a'+i))+"@example.com", "$hash")
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
	late, err := f.NewSignInLink(ctx, "")
	f.ok(err)
	if _, err := f.FirstUser(ctx, late, "eve@example.com", "$hash"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a second first user: %v", err)
	}
}
