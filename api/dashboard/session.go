package dashboard

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"runtime"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"

	"parley/api"
	"parley/api/dashboard/page"
	"parley/store"
	"parley/store/people"
)

// The cookie of a sign-in. Where the server is reached by https its name keeps other
// hosts from setting it (RFC 6265bis section 4.1.3.2).
const (
	cookieName       = "parley"
	secureCookieName = "__Host-parley"
)

func (d *Dashboard) cookie(r *http.Request) *http.Cookie {
	c := &http.Cookie{Name: cookieName, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode, MaxAge: int(people.BrowserMost.Seconds())}
	if d.Secure || r.TLS != nil {
		c.Name, c.Secure = secureCookieName, true
	}
	return c
}

// token is the secret that a browser sent; empty: none. Of several cookies with the
// name the first counts.
func (d *Dashboard) token(r *http.Request) string {
	c, err := r.Cookie(d.cookie(r).Name)
	if err != nil {
		return ""
	}
	return c.Value
}

// browser finds the sign-in that a request carries; nil when there is none. One of a
// demonstration is good only while the server is one.
func (d *Dashboard) browser(r *http.Request) (*people.Browser, error) {
	token := d.token(r)
	if token == "" {
		return nil, nil
	}
	b, err := d.People.Browser(r.Context(), token)
	switch {
	case errors.Is(err, store.ErrUnauthorized):
		return nil, nil
	case err != nil:
		return nil, err
	case b.Demo && d.Demo == "":
		return nil, nil
	}
	return b, nil
}

// SignedIn implements api.SignIns.
func (d *Dashboard) SignedIn(r *http.Request) (api.Principal, error) {
	b, err := d.browser(r)
	if err == nil && b == nil {
		err = api.ErrMissingKey
	}
	return page.PrincipalOf(b), err
}

// open begins a sign-in, with a secret that was never there before; an earlier one of
// the browser ends.
func (d *Dashboard) open(q *page.Request, user string, demo bool) (token string, err error) {
	if old := d.token(q.R); old != "" {
		if err := d.People.CloseBrowser(q.Context(), old); err != nil {
			return "", err
		}
	}
	token, err = d.People.OpenBrowser(q.Context(), user, demo)
	if err != nil {
		return "", err
	}
	c := d.cookie(q.R)
	c.Value = token
	http.SetCookie(q.W, c)
	return token, nil
}

// forget takes the cookie away.
func (d *Dashboard) forget(q *page.Request) {
	c := d.cookie(q.R)
	c.MaxAge = -1
	http.SetCookie(q.W, c)
}

// toSignIn asks who it is, and remembers where they wanted to go.
func toSignIn(q *page.Request) error {
	to := page.Home + "/sign-in"
	if at := q.R.URL.RequestURI(); q.R.Method == http.MethodGet && !q.HTMX() && at != page.Home+"/" {
		to += "?next=" + url.QueryEscape(at)
	}
	return q.Go(to)
}

// within is an address of the dashboard to go on to, else its first page.
func within(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.Host != "" || u.Scheme != "" || !strings.HasPrefix(next, page.Home+"/") || strings.ContainsAny(next, "\\\r\n") ||
		!strings.HasPrefix(path.Clean(u.Path)+"/", page.Home+"/") {
		return page.Home + "/"
	}
	return next
}

// Bounds of a password, in characters and bytes. Long ones are welcome; those beyond
// only make work.
const (
	minPassword = 10
	maxPassword = 256
)

// Parameters of argon2id (RFC 9106): 19 MiB, two passes, one lane.
const (
	argonMemory  = 19 << 10 // KiB
	argonPasses  = 2
	argonLanes   = 1
	argonSalt    = 16 // bytes
	argonKey     = 32 // bytes
	argonVersion = argon2.Version
)

// Each hash takes 19 MiB and a core for about 30 ms. At most half of the cores hash, so
// that sign-ins keep no call waiting, and maxWaiting requests wait for them: the next is
// told to come back. One network may ask for hashBurst at once, and one more each hashEvery.
const (
	maxWaiting = 16
	hashBurst  = 30
	hashEvery  = 2 * time.Second
)

