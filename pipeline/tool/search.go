package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"parley/inference"
)

// searchName is the function's name.
const searchName = "web_search"

var searchSpec = inference.Tool{
	Name:        searchName,
	Description: "Search the web for something that you do not know and that was not told you, such as news, opening times or prices.",
	Parameters:  []byte(`{"type":"object","properties":{"query":{"type":"string","description":"What to search for, in a few words.","minLength":1,"maxLength":400}},"required":["query"]}`),
}

// WebSearch asks a search service of the operator's: GET url?q=QUERY, with the key as
// "Authorization: Bearer KEY" and "X-Subscription-Token: KEY". It answers with JSON:
// results, each with title, url and one of snippet, content and description, in
// "results" (as SearXNG does with format=json) or in "web": {"results"} (as Brave
// Search does). "answers", texts or objects with an "answer", come before them.
type WebSearch struct {
	address *url.URL
	key     string
	client  *http.Client
}

// Bounds of a search.
const (
	maxResults = 5
	maxSnippet = 400     // bytes
	maxFound   = 1 << 20 // bytes of the service's answer
)

// NewWebSearch returns a search by the service at address, which may hold a query of
// its own. The operator named it, so it may be anywhere.
func NewWebSearch(address, key string) (*WebSearch, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("search: not an address")
	}
	return &WebSearch{address: u, key: key, client: trusted()}, nil
}

// trusted is a client for services that the operator has named. What it sends, keys
// among it, goes nowhere else.
func trusted() *http.Client {
	return &http.Client{
		Transport:     traced{&http.Transport{TLSHandshakeTimeout: connectTime, MaxIdleConnsPerHost: 8, IdleConnTimeout: idleTime, ForceAttemptHTTP2: true}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       maxTimeout,
	}
}

// found is an answer of a search service.
type found struct {
	Answers []json.RawMessage `json:"answers"`
	Results []hit             `json:"results"`
	Web     struct {
		Results []hit `json:"results"`
	} `json:"web"`
}

type hit struct {
	Title       string `json:"title"`
	URL         string `json:"url"`
	Snippet     string `json:"snippet"`
	Content     string `json:"content"`
	Description string `json:"description"`
}

// errNothing is no answer, and is not charged.
var errNothing = errors.New("the search found nothing")

func (s *WebSearch) run(ctx context.Context, arguments json.RawMessage) (string, error) {
	var ask struct {
		Query string `json:"query"`
	}
	if err := json.Unmarshal(arguments, &ask); err != nil || strings.TrimSpace(ask.Query) == "" {
		return "", errors.New("query is missing: what to search for")
	}
	u := *s.address
	q := u.Query()
	q.Set("q", Clip(strings.Join(strings.Fields(ask.Query), " "), 400))
	u.RawQuery = q.Encode()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return "", errors.New("the search cannot be made")
	}
	r.Header.Set("Accept", "application/json")
	r.Header.Set("User-Agent", "Parley")
	if s.key != "" {
		r.Header.Set("Authorization", "Bearer "+s.key)
		r.Header.Set("X-Subscription-Token", s.key)
	}
	begun := time.Now()
	res, err := s.client.Do(r)
	if err != nil {
		return "", explain(ctx, err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return "", fmt.Errorf("the search service answered with status %d", res.StatusCode)
	}
	content, err := io.ReadAll(io.LimitReader(res.Body, maxFound))
	if err != nil {
		return "", fmt.Errorf("the search service's answer broke off after %s", time.Since(begun).Round(time.Second))
	}
	var f found
	if err := json.Unmarshal(content, &f); err != nil {
		return "", errors.New("the search service's answer cannot be read")
	}
	text := f.text()
	if text == "" {
		return "", errNothing
	}
	return scrub(text, map[string]string{"": s.key}), nil
}

// text is what the model reads.
func (f *found) text() string {
	var b strings.Builder
	for _, a := range f.Answers {
		var object struct {
			Answer string `json:"answer"`
		}
		text := ""
		if json.Unmarshal(a, &text) != nil && json.Unmarshal(a, &object) == nil {
			text = object.Answer
		}
		if text = plain(text); text != "" {
			fmt.Fprintf(&b, "Answer: %s\n", text)
			break
		}
	}
	n := 0
	for _, h := range append(f.Results, f.Web.Results...) {
		snippet := plain(h.Snippet + " " + h.Content + " " + h.Description)
		if title := plain(h.Title); n < maxResults && title+snippet != "" {
			n++
			fmt.Fprintf(&b, "%d. %s: %s (%s)\n", n, title, snippet, Clip(h.URL, 200))
		}
	}
	return strings.TrimSpace(b.String())
}

var tags = regexp.MustCompile(`<[^<>]{0,200}>`)

// plain is a text of a result in one line, without the tags that mark what matched.
func plain(s string) string {
	return Clip(strings.Join(strings.Fields(tags.ReplaceAllString(s, "")), " "), maxSnippet)
}
