package ledger_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/media/quality"
	"parley/store/history"
	"parley/store/storetest"
)

func TestWire(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(0)
	s := f.Start(acc, inboundES)
	got, err := history.New(f.DB).Wire(f.Context(), acc, s.ID)
	f.OK(err)
	if got.Quality != nil || len(got.SIP) != 0 || got.Dropped != 0 {
		t.Errorf("before anything is stored: %+v", got)
	}
	want := history.Wire{
		Quality: &quality.Report{MOS: 4.123456789, MOSMin: 3.5, Received: 1000, Lost: 12, Loss: 0.012, JitterMS: 3.25, RTTMS: 81.5, Encrypted: true},
		SIP: []history.SIPMessage{
			{At: t0, Transport: "UDP", From: "192.0.2.7:5060", To: "192.0.2.1:5060", Text: "INVITE sip:1@x SIP/2.0\r\nTo: \"a\x00\u2028\"\r\n\r\n"},
			{At: t0.Add(time.Millisecond), Sent: true, Transport: "UDP", From: "192.0.2.1:5060", To: "192.0.2.7:5060", Text: "SIP/2.0 486 Busy Here\r\n\r\n"}},
		Dropped: 3,
	}
	f.OK(history.New(f.DB).SaveWire(f.Context(), acc, s.ID, history.Wire{Dropped: 9}))
	f.OK(history.New(f.DB).SaveWire(f.Context(), acc, s.ID, want)) // replaces, never adds
	want.SIP[0].Text = "INVITE sip:1@x SIP/2.0\r\nTo: \"a\u2028\"\r\n\r\n"
	got, err = history.New(f.DB).Wire(f.Context(), acc, s.ID)
	f.OK(err)
	for i := range got.SIP {
		got.SIP[i].At = got.SIP[i].At.UTC()
	}
	for i := range want.SIP {
		want.SIP[i].At = want.SIP[i].At.UTC()
	}
	if !reflect.DeepEqual(*got, want) {
		t.Errorf("stored %+v\nread   %+v", want, got)
	}
	c, err := history.New(f.DB).Call(f.Context(), acc, s.ID)
	f.OK(err)
	if c.MOS == nil || *c.MOS != want.Quality.MOS {
		t.Errorf("history has MOS %v", c.MOS)
	}
	// A call that heard nothing has no score, and history lists it all the same.
	f.OK(history.New(f.DB).SaveWire(f.Context(), acc, s.ID, history.Wire{Quality: &quality.Report{Sent: 3}}))
	list, err := history.New(f.DB).Calls(f.Context(), acc, history.CallPage{})
	f.OK(err)
	if len(list) != 1 || list[0].MOS != nil {
		t.Errorf("history lists %+v", list)
	}
}

// TestWiresInProgress: how calls go is stored in one statement and without their scores for lists, each with its own
// account and none that was deleted.
func TestWiresInProgress(t *testing.T) {
	f := setup(t)
	h, acc, other := history.New(f.DB), f.NewAccount(0), f.NewAccount(0)
	first, second, gone := f.Start(acc, inboundES), f.Start(other, inboundES), f.Start(acc, inboundES)
	f.OK(h.ForgetCall(f.Context(), acc, gone.ID))
	of := func(account, call, text string) history.CallWire {
		return history.CallWire{Account: account, Call: call, Wire: history.Wire{Quality: &quality.Report{MOS: 4}, SIP: []history.SIPMessage{{Text: text}}, Dropped: 1}}
	}
	f.OK(h.SaveWires(f.Context(), []history.CallWire{of(acc, first.ID, "1"), of(other, second.ID, "2"), of(acc, gone.ID, "3"), of(other, first.ID, "4")}))
	f.OK(h.SaveWires(f.Context(), []history.CallWire{of(other, first.ID, "5")})) // none of the account's
	for text, s := range map[string]struct{ account, call string }{"1": {acc, first.ID}, "2": {other, second.ID}, "": {acc, gone.ID}} {
		got, err := h.Wire(f.Context(), s.account, s.call)
		f.OK(err)
		switch {
		case got.Quality == nil || got.Quality.MOS != 4:
			t.Errorf("%q: %+v", text, got)
		case text == "" && len(got.SIP)+got.Dropped > 0, text != "" && (len(got.SIP) != 1 || got.SIP[0].Text != text || got.Dropped != 1):
			t.Errorf("%q: %+v", text, got)
		}
		c, err := h.Call(f.Context(), s.account, s.call)
		f.OK(err)
		if c.MOS != nil {
			t.Errorf("%q has the score %v before its end", text, *c.MOS)
		}
	}
}

// Who deletes a call deletes what was kept of its wire: there are addresses and
// numbers of people in it.
func TestWireGoesWithTheCall(t *testing.T) {
	url := storetest.URL(t)
	f := prepare(t, storetest.Open(t, url))
	acc := f.NewAccount(0)
	s := f.Start(acc, inboundES)
	f.OK(history.New(f.DB).SaveWire(f.Context(), acc, s.ID, history.Wire{SIP: []history.SIPMessage{{Text: "INVITE"}}}))
	conn, err := pgx.Connect(f.Context(), url)
	f.OK(err)
	defer conn.Close(f.Context())
	for _, c := range []struct {
		sql  string
		left int
	}{{"", 1}, {"delete from calls", 0}} {
		if c.sql != "" {
			_, err := conn.Exec(f.Context(), c.sql)
			f.OK(err)
		}
		var left int
		f.OK(conn.QueryRow(f.Context(), "select count(*) from call_wire").Scan(&left))
		if left != c.left {
			t.Errorf("after %q %d rows are left", c.sql, left)
		}
	}
}
