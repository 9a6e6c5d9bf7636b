package ledger_test

import (
	"maps"
	"reflect"
	"testing"
	"time"

	"parley/store"
	"parley/store/history"
	"parley/store/ledger"
)

// TestHeadersOfCalls: what an INVITE says is kept with the call, and calls of an account are found by their headers.
func TestHeadersOfCalls(t *testing.T) {
	f := setup(t)
	mine, theirs := f.NewAccount(50*usd), f.NewAccount(50*usd)
	origin := &store.CallOrigin{DivertedBy: "+34911234569", FirstCalled: "+34911234568", OrigID: "origin", Diversions: []store.CallDiversion{{Number: "+34911234569", Reason: "no-answer"}},
		History: []store.CallStation{{Index: "1", Number: "+34911234568", Cause: 302}}}
	begin := func(account string, change func(*ledger.Start)) string {
		t.Helper()
		r := f.Request(account, inboundES)
		change(&r)
		s, err := f.StartSession(f.At(t0), r)
		f.OK(err)
		return s.ID
	}
	full := begin(mine, func(s *ledger.Start) {
		s.Attestation, s.Origin, s.Headers = "A", origin, map[string]string{"X-Customer-Id": "42", "User-to-User": "Order 1"}
	})
	other := begin(mine, func(s *ledger.Start) { s.Headers = map[string]string{"X-Customer-Id": "43"} })
	bare := begin(mine, func(*ledger.Start) {})
	begin(theirs, func(s *ledger.Start) { s.Headers = map[string]string{"X-Customer-Id": "42"} })
	h := history.New(f.DB)
	c, err := h.Call(f.Context(), mine, full)
	f.OK(err)
	if c.Attestation == nil || *c.Attestation != "A" || !reflect.DeepEqual(c.Origin, origin) || !maps.Equal(c.Headers, map[string]string{"X-Customer-Id": "42", "User-to-User": "Order 1"}) {
		t.Errorf("kept is %v, %+v, %v", c.Attestation, c.Origin, c.Headers)
	}
	if c, err = h.Call(f.Context(), mine, bare); err != nil || c.Attestation != nil || c.Origin != nil || c.Headers != nil {
		t.Errorf("of a call without: %+v, %v", c, err)
	}
	for _, tt := range []struct {
		headers map[string]string
		want    []string
	}{
		{map[string]string{"X-Customer-Id": "42"}, []string{full}}, {map[string]string{"X-Customer-Id": "43"}, []string{other}},
		{map[string]string{"X-Customer-Id": "4"}, nil}, {map[string]string{"X-Customer-Id": "42", "User-to-User": "Order 1"}, []string{full}},
		{map[string]string{"X-Customer-Id": "43", "User-to-User": "Order 1"}, nil}, {nil, []string{bare, other, full}},
	} {
		found, err := h.Calls(f.Context(), mine, history.CallPage{Headers: tt.headers})
		f.OK(err)
		ids := map[string]bool{}
		for _, c := range found {
			ids[c.ID] = true
		}
		for _, id := range tt.want {
			if !ids[id] {
				t.Errorf("%v: %s is missing", tt.headers, id)
			}
		}
		if len(found) != len(tt.want) {
			t.Errorf("%v: %d calls, want %d", tt.headers, len(found), len(tt.want))
		}
	}
}

// TestHeadersOfRows: those of a batch's call come with its row, wherever it is read.
func TestHeadersOfRows(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(100 * usd)
	wish := f.wish(acc, 2, t0)
	want := map[string]string{"X-Order": "7"}
	wish.Rows[1].Headers = want
	id, err := f.CreateCampaign(f.Context(), wish, card, nil)
	f.OK(err)
	if rows := f.rows(acc, id).Rows; rows[0].Headers != nil || !maps.Equal(rows[1].Headers, want) {
		t.Errorf("%v, %v", rows[0].Headers, rows[1].Headers)
	}
	if rows := f.claimRows(f.Node, t0.Add(time.Second)); len(rows) != 2 || rows[0].Headers != nil || !maps.Equal(rows[1].Headers, want) {
		t.Errorf("claimed: %+v", rows)
	}
}
