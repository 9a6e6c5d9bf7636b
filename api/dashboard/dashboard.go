// Package dashboard is what people see under /app/: pages rendered on the server, which
// work without scripts except where they live from them, and the sign-in that opens them.
// What a page does it does through the API's own routes (Request.Call) or the services
// that these use, so programs can do the same.
//
// A page is a handler in one of the files beside this one or in the packages below it, a line in the
// list of its file, and a template in template/page. What all pages are made of is package page.
//
// All pages stand in one list of the tests, with their main task: each is visited in both
// themes and two widths, walked through with the Tab key, and its task done by keyboard. A page
// that is not in the list fails the tests. How long pages take is measured by a Go benchmark:
// what drives a browser belongs to tests.
//
// The browser's voice client, in api/client/typescript/voice, runs a reply's clock where it is heard. A
// playback worklet holds the queue: it waits for 60 ms, half as long again each time that it
// ran dry, never longer than the server runs ahead, and reports ten times a second what the
// device has played, so an interrupted reply is known to the word. A flush fades over 5 ms. The
// microphone is resampled by a polyphase filter of our own, because browsers differ; what would
// wait longer than two seconds for the network is dropped. Over WebRTC an audio element plays
// the sound, because browsers cancel its echo, and the offer is posted before addresses are
// gathered, because the answer names the relays. Modules without a browser in them are tested by
// node, the rest in Chromium with a file as its microphone. What the model is asked is shown
// only to keys and sign-ins: tickets are given to strangers' browsers, which may not read the
// prompt. A microphone that goes away in a conversation is replaced by the next one.
//
// /widget.js, the button for pages of other sites, is the same client. It is a classic script, so
// that every tag runs and finds itself, also one that a page inserts later, and imports modules
// under an address with a hash. With another hash, from a page older than the server, the files
// of this version are served and not cached: worklets are loaded when a visitor presses the
// button, maybe hours later. Styles are constructed by script in a shadow tree, which no style
// policy of a page forbids. A visitor does not learn whose balance ran out. A socket that is
// refused before the upgrade looks to a browser as if there were no server, so the client asks
// the same address once more by a request, and tries again only where the answer allows it.
package dashboard

import (
	"context"
	"embed"
	"io/fs"
	"log/slog"
	"net/http"
	"path"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"parley/api"
	"parley/api/asset"
	"parley/api/client/typescript"
	"parley/api/dashboard/page"
)

//go:embed static vendor/htmx.min.js vendor/sse.min.js vendor/uPlot.iife.min.js vendor/uPlot.min.css
var assetFiles embed.FS

//go:embed template
var templateFiles embed.FS

// Options are what a dashboard is made of.
type Options struct {
	page.Services
	DemoLinks *DemoLinks // that open the demonstration's account; nil: the server is none
	// Seed makes the demonstration for a server's first user and returns its account;
	// nil: it is not offered.
	Seed func(ctx context.Context) (account string, err error)
	// Limits are those that other nodes share; nil: there are none.
	Limits *api.SharedLimits
}

// Dashboard serves the pages. It is safe for use from several goroutines.
type Dashboard struct {
	*page.Site
	links   *DemoLinks
	seed    func(ctx context.Context) (account string, err error)
	assets  *asset.Set
	csrf    *http.CrossOriginProtection
	guesses *api.Guesses
	hasher  *hasher
}

// New returns a dashboard without routes; Mount adds them.
func New(o Options) *Dashboard {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	d := &Dashboard{links: o.DemoLinks, seed: o.Seed, assets: newAssets(), csrf: http.NewCrossOriginProtection(), hasher: newHasher(), guesses: api.NewGuesses(o.Limits)}
	d.Site = page.NewSite(o.Services, templateFiles, d.assets.Path, d.navigation)
	return d
}

// Mount adds the pages to an API, whose routes they use.
func (d *Dashboard) Mount(a *api.API) {
	d.API = a
	for _, p := range d.pages() {
		d.handle(a, p)
	}
	d.mountDemo(a)
	for _, f := range d.assets.Files {
		route(a, http.MethodGet, f.Path, 0, f)
	}
	mountWidget(a)
	route(a, http.MethodGet, "/{$}", 0, http.RedirectHandler(page.Home+"/", http.StatusFound))
	route(a, http.MethodGet, "/favicon.ico", 0, http.RedirectHandler(d.assets.Path("icon.svg"), http.StatusFound)) // of what has no page, such as /openapi.json
	route(a, http.MethodGet, page.Home, 0, http.RedirectHandler(page.Home+"/", http.StatusMovedPermanently))
}

// route adds what is no part of the OpenAPI document. max bounds the body; 0: as usual.
func route(a *api.API, method, path string, max int64, h http.Handler) {
	a.Handle(api.Route{Access: api.Public, OwnPagesOnly: true, OwnErrors: true, Operation: huma.Operation{
		Method: method, Path: path, Hidden: true, MaxBodyBytes: max,
	}}, h)
}

// voiceFolder is where pages load the voice client from: its modules stand in one folder with those that draw.
const voiceFolder = "static/voice"

// withClient are files, and among them the modules of the voice client.
type withClient struct{ fs.FS }

func (w withClient) Open(name string) (fs.File, error) {
	if module, ok := strings.CutPrefix(name, voiceFolder+"/"); ok {
		if f, err := typescript.Modules().Open(path.Join("voice", module)); err == nil {
			return f, nil
		}
	}
	return w.FS.Open(name)
}

// clientModules are the names of the voice client's modules among the files of the pages.
func clientModules() (names []string) {
	modules, err := typescript.Modules().ReadDir("voice")
	if err != nil {
		panic("dashboard: " + err.Error()) // the compiler has embedded them
	}
	for _, m := range modules {
		names = append(names, path.Join(voiceFolder, m.Name()))
	}
	return names
}

// newAssets are all files in static, and those of others.
func newAssets() *asset.Set {
	names := append(clientModules(), "vendor/htmx.min.js", "vendor/sse.min.js", "vendor/uPlot.iife.min.js", "vendor/uPlot.min.css")
	err := fs.WalkDir(assetFiles, "static", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, path)
		}
		return err
	})
	if err != nil {
		panic("dashboard: " + err.Error()) // the compiler has embedded them
	}
	return asset.NewSet(withClient{assetFiles}, page.Home, names...)
}
