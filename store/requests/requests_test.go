package requests_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"parley/store"
	"parley/store/requests"
	"parley/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

var t0 = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)

// TestRequests: an account's are listed by what is asked for, newest first, and nobody else's; what is old, and what is
// too many, goes.
func TestRequests(t *testing.T) {
	db := storetest.New(t)
	s, ctx := requests.New(db), storetest.At(t.Context(), t0)
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	names := map[string]string{}
	row := func(account, name string, at time.Time, method string, status int, code string) requests.Request {
		r := requests.Request{ID: store.NewID(requests.Prefix, at), Account: account, At: at, Key: "key_" + account, Method: method, Route: "/v1/x", Target: "/v1/x?a=1", Status: status, TookMS: 3}
		if code != "" {
			r.Code = &code
		}
		body := `{"name":"` + name + `"}`
		r.Body = &body
		names[r.ID] = name
		return r
	}
	list := []requests.Request{row("a", "old", t0.Add(-requests.Life-time.Minute), "GET", 200, ""), row("a", "week", t0.Add(-requests.Life+time.Minute), "GET", 200, ""),
		row("a", "refused", t0.Add(-2*time.Hour), "POST", 400, "validation.invalid_voice"), row("a", "failed", t0.Add(-time.Hour), "POST", 503, "service.unavailable"), row("b", "other", t0, "GET", 200, "")}
	ok(s.Write(ctx, list))
	find := func(p requests.Page) string {
		t.Helper()
		found, err := s.List(ctx, "a", p)
		ok(err)
		var out []string
		for _, r := range found {
			if r.Body != nil {
				t.Errorf("a list has the body %s", *r.Body)
			}
			out = append(out, names[r.ID])
		}
		return strings.Join(out, " ")
	}
	for want, p := range map[string]requests.Page{
		"failed refused week old": {}, "failed refused": {Method: "POST"}, "refused": {Least: 400, Below: 500}, "failed": {Code: "service.unavailable"},
		"week old": {Below: 400}, "": {Key: "key_b"}, "refused week": {Range: store.Range{From: t0.Add(-requests.Life), To: t0.Add(-time.Hour)}},
	} {
		if got := find(p); got != want {
			t.Errorf("%+v: %s, want %s", p, got, want)
		}
	}
	if got := find(requests.Page{Page: store.Page{Limit: 2, After: list[3].ID}}); got != "refused week" {
		t.Errorf("the second page: %s", got)
	}
	if r, err := s.Request(ctx, "a", list[2].ID); err != nil || *r.Body != `{"name":"refused"}` || r.KeyName != nil || !r.At.Equal(list[2].At) {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := s.Request(ctx, "b", list[2].ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("another's: %v", err)
	}
	many := make([]requests.Request, requests.Most)
	for i := range many {
		many[i] = row("a", fmt.Sprint(i), t0.Add(time.Duration(i)*time.Millisecond), "GET", 200, "")
	}
	ok(s.Write(ctx, many))
	ok(s.Trim(ctx, []string{"a"}))
	if got := find(requests.Page{Range: store.Range{To: t0.Add(time.Millisecond)}}); got != "0" {
		t.Errorf("after the trim: %s", got)
	}
	if found, err := s.List(ctx, "a", requests.Page{}); err != nil || len(found) != requests.Most {
		t.Errorf("%d are left, %v", len(found), err)
	}
	if found, err := s.List(ctx, "b", requests.Page{}); err != nil || len(found) != 1 {
		t.Errorf("another's: %d, %v", len(found), err)
	}
}
