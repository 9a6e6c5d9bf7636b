package manage_test

import (
	"encoding/csv"
	"fmt"
	"strings"
	"testing"
	"time"

	"parley/store"
)

const listPath = "/v1/do-not-call"

// entries are what a list holds, as number and reason, the newest first.
func (o *office) entries(who owner, query string) (list []string, next string) {
	o.Helper()
	r := o.as(who, "GET", listPath+query, "")
	o.want("list", r, 200, "")
	out := o.json(r)
	for _, item := range out["data"].([]any) {
		e := item.(map[string]any)
		list = append(list, fmt.Sprintf("%s %s", e["number"], e["reason"]))
	}
	next, _ = out["next_cursor"].(string)
	return list, next
}

// TestDoNotCall: the life of an entry, which is its account's alone.
func TestDoNotCall(t *testing.T) {
	o := open(t)
	r := o.as(o.a, "POST", listPath, `{"number":"+34 612 345 678","reason":"wrote to us"}`)
	o.want("add", r, 200, "")
	first := o.json(r)
	if first["number"] != "+34612345678" || first["reason"] != "wrote to us" || first["source"] != "api" || first["call_id"] != nil {
		t.Errorf("%v", first)
	}
	if again := o.json(o.as(o.a, "POST", listPath, `{"number":"+34612345678"}`)); again["reason"] != "wrote to us" || again["since"] != first["since"] {
		t.Errorf("again: %v", again)
	}
	for _, at := range []string{"/+34612345678", "/%2B34612345678"} {
		r := o.as(o.a, "GET", listPath+at, "")
		o.want(at, r, 200, "")
		o.want("theirs", o.as(o.b, "GET", listPath+at, ""), 404, "request.not_found")
		o.want("theirs", o.as(o.b, "DELETE", listPath+at, ""), 404, "request.not_found")
		if got := o.json(r); got["since"] != first["since"] {
			t.Errorf("%s: %v", at, got)
		}
	}
	if list, _ := o.entries(o.b, ""); len(list) != 0 {
		t.Errorf("B's list: %v", list)
	}
	for _, body := range []string{`{}`, `{"number":""}`, `{"number":"612345678"}`, `{"number":"+34612345678","reason":"two\nlines"}`, `{"number":7}`,
		`{"number":"+34612345678","reason":"` + strings.Repeat("x", 201) + `"}`, `[]`} {
		o.want(body, o.as(o.a, "POST", listPath, body), 400, "validation.invalid_request_format")
	}
	for _, at := range []string{"/x", "/%00", "/34612345678", "/+34612345679"} {
		o.want(at, o.as(o.a, "GET", listPath+at, ""), 404, "request.not_found")
		o.want(at, o.as(o.a, "DELETE", listPath+at, ""), 404, "request.not_found")
	}
	o.want("remove", o.as(o.a, "DELETE", listPath+"/+34612345678", ""), 204, "")
	o.want("remove again", o.as(o.a, "DELETE", listPath+"/+34612345678", ""), 404, "request.not_found")
	for _, method := range []string{"GET", "POST"} {
		o.want("without a key", o.send(method, listPath, `{"number":"+34612345678"}`), 401, "auth.missing_key")
		o.want("without a key", o.send(method, listPath+".csv", ""), 401, "auth.missing_key")
	}
}

func TestDoNotCallPages(t *testing.T) {
	o := open(t)
	var want []string
	for i := range 7 {
		e := store.DoNotCall{Number: fmt.Sprintf("+3461234567%d", i), Source: store.ListedByOperator}
		if _, _, err := o.db.AddDoNotCall(t.Context(), o.a.account, e, time.Now().Add(time.Duration(i)*time.Second)); err != nil {
			t.Fatal(err)
		}
		want = append([]string{e.Number + " "}, want...)
	}
	for _, limit := range []int{1, 3, 7, 100} {
		var all []string
		for query := fmt.Sprintf("?limit=%d", limit); ; {
			list, next := o.entries(o.a, query)
			all = append(all, list...)
			if next == "" {
				break
			}
			query = fmt.Sprintf("?limit=%d&cursor=%s", limit, next)
		}
		if fmt.Sprint(all) != fmt.Sprint(want) {
			t.Errorf("by %d: %v", limit, all)
		}
	}
	for _, query := range []string{"?limit=0", "?limit=101", "?cursor=%00"} {
		o.want(query, o.as(o.a, "GET", listPath+query, ""), 400, "validation.invalid_request_format")
	}
}

// TestDoNotCallFiles: what is exported can be imported, by another account, unchanged.
func TestDoNotCallFiles(t *testing.T) {
	o := open(t)
	send := func(who owner, body string) reply {
		t.Helper()
		return o.as(who, "POST", listPath+".csv", body, "Content-Type", "text/csv; charset=utf-8")
	}
	r := send(o.a, "\ufeffreason,number\r\n=cmd(),+34 612 345 671\r\n\"said, \"\"no\"\"\",+34612345672\r\n,+34612345671\r\n")
	o.want("import", r, 200, "")
	if got := o.json(r); got["added"] != 2.0 || got["known"] != 1.0 {
		t.Errorf("%s", r.body)
	}
	file := o.as(o.a, "GET", listPath+".csv", "")
	rows, err := csv.NewReader(strings.NewReader(string(file.body))).ReadAll()
	if err != nil || len(rows) != 3 || strings.Join(rows[0], ",") != "number,reason,source,call_id,since" || !strings.HasPrefix(file.header.Get("Content-Type"), "text/csv") {
		t.Fatalf("%d %q, %v", file.status, rows, err)
	}
	if !strings.Contains(string(file.body), ",'=cmd(),api,") {
		t.Errorf("a spreadsheet computes what is in %s", file.body)
	}
	o.want("the export", send(o.b, string(file.body)), 200, "")
	mine, _ := o.entries(o.a, "")
	theirs, _ := o.entries(o.b, "")
	for _, want := range []string{"+34612345671 =cmd()", `+34612345672 said, "no"`} {
		for name, list := range map[string][]string{"mine": mine, "theirs": theirs} {
			if len(list) != 2 || !strings.Contains(strings.Join(list, "\n"), want) {
				t.Errorf("%s: %q", name, list)
			}
		}
	}
	o.want("no header", send(o.b, "+34612345673\n+34612345674,asked\n"), 200, "")
	o.want("nothing", send(o.b, "\n"), 200, "")

	many := strings.Repeat("+34612345675\n", store.MaxListing)
	for body, want := range map[string]string{
		"number\n+34612345676\nnobody\n":  "line 3: number: ",
		"+34612345676,a\n+34612345676,\"": "line 2: not CSV",
		"reason\nx\n":                     "line 1: number: ",
		many + "+34612345676\n":           fmt.Sprintf("line %d: 20000 numbers at most", store.MaxListing+1),
	} {
		r := send(o.b, body)
		o.want(body[:6], r, 400, "validation.invalid_request_format")
		if !strings.Contains(string(r.body), want) {
			t.Errorf("%.20q: %s; want %s", body, r.body, want)
		}
	}
	if r := o.as(o.b, "GET", listPath+"/+34612345676", ""); r.status != 404 {
		t.Errorf("half a list was added: %s", r.body)
	}
	o.want("too large", send(o.b, strings.Repeat("+34612345676,reason\n", 1<<17)), 413, "request.too_large")
	o.want("JSON", o.as(o.b, "POST", listPath+".csv", "{}"), 415, "request.unsupported_media_type")
}
