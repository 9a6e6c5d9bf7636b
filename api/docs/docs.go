// Package docs serves the documentation that people read: pages under /docs and
// the explorer at /docs/api. What a page says about an endpoint is generated from
// the OpenAPI document of the running server; prose and examples are files beside
// this one, and every example is run against a real server by the tests. The pages
// work without scripts, and need nothing but this server.
package docs

import (
	"embed"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"parley/api"
	"parley/api/asset"
	"parley/api/trunks/preset"
	"parley/billing"
	"parley/inference/remote"
)

// policy is what browsers let these pages do. There are no inline scripts or styles.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// Where the documentation begins, and what a page's address begins with.
const (
	home     = "/docs"
	explorer = home + "/api"
)

// pagesSentence is all that the OpenAPI document says about pages.
const pagesSentence = " Pages for people are under " + home + " and not part of this document."

// Engine is the options of a vendor's engines of one kind.
type Engine struct {
	Title     string // who makes them, and what they do where one makes several kinds
	Operators bool   // the operator gives them, and no agent
	Options   remote.Options
}

// Options are what the pages say of their server.
type Options struct {
	Engines []Engine // all that a server may have
	Base    string   // its public address, without a final slash; empty: the one at which a page is asked for
	// Telephone is where the other sides of trunks reach it.
	Telephone preset.Server
	// Card is the rate card in force. It may be called from several goroutines, and is not before a page is asked for.
	Card func() *billing.RateCard
}

// Mount adds the documentation to an API. It comes after all other routes, which
// the pages describe; they are rendered when they are first asked for.
func Mount(a *api.API, o Options) {
	a.Document().Info.Description += pagesSentence
	assets := newAssets()
	site := newSite(a.Document(), assets, o)
	for _, p := range pages {
		handle(a, p.path(), site.page(p))
	}
	handle(a, explorer, site.explorer())
	handle(a, searchPath, site.search())
	for _, f := range assets.Files {
		handle(a, f.Path, f)
	}
	handle(a, home+"/{$}", http.RedirectHandler(home, http.StatusMovedPermanently))
}

func handle(a *api.API, path string, h http.Handler) {
	a.Handle(api.Route{Access: api.Public, OwnPagesOnly: true, Operation: huma.Operation{
		Method: http.MethodGet, Path: path, Hidden: true,
	}}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		h.ServeHTTP(w, r)
	}))
}

// page is one page of documentation.
type page struct {
	name  string // of its file, and the end of its address
	Title string
	Lead  string
	// claims are the addresses that its reference describes: exact ones, and those
	// below the ones that end with a slash. The longest decides; in their order the
	// reference shows what there is.
	claims []string
}

// pages are all of them, in the order of the navigation.
var pages = withPresets([]page{
	{"quickstart", "Quickstart", "Hear the service speak, and talk to an agent, in five minutes.", nil},
	{"migration", "Coming from Vapi or Retell", "An assistant or agent of theirs becomes one of yours, with one command.", nil},
	{"clients", "Clients", "TypeScript, Python and Go, in place of requests and sockets by hand.", nil},
	{"authentication", "Keys and tickets", "How a request says whose it is.", []string{"/ws-ticket", "/v1/tickets", "/v1/session-tickets"}},
	{"errors", "Errors", "One body, one list of codes.", nil},
	{"limits", "Limits", "How long, how large, how many, how often.", nil},
	{"agents", "Voice agents", "A conversation over one WebSocket, or over WebRTC.", []string{"/ws/agent", "/webrtc/"}},
	{"callcenter", "Call center", "Telephone numbers and calls.", []string{"/callcenter/", "/callcenter/numbers/search", "/callcenter/numbers", "/v1/do-not-call", "/v1/do-not-call/", "/v1/do-not-call.csv"}},
	{"messages", "Text messages", "SMS from and to numbers that you have bought here.", []string{"/v1/messages", "/v1/messages/"}},
	{"trunks", "Trunk presets", "Lines to exchanges and carriers that many have, and what to enter on their side.", []string{"/v1/trunks", "/v1/trunks/", "/v1/trunk-presets"}},
	{"synthesis", "Speech synthesis", "Text in, speech out: as a stream, in one request, or as a task.", []string{"/ws/tts", "/ws", "/tts/", "/api/tts/"}},
	{"recognition", "Speech recognition", "Speech in, text out: from a recording or live.", []string{"/stt/", "/ws/stt"}},
	{"denoise", "Noise removal", "A recording in, the same recording without its noise out.", []string{"/denoise"}},
	{"discovery", "Discovery and status", "What there is, and how it is doing.", []string{"/voices", "/languages", "/models", "/config", "/health", "/status", "/api/status/", "/ws/agent/", "/"}},
	{"mcp", "MCP", "Agents, calls, numbers and speech as tools for a language model.", []string{"/mcp"}},
	{"calls", "Call history", "Transcripts, outcomes, recordings and quality.", []string{"/v1/calls/", "/v1/calls", "/v1/statistics", "/v1/consents", "/v1/consents.csv"}},
	{"management", "Management", "Agents, their functions, secrets, keys, also of your own for engines, and people of your account.", []string{"/v1/"}},
	{"webhooks", "Webhooks", "Receive events at an address of your own.", []string{"/v1/webhooks", "/v1/webhooks/"}},
	{"billing", "Prices and balance", "What things cost, and when they are charged.",
		[]string{"/v1/pricing", "/v1/balance", "/v1/ledger", "/v1/ledger.csv", "/v1/usage", "/v1/usage.csv", "/v1/usage/engines", "/v1/operator/usage/engines", "/v1/calls/{id}/receipt", "/v1/topups", "/v1/auto-recharge", "/v1/spending-limits"}},
	{"engines", "Engines", "Which engines a server can have, and how its operator sets them.", nil},
	{"carriers", "Carriers", "Trunks, numbers, addresses and encryption of telephone calls.", nil},
	{"deployment", "Deployment", "Build, settings, TLS, PostgreSQL, backup, upgrades, several nodes, monitoring.", nil},
})

func (p page) path() string {
	if p.name == pages[0].name {
		return home
	}
	return home + "/" + p.name
}

// Path and Name are for templates.
func (p page) Path() string { return p.path() }
func (p page) Name() string { return p.name }

//go:embed static vendor/swagger-ui-bundle.js vendor/swagger-ui.css
var assetFiles embed.FS

// newAssets are the files that pages load.
func newAssets() *asset.Set {
	return asset.NewSet(assetFiles, home, "static/style.css", "static/docs.js", "static/explorer.css", "static/explorer.js", "static/icon.svg",
		"vendor/swagger-ui-bundle.js", "vendor/swagger-ui.css")
}
