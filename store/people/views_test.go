package people_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"parley/store"
	"parley/store/people"
)

// TestViews: a user's in one account, by name, as many as there may be; nobody else's, and gone with the membership.
func TestViews(t *testing.T) {
	f := setup(t)
	ctx := f.ctx()
	ana, luis, mine, theirs := f.user("ana@example.com", people.RoleMember), f.user("luis@example.com", people.RoleMember), f.account(), f.account()
	f.ok(f.AddMember(ctx, mine, ana.ID, people.RoleOwner))
	f.ok(f.AddMember(ctx, mine, luis.ID, people.RoleOwner))
	f.ok(f.AddMember(ctx, theirs, luis.ID, people.RoleOwner))
	views := func(user, account string) string {
		t.Helper()
		list, err := f.Views(ctx, user, account)
		f.ok(err)
		var out []string
		for _, v := range list {
			out = append(out, v.Name+"="+v.Query)
		}
		return strings.Join(out, " ")
	}
	f.ok(f.SaveView(ctx, ana.ID, mine, " Refunds ", "q=refund"))
	f.ok(f.SaveView(ctx, ana.ID, mine, "angry", "tag=angry"))
	f.ok(f.SaveView(ctx, ana.ID, mine, "Refunds", "q=refunds"))
	f.ok(f.SaveView(ctx, luis.ID, mine, "Refunds", "q=mine"))
	if got := views(ana.ID, mine); got != "angry=tag=angry Refunds=q=refunds" {
		t.Errorf("views are %s", got)
	}
	list, err := f.Views(ctx, ana.ID, mine)
	f.ok(err)
	id := list[0].ID
	for what, err := range map[string]error{
		"save in a foreign account": f.SaveView(ctx, ana.ID, theirs, "x", "q=x"),
		"rename another user's":     f.RenameView(ctx, luis.ID, mine, id, "mine"),
		"rename in another account": f.RenameView(ctx, ana.ID, theirs, id, "mine"),
		"rename what there is not":  f.RenameView(ctx, ana.ID, mine, "view_x", "mine"),
		"delete another user's":     f.DeleteView(ctx, luis.ID, mine, id),
		"delete in another account": f.DeleteView(ctx, ana.ID, theirs, id),
	} {
		if !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := f.RenameView(ctx, ana.ID, mine, id, "Refunds"); !errors.Is(err, people.ErrViewName) {
		t.Errorf("a name that is taken: %v", err)
	}
	for _, name := range []string{"", " ", "a\nb", strings.Repeat("a", 61), "\xff"} {
		if err := f.SaveView(ctx, ana.ID, mine, name, "q=x"); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("save as %q: %v", name, err)
		}
		if err := f.RenameView(ctx, ana.ID, mine, id, name); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("rename to %q: %v", name, err)
		}
	}
	if err := f.SaveView(ctx, ana.ID, mine, "long", strings.Repeat("a", 2001)); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("a query that is too long: %v", err)
	}
	f.ok(f.RenameView(ctx, ana.ID, mine, id, "Furious"))
	for i := 2; i < people.MaxViews; i++ {
		f.ok(f.SaveView(ctx, ana.ID, mine, fmt.Sprint("view ", i), "q=x"))
	}
	if err := f.SaveView(ctx, ana.ID, mine, "one more", "q=x"); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("one more than there may be: %v", err)
	}
	f.ok(f.SaveView(ctx, ana.ID, mine, "Refunds", "q=again"))
	f.ok(f.DeleteView(ctx, ana.ID, mine, id))
	if got := views(ana.ID, mine); strings.Contains(got, "Furious") || !strings.Contains(got, "Refunds=q=again") {
		t.Errorf("views are %s", got)
	}
	_, err = f.RemoveMember(ctx, mine, ana.ID, false)
	f.ok(err)
	f.ok(f.AddMember(ctx, mine, ana.ID, people.RoleMember))
	if got := views(ana.ID, mine); got != "" {
		t.Errorf("views of an earlier membership: %s", got)
	}
	if got := views(luis.ID, mine); got != "Refunds=q=mine" {
		t.Errorf("another user's views are %s", got)
	}
}
