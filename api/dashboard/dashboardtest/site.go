package dashboardtest

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"golang.org/x/crypto/argon2"

	"parley/api"
	"parley/api/apitest"
	"parley/api/calls"
	"parley/api/dashboard"
	"parley/api/dashboard/page"
	"parley/api/export"
	"parley/api/manage"
	"parley/api/operator"
	"parley/api/requests"
	"parley/api/status"
	"parley/api/ticket"
	"parley/api/trunks"
	"parley/api/trunks/preset"
	"parley/api/wallet"
	"parley/api/webhook"
	"parley/api/wire"
	"parley/billing"
	"parley/inference"
	"parley/store"
	"parley/store/ledger"
	"parley/store/people"
	kept "parley/store/requests"
	"parley/store/storetest"
	trunkstore "parley/store/trunks"
	webhookstore "parley/store/webhook"
)

// Site is a server with the dashboard, on a database of its own, and with somebody who
// may do everything: an operator who owns an account.
type Site struct {
	T         testing.TB
	DB        *store.DB
	People    *people.Store
	Database  string // its address
	API       *api.API
	Dashboard *dashboard.Dashboard
	Hooks     *webhookstore.Store
	Trunks    *trunkstore.Store
	URL       string
	Handler   http.Handler // what listens there

	Email, Password, User string
	Account               string
	Client                *http.Client // a browser without scripts; it keeps cookies and follows nothing
}

// Options of a site.
type Options struct {
	// Mount adds routes that pages use beyond those that all sites have: /v1 of calls,
	// webhooks, balance and tickets.
	Mount func(s *Site, a *api.API)
	// Change changes what the dashboard is given.
	Change func(s *Site, d *dashboard.Options)
	// Empty makes no user and no account.
	Empty bool
	// TrustProxy believes X-Forwarded-For of this machine.
	TrustProxy bool
	// Checks says what the setup check finds, given what it finds otherwise.
	Checks func([]wire.Check) ([]wire.Check, error)
}

// Credentials of the first user of a site.
const (
	Email    = "ana@example.com"
	Password = "correct horse battery"
)

// NewSite starts a server until the test ends.
func NewSite(t testing.TB, o Options) *Site {
	t.Helper()
	s := &Site{T: t, Database: storetest.URL(t), Email: Email, Password: Password}
	s.DB = storetest.Open(t, s.Database)
	s.People = people.New(s.DB)
	card := billing.DefaultRateCard()
	s.OK(s.DB.PutRateCard(t.Context(), card))
	signer, err1 := ticket.NewSigner("a master secret of a test, long enough")
	vault, err2 := people.NewVault(s.DB, "a master key of at least 32 characters")
	s.OK(errors.Join(err1, err2))
	s.Hooks = webhookstore.New(s.DB, vault)
	if !o.Empty {
		u := s.NewUser(s.Email, people.RoleOperator)
		s.User = u
		a, err := ledger.New(s.DB).OwnAccount(t.Context(), u, "Casa Lola", card)
		s.OK(err)
		s.Account = a.ID
		_, _, err = ledger.New(s.DB).Credit(t.Context(), ledger.Credit{Account: a.ID, Kind: ledger.Topup, Amount: 20 * billing.USD, Key: "test", Source: "sim"})
		s.OK(err)
	}
	options := dashboard.Options{Services: page.Services{DB: s.DB, Ledger: ledger.New(s.DB), People: s.People, Card: billing.DefaultRateCard, Tickets: signer, Telephony: true, Status: serverStatus(s.DB),
		Log: slog.New(slog.NewTextHandler(t.Output(), nil))}}
	if o.Change != nil {
		o.Change(s, &options)
	}
	s.Dashboard = dashboard.New(options)
	s.API = api.New(keys{ticket.Keys{Signer: signer, Store: s.DB, People: s.People}, s.Dashboard})
	files := export.New(s.DB)
	calls.Mount(s.API, s.DB, files)
	requests.Mount(s.API, kept.New(s.DB))
	wallet.Mount(s.API, s.DB, files, billing.DefaultRateCard)
	ticket.Mount(s.API, signer, s.DB, nil)
	webhook.Mount(s.API, s.DB, s.Hooks, noLocal)
	s.Trunks = trunkstore.New(s.DB, vault)
	trunks.Mount(s.API, s.Trunks, lines{}, s.DB, preset.Server{Host: "voice.example.com", Port: 5060})
	manage.MountEngineKeys(s.API, people.NewEngineKeys(vault), new(apitest.Vendors))
	manage.MountSecrets(s.API, vault)
	manage.MountAccount(s.API, s.DB, billing.DefaultRateCard, 50)
	manage.MountPeople(s.API, s.People, dashboard.InvitationLink)
	operator.Mount(s.API, s.DB, billing.DefaultRateCard, func(string) {})
	operator.MountChecks(s.API, func(context.Context) ([]wire.Check, error) {
		if o.Checks == nil {
			return checks, nil
		}
		return o.Checks(checks)
	})
	if o.Mount != nil {
		o.Mount(s, s.API)
	}
	s.Dashboard.Mount(s.API)
	edge := api.Options{Log: options.Log}
	if o.TrustProxy {
		edge.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	}
	s.Handler = s.API.Handler(edge)
	server := httptest.NewServer(s.Handler)
	t.Cleanup(server.Close)
	s.URL = server.URL
	s.Client = s.NewClient()
	return s
}

