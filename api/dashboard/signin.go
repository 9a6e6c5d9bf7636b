package dashboard

import (
	"context"
	"errors"
	"net/http"

	"parley/api"
	"parley/api/dashboard/page"
	"parley/store"
	"parley/store/people"
)

func (d *Dashboard) signInPages() []page.Page {
	return []page.Page{
		{Route: "GET " + page.Home + "/sign-in", Open: page.Anybody, Serve: signInPage},
		{Route: "POST " + page.Home + "/sign-in", Open: page.Anybody, Form: d.signIn},
		{Route: "POST " + page.Home + "/sign-out", Open: page.Anybody, Serve: d.signOut},
		{Route: "POST " + page.Home + "/sign-out-everywhere", Open: page.Users, Serve: d.signOutEverywhere},
		{Route: "GET " + page.Home + "/welcome", Open: page.Anybody, Serve: d.welcomePage},
		{Route: "POST " + page.Home + "/welcome", Open: page.Anybody, Form: d.welcome},
		{Route: "GET " + page.Home + "/password", Open: page.Anybody, Serve: choosePage},
		{Route: "POST " + page.Home + "/password", Open: page.Anybody, Form: d.choose},
		{Route: "GET " + settingsAt, Open: page.Users, Serve: settingsPage},
		{Route: "POST " + settingsAt + "/password", Open: page.Users, Form: d.changePassword},
		{Route: "POST " + page.Home + "/theme", Open: page.Users, Form: d.chooseTheme},
		{Route: "POST " + page.Home + "/ticket", Open: page.Anybody, Serve: mintTicket},
	}
}

// signInView is a form before the sign-in.
type signInView struct {
	Form  *page.Form
	Token string // of the link that led here
	Next  string
	Email string // whose password is chosen
	Seed  bool   // whether a demonstration is offered
	Fresh bool   // whether there is no user yet
	Demo  bool   // whether the server is a demonstration
}

func signInPage(q *page.Request) error {
	next := within(q.R.URL.Query().Get("next"))
	if q.Browser != nil {
		return q.Go(next)
	}
	there, err := q.People.AnybodySignsIn(q.Context())
	if err != nil {
		return err
	}
	demo := q.Demo != ""
	return q.Page("signin", "Sign in", signInView{Form: &page.Form{}, Next: next, Fresh: !there && !demo, Demo: demo})
}

// wrongPair does not say whether the address is a user's.
const wrongPair = "This address and this password do not belong together."

// tooMany is what is said of a guess that is not looked at.
const tooMany = "There were too many attempts. Wait a minute, then try again."

func (d *Dashboard) signIn(q *page.Request, f *page.Form) error {
	v := signInView{Form: f, Next: within(f.Value("next"))}
	email, password := f.Need("email", "Enter your e-mail address."), f.Values.Get("password")
	if password == "" {
		f.Fail("password", "Enter your password.")
	}
	if !f.OK() {
		return q.Invalid("signin", "sign-in-form", "Sign in", v)
	}
	u, right, err := d.guess(q.Context(), email, password)
	switch {
	case errors.Is(err, api.ErrBackOff):
		f.Fail("", tooMany)
	case err != nil:
		return err
	case !right:
		f.Fail("", wrongPair)
	}
	if !f.OK() {
		return q.Invalid("signin", "sign-in-form", "Sign in", v)
	}
	if _, err := d.open(q, u.ID, false); err != nil {
		return err
	}
	return q.Go(v.Next)
}

// guess says whether the password is that of the user with the address, who is nil where
// there is none. Its error is api.ErrBackOff when it was tried too often.
func (d *Dashboard) guess(ctx context.Context, email, password string) (u *people.User, right bool, err error) {
	try, ok := d.guesses.Take(ctx, email)
	if !ok {
		return nil, false, api.ErrBackOff
	}
	u, stored, err := d.People.UserByEmail(ctx, email)
	if err == nil || errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrInvalid) {
		right, err = d.hasher.check(ctx, password, stored)
	}
	if err != nil {
		try.Cancel()
		return nil, false, err
	}
	if right {
		try.Right()
	}
	return u, right, nil
}

func (d *Dashboard) signOut(q *page.Request) error {
	if q.Browser != nil {
		if err := q.People.CloseBrowser(q.Context(), d.token(q.R)); err != nil {
			return err
		}
	}
	d.forget(q)
	return q.Go(page.Home + "/sign-in")
}

