package dashboard

import (
	"net/url"
	"strings"

	"parley/api/dashboard/knowledge"
	"parley/api/dashboard/page"
)

const findAt = page.Home + "/find"

// maxHits bounds the agents, and the collections of documents, among what is found.
const maxHits = 8

func (d *Dashboard) findPages() []page.Page {
	return []page.Page{{Route: "GET " + findAt, Open: page.Users, Serve: d.findPage}}
}

// hit is something that was found, and where it is.
type hit struct{ Kind, Title, At string }

// findView is what was looked for, and what was found.
type findView struct {
	Form *page.Form
	Hits []hit
}

// actions are what people begin most often, each on the page with which it begins.
var actions = []page.NavLink{{Path: page.Home + "/agents/new", Title: "New agent"}, {Path: page.Home + "/dial", Title: "Place a call", Telephony: true},
	{Path: page.Home + "/bulk/new", Title: "New batch of calls", Telephony: true}, {Path: page.Home + "/numbers/search", Title: "Buy a number", Telephony: true},
	{Path: page.Home + "/agents/import", Title: "Import an agent"}}

// findPage finds pages, agents, collections of documents and calls by a few letters; without any it shows the pages. A script has the hits alone.
func (d *Dashboard) findPage(q *page.Request) error {
	sought := strings.TrimSpace(q.R.URL.Query().Get("q"))
	v := &findView{Form: page.NewForm("q", sought)}
	has := func(title string) bool { return strings.Contains(strings.ToLower(title), strings.ToLower(sought)) }
	for _, group := range d.navigation(q) {
		for _, l := range group.Links {
			if has(l.Title) {
				v.Hits = append(v.Hits, hit{"Page", l.Title, l.Path})
			}
		}
	}
	if q.Account() != "" {
		for _, l := range actions {
			if has(l.Title) && (q.Telephony || !l.Telephony) {
				v.Hits = append(v.Hits, hit{"Action", l.Title, l.Path})
			}
		}
		if err := v.ofAccount(q, sought, has); err != nil {
			return err
		}
	}
	if q.HTMX() {
		return q.Part("find", "hits", v)
	}
	return q.Page("find", "Find", v)
}

// ofAccount finds what is the account's.
func (v *findView) ofAccount(q *page.Request, sought string, has func(string) bool) error {
	if sought == "" {
		return nil
	}
	_, agents, err := page.AgentNames(q)
	if err != nil {
		return err
	}
	n := 0
	for _, a := range agents {
		if n < maxHits && (has(a.Name) || a.ID == sought) {
			v.Hits = append(v.Hits, hit{"Agent", a.Name, page.Path(page.Home+"/agents/", a.ID)})
			n++
		}
	}
	bases, err := knowledge.Collections(q)
	if err != nil {
		return err
	}
	n = 0
	for _, b := range bases {
		if n < maxHits && (has(b.Name) || b.ID == sought) {
			v.Hits = append(v.Hits, hit{"Knowledge", b.Name, page.Path(knowledge.At+"/", b.ID)})
			n++
		}
	}
	calls := page.Home + "/calls?"
	switch digits, international := strings.CutPrefix(sought, "+"); {
	case strings.HasPrefix(sought, "ses_"):
		v.Hits = append(v.Hits, hit{"Call", sought, page.Path(page.Home+"/calls/", sought)})
	case international && strings.Trim(digits, "0123456789 -") == "":
		v.Hits = append(v.Hits, hit{"Calls", "Calls with " + sought, calls + url.Values{"number": {sought}}.Encode()})
	default:
		v.Hits = append(v.Hits, hit{"Calls", "Calls in which somebody says “" + sought + "”", calls + url.Values{"q": {sought}}.Encode()})
	}
	return nil
}
