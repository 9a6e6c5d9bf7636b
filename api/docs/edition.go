package docs

import (
	"bytes"
	"html/template"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"

	"parley/api/asset"
	"parley/billing"
)

// Marks stand in a page that is made once for what differs between editions of it.
const (
	hereMark      = "http://this-server.invalid" // its address
	hereSocket    = "ws://this-server.invalid"   // the same for WebSockets
	hereHost      = "this-server.invalid"        // the name of its host alone
	pricesMark    = `<p data-rates="prices"></p>`
	countriesMark = `<p data-rates="countries"></p>`
)

// anyServer is a server's address where nobody knows it.
const anyServer = "https://SERVER"

// maxEditions bounds what is kept of one page. Requests choose the address, so a full map is
// emptied.
const maxEditions = 8

// edition is what a page says of the server that it comes from.
type edition struct {
	here string            // its address, without a final slash
	card *billing.RateCard // in force; nil on pages without prices
}

// editions serves one page. Browsers ask whether it has changed.
type editions struct {
	site *site
	page page
	made func() ([]byte, error) // the page with its marks

	mu   sync.Mutex
	kept map[edition]*asset.File
}

func (s *site) page(p page) http.Handler {
	return &editions{site: s, page: p, made: sync.OnceValues(func() ([]byte, error) { return s.render(p) }), kept: map[edition]*asset.File{}}
}

func (e *editions) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	this := edition{here: e.site.here(r)}
	if e.page.name == pricesPage {
		this.card = e.site.options.Card()
	}
	e.of(this).ServeHTTP(w, r)
}

// of is an edition of the page.
func (e *editions) of(this edition) *asset.File {
	e.mu.Lock()
	defer e.mu.Unlock()
	f, ok := e.kept[this]
	if !ok {
		if len(e.kept) >= maxEditions {
			clear(e.kept)
		}
		f = asset.New(e.page.path(), "no-cache", func() ([]byte, error) { return e.fill(this) })
		e.kept[this] = f
	}
	return f
}

// fill puts what an edition says in the place of the marks.
func (e *editions) fill(this edition) ([]byte, error) {
	text, err := e.made()
	if err != nil {
		return nil, err
	}
	text = addressed(text, this.here)
	if this.card == nil {
		return text, nil
	}
	c, err := e.site.content()
	if err != nil {
		return nil, err
	}
	rates, err := ratesOf(this.card)
	if err != nil {
		return nil, err
	}
	for mark, name := range map[string]string{pricesMark: "prices", countriesMark: "countries"} {
		t, err := c.templates.Clone()
		if err != nil {
			return nil, err
		}
		var b bytes.Buffer
		if err := t.ExecuteTemplate(&b, name, rates); err != nil {
			return nil, err
		}
		text = bytes.ReplaceAll(text, []byte(mark), b.Bytes())
	}
	return text, nil
}

// addressed puts the address of a server into a page.
func addressed(text []byte, here string) []byte {
	here = template.HTMLEscapeString(here)
	text = bytes.ReplaceAll(text, []byte(hereMark), []byte(here))
	text = bytes.ReplaceAll(text, []byte(hereSocket), []byte("ws"+strings.TrimPrefix(here, "http")))
	if address, err := url.Parse(here); err == nil {
		text = bytes.ReplaceAll(text, []byte(hereHost), []byte(address.Hostname()))
	}
	return text
}

var plainHost = regexp.MustCompile(`^[A-Za-z0-9._\[\]:-]{1,255}$`)

// here is where readers reach the server: its configured address, else how the browser reached it.
func (s *site) here(r *http.Request) string {
	switch {
	case s.options.Base != "":
		return s.options.Base
	case !plainHost.MatchString(r.Host):
		return anyServer
	case r.TLS != nil:
		return "https://" + r.Host
	}
	return "http://" + r.Host
}
