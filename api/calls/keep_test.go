package calls_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"parley/api/wire"
	"parley/store/history"
)

// TestKeep: a change takes the place of what it names, the rest stays; what is too much is refused and
// changes nothing; calls of others are not there.
func TestKeep(t *testing.T) {
	o := open(t)
	c := o.start(o.A, inbound, began)
	at := "/v1/calls/" + c.ID
	patch := func(who owner, body string) (int, wire.CallSummary) {
		t.Helper()
		r := o.As(who, http.MethodPatch, at, body)
		var kept wire.CallSummary
		if r.Status == http.StatusOK {
			o.OK(json.Unmarshal(r.Body, &kept))
		}
		return r.Status, kept
	}
	if status, kept := patch(o.A, `{"metadata":{"order":"42","old":"x"},"tags":["vip"," angry ","vip"],"note":" Call back. "}`); status != 200 || len(kept.Metadata) != 2 ||
		strings.Join(kept.Tags, ",") != "vip,angry" || *kept.Note != "Call back." {
		t.Fatalf("%d %+v", status, kept)
	}
	if status, kept := patch(o.A, `{"metadata":{"old":null,"new":"y"}}`); status != 200 || len(kept.Metadata) != 2 || kept.Metadata["new"] != "y" || len(kept.Tags) != 2 || kept.Note == nil {
		t.Errorf("%d %+v", status, kept)
	}
	for _, body := range []string{`{"tags":[""]}`, `{"tags":["a\nb"]}`, `{"tags":["` + strings.Repeat("a", 41) + `"]}`, `{"tags":[` + strings.Repeat(`"a",`, 20) + `"b"]}`,
		`{"note":"` + strings.Repeat("a", 2001) + `"}`, `{"note":"\u0000"}`, `{"metadata":{"a b":"c"}}`, `{"metadata":{"a":"` + strings.Repeat("a", 501) + `"}}`, `{"metadata":{"a":7}}`} {
		if status, _ := patch(o.A, body); status != 400 {
			t.Errorf("%.60s: %d", body, status)
		}
	}
	if status, _ := patch(o.B, `{"note":"mine"}`); status != 404 {
		t.Errorf("another's call: %d", status)
	}
	o.OK(history.New(o.DB).SaveConversation(t.Context(), o.A.Account, c.ID, history.Conversation{Transcript: []history.TranscriptLine{{Role: "user", Text: "a refund"}}}))
	for query, want := range map[string]int{"tag=vip": 1, "tag=vi": 0, "q=refund": 1, "q=%22a+refund%22": 1, "q=-refund": 0, "q=refund&tag=vip&metadata[order]=42": 1} {
		var page struct{ Data []seen }
		if o.Read(o.A, "/v1/calls?"+query, &page); len(page.Data) != want {
			t.Errorf("%s: %d calls, want %d", query, len(page.Data), want)
		}
	}
	for _, query := range []string{"q=!!!", "q=%00", "tag=%00", "q=" + strings.Repeat("a", 201)} {
		if status, _ := o.get(o.A, "/v1/calls?"+query); status != 400 {
			t.Errorf("%s: %d", query, status)
		}
	}
	if status, kept := patch(o.A, `{"tags":[],"note":""}`); status != 200 || len(kept.Tags) != 0 || kept.Note != nil || kept.Metadata["order"] != "42" {
		t.Errorf("%d %+v", status, kept)
	}
}
