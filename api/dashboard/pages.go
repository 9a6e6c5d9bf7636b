package dashboard

import (
	"slices"
	"strings"
)

// pages are all addresses of the dashboard. Each group of pages is in a file of its own.
func pages() []page {
	return slices.Concat(
		signInPages(),
		homePages(),
		keyPages(),
		webhookPages(),
		peoplePages(),
		enginePages(),
		setupPages(),
		operatorPages(),
		agentPages(),
		playgroundPages(),
		balancePages(),
		callPages(),
		numberPages(),
		bulkPages(),
		errorPages(),
	)
}

// navGroup is a part of the navigation.
type navGroup struct {
	Title string
	Links []navLink
}

// navLink is a line of it. It is shown when there is a page at its address that the
// user may open.
type navLink struct {
	Path, Title string
	Current     bool
	telephony   bool
}

var navGroups = []navGroup{
	{"", []navLink{{Path: home + "/", Title: "Overview"}}},
	{"Build", []navLink{{Path: home + "/agents", Title: "Agents"}, {Path: home + "/playground", Title: "Playground"}}},
	{"Calls", []navLink{{Path: home + "/live", Title: "Live calls"}, {Path: home + "/calls", Title: "Call history"},
		{Path: home + "/bulk", Title: "Bulk dial", telephony: true}, {Path: home + "/numbers", Title: "Numbers", telephony: true}}},
	{"Account", []navLink{{Path: home + "/balance", Title: "Balance"}, {Path: home + "/keys", Title: "API keys"}, {Path: home + "/webhooks", Title: "Webhooks"},
		{Path: home + "/people", Title: "People"}}},
	{"Server", []navLink{{Path: home + "/engines", Title: "Engines and health"}, {Path: setupAt, Title: "Setup check"}, {Path: home + "/operator", Title: "Accounts"}}},
}

// audiences are who may open the pages that can be read, by address.
func audiences() map[string]audience {
	all := map[string]audience{}
	for _, p := range pages() {
		if path, ok := strings.CutPrefix(p.route, "GET "); ok {
			all[strings.TrimSuffix(path, "{$}")] = p.open
		}
	}
	return all
}

// navigation is what the user sees of it. The line whose address the page's own begins
// with is the current one.
func navigation(q *Request) []navGroup {
	var shown []navGroup
	at, open := q.R.URL.Path, audiences()
	for _, g := range navGroups {
		var links []navLink
		for _, l := range g.Links {
			who, there := open[l.Path]
			if !there || l.telephony && !q.Telephony || who == operators && !q.Browser.User.Operator() ||
				(who == members || who == owners) && q.Account() == "" {
				continue
			}
			l.Current = at == l.Path || l.Path != home+"/" && strings.HasPrefix(at, l.Path+"/")
			links = append(links, l)
		}
		if len(links) > 0 {
			shown = append(shown, navGroup{g.Title, links})
		}
	}
	return shown
}
