package manage_test

import (
	"encoding/csv"
	"fmt"
	"strings"
	"testing"
	"time"

	"parley/store"
	"parley/store/storetest"
)

const listPath = "/v1/do-not-call"

// entries are what a list holds, as number and reason, the newest first.
func (o *office) entries(who owner, query string) (list []string, next string) {
	o.Helper()
	r := o.As(who, "GET", listPath+query, "")
	o.Want("list", r, 200, "")
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
	r := o.As(o.A, "POST", listPath, `{"number":"+34 612 345 678","reason":"wrote to us"}`)
	o.Want("add", r, 200, "")
	first := o.json(r)
	if first["number"] != "+34612345678" || first["reason"] != "wrote to us" || first["source"] != "api" || first["call_id"] != nil {
		t.Errorf("%v", first)
	}
	if again := o.json(o.As(o.A, "POST", listPath, `{"number":"+34612345678"}`)); again["reason"] != "wrote to us" || again["since"] != first["since"] {
		t.Errorf("again: %v", again)
	}
	for _, at := range []string{"/+34612345678", "/%2B34612345678"} {
		r := o.As(o.A, "GET", listPath+at, "")
		o.Want(at, r, 200, "")
		o.Want("theirs", o.As(o.B, "GET", listPath+at, ""), 404, "request.not_found")
		o.Want("theirs", o.As(o.B, "DELETE", listPath+at, ""), 404, "request.not_found")
		if got := o.json(r); got["since"] != first["since"] {
			t.Errorf("%s: %v", at, got)
		}
	}
	if list, _ := o.entries(o.B, ""); len(list) != 0 {
		t.Errorf("B's list: %v", list)
	}
	for _, body := range []string{`{}`, `{"number":""}`, `{"number":"612345678"}`, `{"number":"+34612345678","reason":"two\nlines"}`, `{"number":7}`,
		`{"number":"+34612345678","reason":"` + strings.Repeat("x", 201) + `"}`, `[]`} {
		o.Want(body, o.As(o.A, "POST", listPath, body), 400, "validation.invalid_request_format")
	}
	for _, at := range []string{"/x", "/%00", "/34612345678", "/+34612345679"} {
		o.Want(at, o.As(o.A, "GET", listPath+at, ""), 404, "request.not_found")
		o.Want(at, o.As(o.A, "DELETE", listPath+at, ""), 404, "request.not_found")
	}
	o.Want("remove", o.As(o.A, "DELETE", listPath+"/+34612345678", ""), 204, "")
	o.Want("remove again", o.As(o.A, "DELETE", listPath+"/+34612345678", ""), 404, "request.not_found")
	for _, method := range []string{"GET", "POST"} {
		o.Want("without a key", o.Send(method, listPath, `{"number":"+34612345678"}`), 401, "auth.missing_key")
		o.Want("without a key", o.Send(method, listPath+".csv", ""), 401, "auth.missing_key")
	}
}

func TestDoNotCallPages(t *testing.T) {
	o := open(t)
	var want []string
	for i := range 7 {
		e := store.DoNotCall{Number: fmt.Sprintf("+3461234567%d", i), Source: store.ListedByOperator}
		if _, _, err := o.DB.AddDoNotCall(storetest.At(t.Context(), time.Now().Add(time.Duration(i)*time.Second)), o.A.Account, e); err != nil {
			t.Fatal(err)
		}
		want = append([]string{e.Number + " "}, want...)
	}
	for _, limit := range []int{1, 3, 7, 100} {
		var all []string
		for query := fmt.Sprintf("?limit=%d", limit); ; {
			list, next := o.entries(o.A, query)
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
		o.Want(query, o.As(o.A, "GET", listPath+query, ""), 400, "validation.invalid_request_format")
	}
}

// TestDoNotCallFiles: what is exported can be imported, by another account, unchanged.
func TestDoNotCallFiles(t *testing.T) {
	o := open(t)
	send := func(who owner, body string) reply {
		t.Helper()
		return o.As(who, "POST", listPath+".csv", body, "Content-Type", "text/csv; charset=utf-8")
	}
	r := send(o.A, "\ufeffreason,number\r\n=cmd(),+34 612 345 671\r\n\"said, \"\"no\"\"\",+34612345672\r\n,+34612345671\r\n")
	o.Want("import", r, 200, "")
	if got := o.json(r); got["added"] != 2.0 || got["known"] != 1.0 {
		t.Errorf("%s", r.Body)
	}
	file := o.As(o.A, "GET", listPath+".csv", "")
	rows, err := csv.NewReader(strings.NewReader(string(file.Body))).ReadAll()
	if err != nil || len(rows) != 3 || strings.Join(rows[0], ",") != "number,reason,source,call_id,since" || !strings.HasPrefix(file.Header.Get("Content-Type"), "text/csv") {
		t.Fatalf("%d %q, %v", file.Status, rows, err)
	}
	if !strings.Contains(string(file.Body), ",'=cmd(),api,") {
		t.Errorf("a spreadsheet computes what is in %s", file.Body)
	}
	o.Want("the export", send(o.B, string(file.Body)), 200, "")
	mine, _ := o.entries(o.A, "")
	theirs, _ := o.entries(o.B, "")
	for _, want := range []string{"+34612345671 =cmd()", `+34612345672 said, "no"`} {
		for name, list := range map[string][]string{"mine": mine, "theirs": theirs} {
			if len(list) != 2 || !strings.Contains(strings.Join(list, "\n"), want) {
				t.Errorf("%s: %q", name, list)
			}
		}
	}
	o.Want("no header", send(o.B, "+34612345673\n+34612345674,asked\n"), 200, "")
	o.Want("nothing", send(o.B, "\n"), 200, "")

	many := strings.Repeat("+34612345675\n", store.MaxListing)
	for body, want := range map[string]string{
		"number\n+34612345676\nnobody\n":  "line 3: number: ",
		"+34612345676,a\n+34612345676,\"": "line 2: not CSV",
		"reason\nx\n":                     "line 1: number: ",
		many + "+34612345676\n":           fmt.Sprintf("line %d: 20000 numbers at most", store.MaxListing+1),
	} {
		r := send(o.B, body)
		o.Want(body[:6], r, 400, "validation.invalid_request_format")
		if !strings.Contains(string(r.Body), want) {
			t.Errorf("%.20q: %s; want %s", body, r.Body, want)
		}
	}
	if r := o.As(o.B, "GET", listPath+"/+34612345676", ""); r.Status != 404 {
		t.Errorf("half a list was added: %s", r.Body)
	}
	o.Want("too large", send(o.B, strings.Repeat("+34612345676,reason\n", 1<<17)), 413, "request.too_large")
	o.Want("JSON", o.As(o.B, "POST", listPath+".csv", "{}"), 415, "request.unsupported_media_type")
}
