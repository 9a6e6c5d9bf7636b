package docs

import (
	"bytes"
	"cmp"
	"html"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

const searchPath = home + "/search"

// Bounds of a search.
const (
	maxQuery   = 200 // bytes that count
	maxResults = 20
	excerpt    = 160 // bytes about the first word that was found
)

// entry is a section of a page that can be found.
type entry struct {
	page            page
	id, title, text string
	lower           string // title and text, to compare
}

// Path is its address, for templates.
func (e *entry) Path() string {
	if e.id == "" {
		return e.page.path()
	}
	return e.page.path() + "#" + e.id
}

// index lists the sections of the pages, what stands before the first heading of a page as a section of its own.
func (c *content) index() ([]entry, error) {
	var all []entry
	for _, p := range pages {
		body, err := c.body(p)
		if err != nil {
			return nil, err
		}
		body = string(addressed([]byte(body), anyServer)) // sections are kept for all addresses
		add := func(id, title, part string) {
			text := textOf(part)
			all = append(all, entry{page: p, id: id, title: title, text: text, lower: strings.ToLower(title + " " + text)})
		}
		marks := heading.FindAllStringSubmatchIndex(body, -1)
		first := len(body)
		if len(marks) > 0 {
			first = marks[0][0]
		}
		add("", p.Title, p.Lead+" "+body[:first])
		for i, m := range marks {
			end := len(body)
			if i+1 < len(marks) {
				end = marks[i+1][0]
			}
			add(body[m[4]:m[5]], textOf(body[m[6]:m[7]]), body[m[1]:end])
		}
	}
	return all, nil
}

// textOf is the text of HTML.
func textOf(s string) string {
	return strings.Join(strings.Fields(html.UnescapeString(tag.ReplaceAllString(s, " "))), " ")
}

// result is a section that was found.
type result struct {
	*entry
	Page, Title string
	Excerpt     []span
}

// span is a piece of an excerpt; Hit says that it is what was looked for.
type span struct {
	Text string
	Hit  bool
}

// find lists the sections that have all words of a query, those first that have them in their title, or often.
func find(all []entry, query string) []result {
	if len(query) > maxQuery {
		query = query[:maxQuery]
	}
	words := strings.Fields(strings.ToLower(query))
	if len(words) == 0 {
		return nil
	}
	type scored struct {
		*entry
		score int
	}
	var found []scored
	for i := range all {
		e, score := &all[i], 0
		for _, w := range words {
			n := strings.Count(e.lower, w)
			if n == 0 {
				score = -1
				break
			}
			score += min(n, 5)
			if strings.Contains(strings.ToLower(e.title), w) {
				score += 10
			}
			if strings.Contains(strings.ToLower(e.page.Title), w) {
				score += 3
			}
		}
		if score >= 0 {
			found = append(found, scored{e, score})
		}
	}
	slices.SortStableFunc(found, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	var results []result
	for _, f := range found[:min(len(found), maxResults)] {
		results = append(results, result{f.entry, f.page.Title, f.title, excerptOf(f.text, words)})
	}
	return results
}

// excerptOf is what stands about the first of the words in a text.
func excerptOf(text string, words []string) (spans []span) {
	lower := strings.ToLower(text)
	if len(lower) != len(text) { // a letter has another length in small: its place would be a guess
		lower = text
	}
	from := len(text)
	for _, w := range words {
		if i := strings.Index(lower, w); i >= 0 {
			from = min(from, i)
		}
	}
	if from == len(text) {
		from = 0
	}
	from = max(0, from-excerpt/3)
	to := min(len(text), from+excerpt)
	for from > 0 && (!utf8.RuneStart(text[from]) || text[from-1] != ' ') {
		from--
	}
	for to < len(text) && text[to] != ' ' {
		to++
	}
	text, lower = text[from:to], lower[from:to]
	for text != "" {
		at, n := len(text), 0
		for _, w := range words {
			if i := strings.Index(lower, w); i >= 0 && (i < at || i == at && len(w) > n) {
				at, n = i, len(w)
			}
		}
		if at > 0 {
			spans = append(spans, span{text[:at], false})
		}
		if n > 0 {
			spans = append(spans, span{text[at : at+n], true})
		}
		text, lower = text[at+n:], lower[at+n:]
	}
	return spans
}

// searchView is what the page of a search shows.
type searchView struct {
	view
	Query   string
	Results []result
}

// search answers a search. Its page is made anew each time, from sections that are kept in memory.
func (s *site) search() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := s.content()
		if err != nil {
			http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
			return
		}
		query := strings.TrimSpace(strings.ToValidUTF8(r.URL.Query().Get("q"), ""))
		v := searchView{Query: query, Results: find(c.sections, query)}
		v.page, v.Pages = page{name: "search", Title: "Search", Lead: "Find a section of the documentation."}, pages
		var b bytes.Buffer
		t, err := c.templates.Clone()
		if err == nil {
			var body strings.Builder
			if err = t.ExecuteTemplate(&body, "search.html", v); err == nil {
				v.Body = template.HTML(body.String())
				err = t.ExecuteTemplate(&b, "layout.html", v.view)
			}
		}
		if err != nil {
			http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Cache-Control", "no-cache")
		w.Header().Set("X-Robots-Tag", "noindex")
		_, _ = w.Write(b.Bytes())
	})
}
