package page

import (
	"io/fs"
	"log/slog"
	"net/http"

	"parley/api"
	"parley/api/status"
	"parley/api/ticket"
	"parley/billing"
	"parley/store"
	"parley/store/ledger"
	"parley/store/people"
)

// Home is where the pages are.
const Home = "/app"

// CallsAt is where the history of calls is; below it is each call, by its identifier.
const CallsAt = Home + "/calls"

// Services are what pages work with besides the API's routes.
type Services struct {
	DB      *store.DB
	Ledger  *ledger.Ledger
	People  *people.Store
	Card    func() *billing.RateCard // in force
	Status  *status.Server
	Tickets *ticket.Signer
	Log     *slog.Logger
	// Telephony says whether the server has a telephone; without one the pages about
	// numbers and calls out are not in the navigation.
	Telephony bool
	// Secure says that browsers reach the server by https, also where something else
	// ends TLS; requests that come by TLS are known without it.
	Secure bool
	// Base is the server's own address, without a final slash, for links that people hand
	// on; empty: each is made of the address that the browser used.
	Base string
	// Notices are what people who answer for the server, or for an account, must know about
	// the server before anything else; their pages show them on top.
	Notices []Notice
	// Demo is the account of a demonstration; empty: the server is none.
	Demo string
}

// Notice is one of them, in the words for each.
type Notice struct{ Operator, Owner string }

// Site is what the pages of a server share. Several goroutines may use it.
type Site struct {
	Services
	API        *api.API // whose routes pages use
	views      *views
	navigation func(*Request) []NavGroup
}

// NewSite returns a site with the templates in files, which call the server's own files by asset. It has no API.
func NewSite(s Services, files fs.FS, asset func(name string) string, navigation func(*Request) []NavGroup) *Site {
	return &Site{Services: s, views: newViews(files, asset), navigation: navigation}
}

// Request begins to answer one.
func (s *Site) Request(w http.ResponseWriter, r *http.Request) *Request {
	return &Request{Services: &s.Services, W: w, R: r, site: s}
}

// NavGroup is a part of the navigation.
type NavGroup struct {
	Title string
	Links []NavLink
}

// NavLink is a line of it. It is shown when there is a page at its address that the
// user may open.
type NavLink struct {
	Path, Title string
	Current     bool
	Telephony   bool
}