// keys takes the dashboard's sign-in, too.
type keys struct {
	ticket.Keys
	*dashboard.Dashboard
}

// checks are one of everything.
var checks = []wire.Check{
	{Name: "http port", Status: "ok", Detail: ":8080 is in use by a running Parley"},
	{Name: "microphone", Status: "warn", Detail: "pages are reached over HTTP: browsers on other machines give them no microphone", Fix: "set PARLEY_TLS_CERT and PARLEY_TLS_KEY"},
	{Name: "webrtc port", Status: "fail", Detail: ":8443 is in use by another program", Fix: "stop that program (ss -lptun shows it), or set PARLEY_WEBRTC_UDP_PORT"},
}

// lines are trunks of which one server answers and another does not.
type lines struct{}

func (lines) Draft(_ string, n *wire.NewTrunk) (d trunkstore.Draft, err error) {
	if n.Country == "QQ" {
		return d, store.Invalid("country: there is no QQ")
	}
	d = trunkstore.Draft{Name: n.Name, Secrets: trunkstore.Secrets{Password: n.Password, Inbound: n.InboundPassword, Key: n.Key}, Sources: []netip.Prefix{}}
	d.Settings, err = json.Marshal(n.TrunkSettings)
	return d, err
}

func (lines) Look(context.Context) error { return nil }

func (lines) Status(string) *wire.TrunkStatus {
	return &wire.TrunkStatus{Calls: 2, Targets: []wire.TargetStatus{{Target: "udp:192.0.2.10:5060", Up: true}, {Target: "tls:192.0.2.11:5061", Detail: "OPTIONS: 503 Service Unavailable"}},
		Registration: &wire.TrunkRegistration{Error: "REGISTER: 403 Forbidden"}}
}

func (lines) Check(context.Context, string) (*wire.TrunkStatus, error) {
	return lines{}.Status(""), nil
}

func noLocal(address string) error {
	if strings.Contains(address, "10.0.0.1") {
		return errors.New("10.0.0.1 is not on the public Internet")
	}
	return nil
}

func serverStatus(db *store.DB) *status.Server {
	engine := func(kind status.Kind, name, vendor string, ready error) status.Engine {
		return status.Engine{Kind: kind, Info: func() inference.Info { return inference.Info{Name: name, Languages: []string{"en", "es"}} },
			Ready: func(context.Context) error { return ready }, Vendor: vendor, Unproven: vendor != "", TakesKeys: vendor != ""}
	}
	return &status.Server{Version: "1.2.3", Started: time.Now().Add(-90 * time.Minute), Database: db.Ping,
		Engines: []status.Engine{engine(status.STT, "pocketsphinx", "", nil), engine(status.STT, "flux", "deepgram", nil), engine(status.LLM, "scripted", "", nil),
			engine(status.LLM, "haiku", "anthropic", nil), engine(status.TTS, "espeak", "", errors.New("the worker was started a moment ago"))},
		Storage: func(context.Context) error { return nil }, Calls: func() int { return 2 }, Load: func() float64 { return 0.02 }, Counts: new(api.Counts)}
}

