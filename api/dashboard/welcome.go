package dashboard

import (
	"context"
	"errors"
	"net/url"
	"time"

	"parley/store"
	"parley/store/ledger"
	"parley/store/people"
)

// FirstRun is the path of the link with which a new server's first user is made; empty
// when the server has one. Earlier links are dead.
func FirstRun(ctx context.Context, db *store.DB, now time.Time) (string, error) {
	there, err := people.New(db).AnybodySignsIn(ctx)
	if err != nil || there {
		return "", err
	}
	token, err := people.New(db).NewSignInLink(ctx, "")
	if err != nil {
		return "", err
	}
	return home + "/welcome?token=" + token, nil
}

// PasswordLink is the path of the link with which a user chooses a password.
func PasswordLink(token string) string { return home + "/password?token=" + url.QueryEscape(token) }

func welcomePage(q *Request) error {
	token := q.R.URL.Query().Get("token")
	u, err := q.People.SignInLink(q.Context(), token)
	if errors.Is(err, store.ErrNotFound) || u != nil {
		return deadLink(q)
	}
	if err != nil {
		return err
	}
	return q.Page("welcome", "Set up Parley", signInView{Form: NewForm("account", "My company", "begin", "demo"), Token: token, Seed: q.Seed != nil})
}

// welcome makes the first user, who runs the server, and their account.
func welcome(q *Request, f *Form) error {
	v := signInView{Form: f, Token: f.Value("token"), Seed: q.Seed != nil}
	// A password is hashed only for who has the link.
	if u, err := q.People.SignInLink(q.Context(), v.Token); errors.Is(err, store.ErrNotFound) || u != nil {
		return deadLink(q)
	} else if err != nil {
		return err
	}
	demo := v.Seed && f.Value("begin") == "demo"
	email, err := people.NormalEmail(f.Need("email", "Enter your e-mail address."))
	if err != nil {
		f.Fail("email", "Write an address such as ana@example.com.")
	}
	if !demo {
		f.Need("account", "Give the account a name.")
	}
	hash, err := newPassword(q, f, email)
	if err != nil {
		return err
	}
	if !f.OK() {
		return q.Invalid("welcome", "welcome-form", "Set up Parley", v)
	}
	u, err := q.People.FirstUser(q.Context(), v.Token, email, hash)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return deadLink(q)
	case errors.Is(err, people.ErrUserExists):
		f.Fail("email", "There is a user with this address already.")
		return q.Invalid("welcome", "welcome-form", "Set up Parley", v)
	case err != nil:
		return err
	}
	if demo {
		err = q.d.seedFor(q.Context(), u.ID)
	} else {
		_, err = ledger.New(q.DB).OwnAccount(q.Context(), u.ID, f.Value("account"), q.Card(), q.Now())
	}
	if err != nil {
		return err
	}
	if _, err := q.d.open(q, u.ID, false); err != nil {
		return err
	}
	return q.Go(home + "/")
}

// seedFor makes the demonstration a user's.
func (d *Dashboard) seedFor(ctx context.Context, user string) error {
	account, err := d.Seed(ctx)
	if err != nil {
		return err
	}
	return d.People.AddMember(ctx, account, user, people.RoleOwner)
}