// hasher hashes passwords, a few at a time.
type hasher struct {
	slots    chan struct{}
	waiting  atomic.Int64
	networks *api.Buckets
	done     atomic.Int64 // how often it hashed
	dummy    string       // the hash of a random password
}

func newHasher() *hasher {
	salt := make([]byte, argonSalt)
	rand.Read(salt)
	key := make([]byte, argonKey)
	rand.Read(key)
	return &hasher{slots: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2)), networks: api.NewBuckets(hashEvery, hashBurst), dummy: encodeHash(salt, key)}
}

// passwordFault says what is wrong with a new password; empty: nothing.
func passwordFault(password, email string) string {
	local, _, _ := strings.Cut(email, "@")
	switch {
	case utf8.RuneCountInString(password) < minPassword:
		return fmt.Sprintf("Take at least %d characters; several words are easy to remember.", minPassword)
	case len(password) > maxPassword:
		return fmt.Sprintf("Take at most %d characters.", maxPassword)
	case strings.EqualFold(password, email), len(local) >= minPassword && strings.EqualFold(password, local):
		return "Take something else than your address."
	case strings.Count(password, password[:1]) == len(password):
		return "Take more than one character again and again."
	}
	return ""
}

// hash makes what is stored of a password. It waits for its turn. Its errors are
// api.ErrBackOff, when the request's network has asked for too many, and api.ErrBusy.
func (h *hasher) hash(ctx context.Context, password string) (string, error) {
	salt := make([]byte, argonSalt)
	rand.Read(salt)
	key, err := h.key(ctx, password, salt, argonMemory, argonPasses, argonLanes, argonKey)
	if err != nil {
		return "", err
	}
	return encodeHash(salt, key), nil
}

func (h *hasher) key(ctx context.Context, password string, salt []byte, memory, passes uint32, lanes uint8, size uint32) ([]byte, error) {
	if !h.networks.Take(api.NetworkOf(ctx)) {
		return nil, api.ErrBackOff
	}
	if h.waiting.Add(1) > maxWaiting {
		h.waiting.Add(-1)
		return nil, api.ErrBusy
	}
	select {
	case h.slots <- struct{}{}:
		h.waiting.Add(-1)
	case <-ctx.Done():
		h.waiting.Add(-1)
		return nil, ctx.Err()
	}
	defer func() { <-h.slots }()
	h.done.Add(1)
	return argon2.IDKey([]byte(password), salt, passes, memory, lanes, size), nil
}

var hashText = base64.RawStdEncoding

func encodeHash(salt, key []byte) string {
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argonVersion, argonMemory, argonPasses, argonLanes,
		hashText.EncodeToString(salt), hashText.EncodeToString(key))
}

// check says whether a password is the one that was stored. Where none was it takes the
// same time and says no.
func (h *hasher) check(ctx context.Context, password, stored string) (bool, error) {
	nobody := stored == "" || len(password) > maxPassword
	if nobody {
		stored, password = h.dummy, password[:min(len(password), maxPassword)]
	}
	var version int
	var memory, passes uint32
	var lanes uint8
	parts := strings.Split(stored, "$")
	if len(parts) != 6 || parts[1] != "argon2id" {
		return false, fmt.Errorf("a stored password has an unknown form")
	}
	_, err1 := fmt.Sscanf(parts[2], "v=%d", &version)
	_, err2 := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &memory, &passes, &lanes)
	salt, err3 := hashText.DecodeString(parts[4])
	want, err4 := hashText.DecodeString(parts[5])
	if err1 != nil || err2 != nil || err3 != nil || err4 != nil || version != argonVersion || memory > 1<<20 || passes < 1 || lanes < 1 {
		return false, fmt.Errorf("a stored password has an unknown form")
	}
	got, err := h.key(ctx, password, salt, memory, passes, lanes, uint32(len(want)))
	if err != nil {
		return false, err
	}
	return subtle.ConstantTimeCompare(got, want) == 1 && !nobody, nil
}
