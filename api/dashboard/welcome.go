package dashboard

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"parley/api"
	"parley/api/dashboard/page"
	"parley/store"
	"parley/store/people"
)

// FirstRun is the path of the link with which a new server's first user is made; empty
// when the server has one. Earlier links are dead.
func FirstRun(ctx context.Context, db *store.DB) (string, error) {
	there, err := people.New(db).AnybodySignsIn(ctx)
	if err != nil || there {
		return "", err
	}
	token, err := people.New(db).NewSignInLink(ctx, "")
	if err != nil {
		return "", err
	}
	return page.Home + "/welcome?token=" + token, nil
}

// PasswordLink is the path of the link with which a user chooses a password.
func PasswordLink(token string) string {
	return page.Home + "/password?token=" + url.QueryEscape(token)
}

func (d *Dashboard) welcomePage(q *page.Request) error {
	token := q.R.URL.Query().Get("token")
	_, err := signInLink(q, token, true)
	return q.Show("welcome", "Set up Parley")(signInView{Form: page.NewForm("account", "My company", "begin", "demo"), Token: token, Seed: d.seed != nil}, err)
}

// welcome makes the first user, an operator, and their account.
func (d *Dashboard) welcome(q *page.Request, f *page.Form) error {
	v := signInView{Form: f, Token: f.Value("token"), Seed: d.seed != nil}
	// Hashing a password costs much: the link is checked first.
	if _, err := signInLink(q, v.Token, true); err != nil {
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
	hash, err := d.newPassword(q, f, email)
	if err != nil {
		return err
	}
	if !f.OK() {
		return q.Invalid("welcome", "welcome-form", "Set up Parley", v)
	}
	u, err := q.People.FirstUser(q.Context(), v.Token, email, hash)
	switch {
	case errors.Is(err, people.ErrUserExists):
		f.Fail("email", "There is a user with this address already.")
		return q.Invalid("welcome", "welcome-form", "Set up Parley", v)
	case err != nil:
		return linked(err)
	}
	if demo {
		err = d.seedFor(q.Context(), u.ID)
	} else {
		_, err = q.Ledger.OwnAccount(q.Context(), u.ID, f.Value("account"), q.Card())
	}
	if err != nil {
		return err
	}
	return d.enter(q, u.ID)
}

// seedFor makes the demonstration a user's.
func (d *Dashboard) seedFor(ctx context.Context, user string) error {
	account, err := d.seed(ctx)
	if err != nil {
		return err
	}
	return d.People.AddMember(ctx, account, user, people.RoleOwner)
}

// demoUser opens the demonstration. They own its account, are no operator and have no
// password.
const demoUser = "demo@localhost"

// demoAt is where links of a demonstration lead.
const demoAt = page.Home + "/demo"

// DemoLinks open a demonstration without a password, each once. They are kept in memory
// and end with the process. The zero DemoLinks has none; it may be used from several
// goroutines.
type DemoLinks struct {
	mu   sync.Mutex
	open [][sha256.Size]byte // hashes of tokens, the oldest first
}

// maxDemoLinks is how many may be open; the oldest goes.
const maxDemoLinks = 16

// New makes a link and returns its path.
func (l *DemoLinks) New() string {
	b := make([]byte, 32)
	rand.Read(b)
	token := base64.RawURLEncoding.EncodeToString(b)
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.open) == maxDemoLinks {
		l.open = slices.Delete(l.open, 0, 1)
	}
	l.open = append(l.open, sha256.Sum256([]byte(token)))
	return demoAt + "?token=" + token
}

// use says whether a link has the token, which it then has no more.
func (l *DemoLinks) use(token string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.Index(l.open, sha256.Sum256([]byte(token)))
	if i < 0 {
		return false
	}
	l.open = slices.Delete(l.open, i, i+1)
	return true
}

// mountDemo adds what a demonstration has: the address of its links, and for who owns its
// account the route that makes them.
func (d *Dashboard) mountDemo(a *api.API) {
	if d.Demo == "" {
		return
	}
	d.handle(a, page.Page{Route: "GET " + demoAt, Open: page.Anybody, Serve: d.openDemo})
	a.Handle(api.Route{Access: api.Owners, OwnPagesOnly: true, Operation: huma.Operation{
		Method: http.MethodPost, Path: "/v1/demonstration-links", OperationID: "create-demonstration-link", Hidden: true,
	}}, api.HandlerFunc(d.newDemoLink))
}

// newDemoLink answers with the path of a new link.
func (d *Dashboard) newDemoLink(w http.ResponseWriter, r *http.Request) error {
	if api.PrincipalOf(r.Context()).Account != d.Demo {
		return api.ErrNotFound
	}
	api.WriteJSON(w, http.StatusCreated, map[string]string{"path": d.links.New()})
	return nil
}

// openDemo exchanges a link for a sign-in. The page that follows has no token in its
// address.
func (d *Dashboard) openDemo(q *page.Request) error {
	if q.R.Method != http.MethodGet || !d.links.use(q.R.URL.Query().Get("token")) {
		return errDeadLink
	}
	ctx := q.Context()
	u, _, err := q.People.UserByEmail(ctx, demoUser)
	if errors.Is(err, store.ErrNotFound) {
		if u, err = q.People.CreateUser(ctx, demoUser, people.RoleMember); errors.Is(err, people.ErrUserExists) {
			u, _, err = q.People.UserByEmail(ctx, demoUser) // by another request
		}
	}
	if err != nil {
		return err
	}
	if err := q.People.AddMember(ctx, q.Demo, u.ID, people.RoleOwner); err != nil {
		return err
	}
	if _, err := d.open(q, u.ID, true); err != nil {
		return err
	}
	return q.Go(page.Home + "/")
}