func now() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }

// OK ends the test with an error.
func (s *Site) OK(err error) {
	s.T.Helper()
	if err != nil {
		s.T.Fatal(err)
	}
}

// NewUser makes a user with Password, and returns their identifier.
func (s *Site) NewUser(email, role string) string {
	s.T.Helper()
	ctx := s.T.Context()
	u, err := s.People.CreateUser(ctx, email, role)
	s.OK(err)
	s.OK(s.People.ChangePassword(ctx, u.ID, weakHash(Password), ""))
	return u.ID
}

// weakHash is how passwords are stored, with so little work that tests do not wait.
func weakHash(password string) string {
	salt := []byte("salt of all tests")
	key := argon2.IDKey([]byte(password), salt, 1, 64, 1, 32)
	e := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=64,t=1,p=1$%s$%s", argon2.Version, e.EncodeToString(salt), e.EncodeToString(key))
}

// cookie begins a session of a user, and is what their browser then has.
func (s *Site) cookie(user string) *http.Cookie {
	s.T.Helper()
	token, err := s.People.OpenBrowser(s.T.Context(), user, false)
	s.OK(err)
	return &http.Cookie{Name: "parley", Value: token, Path: "/"}
}

// NewClient returns a browser without scripts in which nobody has signed in.
func (s *Site) NewClient() *http.Client {
	jar, _ := cookiejar.New(nil) // never fails without options
	return &http.Client{Jar: jar, Timeout: Patience, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// SignIn signs the site's user in to Client.
func (s *Site) SignIn() *Site {
	s.T.Helper()
	s.SignInAs(s.Client, s.User)
	return s
}

// SignInAs signs a user in to a client.
func (s *Site) SignInAs(c *http.Client, user string) {
	s.T.Helper()
	at, err := url.Parse(s.URL)
	s.OK(err)
	c.Jar.SetCookies(at, []*http.Cookie{s.cookie(user)})
}

// Tab opens a tab of the browser in which the site's user has signed in.
func (s *Site) Tab(flags ...string) *Tab {
	s.T.Helper()
	b := Open(s.T, s.URL, flags...)
	s.SignInTab(b, s.User)
	return b
}

// SignInTab signs a user in to a tab.
func (s *Site) SignInTab(b *Tab, user string) {
	s.T.Helper()
	c := s.cookie(user)
	b.Do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		hidden := true
		_, err := cdp.Call(ctx, t, network.SetCookie, network.SetCookieParams{Name: c.Name, Value: c.Value, URL: s.URL, HTTPOnly: &hidden, SameSite: network.CookieSameSiteLax})
		return err
	}))
}

// Answer is what a page answered.
type Answer struct {
	Status int
	Header http.Header
	Body   string
}

// Get asks for a page as Client.
func (s *Site) Get(path string, header ...string) Answer {
	s.T.Helper()
	return s.Ask(s.Client, http.MethodGet, path, "", header...)
}

// Post sends a form as a page of the site would; fields are names and values in turn.
func (s *Site) Post(path string, fields ...string) Answer {
	s.T.Helper()
	v := url.Values{}
	for i := 0; i+1 < len(fields); i += 2 {
		v.Add(fields[i], fields[i+1])
	}
	return s.Ask(s.Client, http.MethodPost, path, v.Encode(), "Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin")
}

// Ask sends a request; header are names and values in turn.
func (s *Site) Ask(c *http.Client, method, path, body string, header ...string) Answer {
	s.T.Helper()
	r, err := http.NewRequestWithContext(s.T.Context(), method, s.URL+path, strings.NewReader(body))
	s.OK(err)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w, err := c.Do(r)
	s.OK(err)
	defer w.Body.Close()
	b, err := io.ReadAll(w.Body)
	s.OK(err)
	return Answer{w.StatusCode, w.Header, string(b)}
}

// JSON reads an answer's body.
func (a Answer) JSON(t testing.TB, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(a.Body), into); err != nil {
		t.Fatalf("%v: %s", err, a.Body)
	}
}

// Stamp is now, as the store keeps it.
func (s *Site) Stamp() time.Time { return now() }
