package docs

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// TestSearch: sections are found by all of their words, titles first, and nothing that is asked becomes markup.
func TestSearch(t *testing.T) {
	_, h := server()
	ask := func(query string) string {
		t.Helper()
		w := get(h, "/docs/search?q="+url.QueryEscape(query))
		if w.Code != http.StatusOK || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
			t.Fatalf("%q: %d", query, w.Code)
		}
		if got := w.Header().Get("Content-Security-Policy"); got != policy {
			t.Errorf("policy %q", got)
		}
		_, main, _ := strings.Cut(w.Body.String(), "<main")
		return main
	}
	for query, want := range map[string][]string{
		"":                         {`name="q"`},
		"seal consent":             {`<li><a href="/docs/calls#consent">`, "<mark>seal</mark>"},
		"BARGE-IN":                 {`<a href="/docs/agents`},
		"webhook":                  {`<li><a href="/docs/webhooks">Webhooks</a>`},
		"no such words anywhere q": {"No section has all of these words."},
		`"><script>x</script>`:     {`value="&#34;&gt;&lt;script&gt;x&lt;/script&gt;"`},
		strings.Repeat("a ", 5000): {"found."},
		"\xff\x00":                 {"No section"},
	} {
		got := ask(query)
		for _, x := range want {
			if !strings.Contains(got, x) {
				t.Errorf("%.40q: no %s in\n%.3000s", query, x, got)
			}
		}
		if strings.Contains(got, "<script>x") {
			t.Errorf("%q has become a part of the page", query)
		}
	}
	if first, _, _ := strings.Cut(ask("webhook"), "</li>"); !strings.Contains(first, "/docs/webhooks") {
		t.Errorf("the page of that title is not the first: %s", first)
	}
	if n := strings.Count(ask("the"), "<li><a"); n != maxResults {
		t.Errorf("%d results", n)
	}
}

// TestExcerpts: the words stand in their sentence, marked, also where letters are long.
func TestExcerpts(t *testing.T) {
	long := strings.Repeat("är ", 100) + "The meter runs. " + strings.Repeat("ör ", 100)
	for text, want := range map[string]string{"The meter runs": "The [meter] runs", "meter": "[meter]", "nothing of it": "nothing of it", long: "[meter]"} {
		var b strings.Builder
		for _, s := range excerptOf(text, []string{"meter"}) {
			if s.Hit {
				b.WriteString("[" + s.Text + "]")
			} else {
				b.WriteString(s.Text)
			}
		}
		if got := b.String(); !strings.Contains(got, want) || len(got) > 2*excerpt || strings.ContainsRune(got, '\uFFFD') {
			t.Errorf("%.40q: %s", text, got)
		}
	}
}