// chooseTheme changes the theme of the browser, and goes back to the page that it shows.
func (d *Dashboard) chooseTheme(q *page.Request, f *page.Form) error {
	if err := q.ChooseTheme(f.Value("theme"), d.Secure || q.R.TLS != nil); err != nil {
		return err
	}
	return q.Go(within(f.Value("back")))
}

func (d *Dashboard) signOutEverywhere(q *page.Request) error {
	if err := q.People.CloseBrowsers(q.Context(), q.Browser.User.ID); err != nil {
		return err
	}
	d.forget(q)
	return q.Go(page.Home + "/sign-in")
}

// newPassword reads a password that is chosen, with its hash.
func (d *Dashboard) newPassword(q *page.Request, f *page.Form, email string) (hash string, err error) {
	password := f.Values.Get("password")
	if what := passwordFault(password, email); what != "" {
		f.Fail("password", what)
	}
	if f.Values.Get("again") != password {
		f.Fail("again", "Passwords do not match.")
	}
	if !f.OK() {
		return "", nil
	}
	return d.hasher.hash(q.Context(), password)
}

// errDeadLink is a link that opens nothing; it has a page of its own.
var errDeadLink = errors.New("the link opens nothing")

// linked is err, or errDeadLink where what a link names was not found.
func linked(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return errDeadLink
	}
	return err
}

// signInLink is the user whose link has the token, nil for the link of a server's first user.
func signInLink(q *page.Request, token string, first bool) (*people.User, error) {
	u, err := q.People.SignInLink(q.Context(), token)
	if err == nil && (u == nil) != first {
		err = errDeadLink
	}
	return u, linked(err)
}

// enter signs a user in and goes to the first page.
func (d *Dashboard) enter(q *page.Request, user string) error {
	if _, err := d.open(q, user, false); err != nil {
		return err
	}
	return q.Go(page.Home + "/")
}

// choosePage is where a link leads with which a user chooses a password.
func choosePage(q *page.Request) error {
	token := q.R.URL.Query().Get("token")
	u, err := signInLink(q, token, false)
	if err != nil {
		return err
	}
	return q.Page("password", "Choose a password", signInView{Form: &page.Form{}, Token: token, Email: u.Email})
}

func (d *Dashboard) choose(q *page.Request, f *page.Form) error {
	token := f.Value("token")
	u, err := signInLink(q, token, false)
	if err != nil {
		return err
	}
	hash, err := d.newPassword(q, f, u.Email)
	if err != nil {
		return err
	}
	if !f.OK() {
		return q.Invalid("password", "password-form", "Choose a password", signInView{Form: f, Token: token, Email: u.Email})
	}
	user, err := q.People.ChoosePassword(q.Context(), token, hash)
	if err != nil {
		return linked(err)
	}
	return d.enter(q, user)
}

func (d *Dashboard) changePassword(q *page.Request, f *page.Form) error {
	u := q.Browser.User
	if q.Browser.Demo {
		return page.ErrNotYours // nobody's password
	}
	_, right, err := d.guess(q.Context(), u.Email, f.Values.Get("current"))
	switch {
	case errors.Is(err, api.ErrBackOff):
		f.Fail("", tooMany)
	case err != nil:
		return err
	case !right:
		f.Fail("current", "This is not your password.")
	}
	hash, err := d.newPassword(q, f, u.Email)
	if err != nil {
		return err
	}
	if !f.OK() {
		return q.ShowInvalid("me", "me-form", settingsTitle)(newSettings(q, f))
	}
	if err := q.People.ChangePassword(q.Context(), u.ID, hash, q.Browser.ID); err != nil {
		return err
	}
	return q.Done(settingsAt, "Your password was changed. Other browsers that had signed in were signed out.")
}

// mintTicket gives a page's script what it opens sockets and streams with, which take
// no sign-in: a ticket, as long as the sign-in lasts.
func mintTicket(q *page.Request) error {
	if q.Account() == "" || !api.FromOwnPage(q.R) {
		api.WriteError(q.W, api.ErrMissingKey)
		return nil
	}
	api.WriteJSON(q.W, http.StatusOK, q.Tickets.Mint(q.Principal(), q.DB.Now()))
	return nil
}
