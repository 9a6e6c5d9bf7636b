package tool

import (
	"net/http"
	"strings"
	"testing"
)

func TestWebSearch(t *testing.T) {
	for _, tt := range []struct{ name, answer, want, err string }{
		{"SearXNG", `{"query":"q","answers":[{"answer":"42"}],"results":[{"title":"One","url":"https://one.example","content":"The first."},{"title":"Two","url":"https://two.example","content":""}]}`,
			"Answer: 42\n1. One: The first. (https://one.example)\n2. Two:  (https://two.example)", ""},
		{"Brave", `{"web":{"results":[{"title":"One","url":"https://one.example","description":"The <strong>first</strong>."}]}}`, "1. One: The first. (https://one.example)", ""},
		{"plain", `{"results":[{"title":"One","url":"https://one.example","snippet":"The key is ` + secret + `"}]}`, "1. One: The key is (secret) (https://one.example)", ""},
		{"nothing", `{"results":[]}`, "", "the search found nothing"},
		{"garbage", `<html>`, "", "the search service's answer cannot be read"},
	} {
		base, got := service(t, answers("application/json", tt.answer))
		b := newBench(t)
		var err error
		if b.WebSearch, err = NewWebSearch(base+"/search?format=json", secret); err != nil {
			t.Fatal(err)
		}
		result, err := b.run(`{"type":"web_search"}`, `{"query":"opening  times & more"}`)
		if result != tt.want || (err == nil) != (tt.err == "") || err != nil && err.Error() != tt.err {
			t.Errorf("%s: %s, %v", tt.name, result, err)
		}
		r := got()[0]
		if r.method != "GET" || r.uri != "/search?format=json&q=opening+times+%26+more" || r.header.Get("Authorization") != "Bearer "+secret || r.header.Get("X-Subscription-Token") != secret {
			t.Errorf("%s: asked %+v", tt.name, r)
		}
	}
	b := newBench(t)
	if set := b.open(`{"type":"web_search"}`); len(set.Functions) != 0 {
		t.Error("a server without a search service offers to search")
	}
	base, got := service(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			http.Redirect(w, r, "/elsewhere", http.StatusFound)
		}
	})
	b.WebSearch, _ = NewWebSearch(base, secret)
	if _, err := b.run(`{"type":"web_search"}`, `{"query":"x"}`); err == nil || err.Error() != "the search service answered with status 302" || len(got()) != 1 {
		t.Error(err)
	}
	for _, args := range []string{`{}`, `{"query":" "}`, `{"query":7}`} {
		if _, err := b.run(`{"type":"web_search"}`, args); err == nil || !strings.HasPrefix(err.Error(), "query is missing") {
			t.Errorf("%s: %v", args, err)
		}
	}
	f := b.open(`{"type":"web_search"}`).Functions[0]
	if f.Meter != Searched || f.Spec.Name != "web_search" {
		t.Errorf("%+v", f)
	}
}
