package calls_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"parley/billing"
	"parley/store"
	"parley/store/history"
	"parley/store/ledger"
	"parley/store/storetest"
)

// dialled places a call with its evidence of consent.
func (o *line) dialled(who owner, to string, at time.Time) *ledger.Session {
	o.Helper()
	s, err := o.Ledger.StartSession(storetest.At(o.Context(), at), ledger.Start{Node: o.node, Account: who.Account, Card: card, Agent: who.Agent,
		Terms: billing.Terms{Kind: billing.Outbound, Country: "ES", Mobile: true}, From: "+34911234567", To: to,
		Consent: &ledger.Consent{ToHash: sha256.Sum256([]byte(to)), Key: "key_1", IP: "192.0.2.7"}})
	o.OK(err)
	_, err = o.Ledger.CloseSession(storetest.At(o.Context(), at), s, ledger.Closing{Reason: "busy"})
	o.OK(err)
	return s
}

// sealOf computes a row's seal as the documentation has it.
func sealOf(t *testing.T, before string, row map[string]string) string {
	t.Helper()
	h := sha256.New()
	part := func(b []byte) {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(b))))
		h.Write(b)
	}
	raw := func(s string) []byte {
		b, err := hex.DecodeString(s)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	part(raw(before))
	for _, s := range []string{row["account_id"], row["call_id"], row["agent_id"], row["key_id"], row["ip"], row["at"]} {
		part([]byte(s))
	}
	part(raw(row["to_hash"]))
	return hex.EncodeToString(h.Sum(nil))
}

// TestConsents: the file can be verified without the server, and the list holds the
// same rows.
func TestConsents(t *testing.T) {
	o := open(t)
	for _, who := range []owner{o.A, o.B} {
		_, _, err := o.Ledger.Credit(storetest.At(t.Context(), began), ledger.Credit{Account: who.Account, Kind: ledger.Topup, Amount: 50 * billing.USD, Key: "topup:" + who.Account, Source: "sim"})
		o.OK(err)
	}
	var want []string
	for i := range 5 {
		want = append(want, o.dialled(o.A, "+34612345678", began.Add(time.Duration(i)*time.Second+1234567*time.Nanosecond)).ID)
		o.dialled(o.B, "+34612345678", began)
	}
	status, text := o.get(o.A, "/v1/consents.csv")
	if status != 200 {
		t.Fatalf("%d %s", status, text)
	}
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	o.OK(err)
	seal, listed := "", map[string]map[string]any{}
	for cursor := ""; ; {
		var page struct {
			Data    []map[string]any
			HasMore bool    `json:"has_more"`
			Next    *string `json:"next_cursor"`
		}
		o.Read(o.A, "/v1/consents?limit=2"+cursor, &page)
		for _, row := range page.Data {
			listed[fmt.Sprint(row["no"])] = row
		}
		if !page.HasMore {
			break
		}
		cursor = "&cursor=" + *page.Next
	}
	if len(rows) != 6 || len(listed) != 5 {
		t.Fatalf("the file has %d rows, the list %d", len(rows), len(listed))
	}
	for i, cells := range rows[1:] {
		row := map[string]string{}
		for at, name := range rows[0] {
			row[name] = cells[at]
			if got := fmt.Sprint(listed[fmt.Sprint(i+1)][name]); got != cells[at] {
				t.Errorf("row %d: %s is %q in the list and %q in the file", i+1, name, got, cells[at])
			}
		}
		if seal = sealOf(t, seal, row); row["account_id"] != o.A.Account || row["seal"] != seal || row["call_id"] != want[i] || row["no"] != fmt.Sprint(i+1) {
			t.Errorf("row %d is %v; its seal should be %s, its call %s", i+1, row, seal, want[i])
		}
	}
	for _, query := range []string{"?limit=0", "?limit=101", "?cursor=x", "?cursor=0", "?cursor=%00"} {
		if status, text := o.get(o.A, "/v1/consents"+query); status != 400 {
			t.Errorf("%s: %d %s", query, status, text)
		}
	}
	for _, path := range []string{"/v1/consents", "/v1/consents.csv"} {
		if status, text := o.get(owner{}, path); status != 401 {
			t.Errorf("%s without a key: %d %s", path, status, text)
		}
	}
}

// TestListIsFiltered: what may be asked for reaches the query, and nonsense does not.
func TestListIsFiltered(t *testing.T) {
	o := open(t)
	in := o.start(o.A, inbound, began)
	over := o.start(o.A, inbound, began.Add(time.Hour))
	o.start(o.B, inbound, began)
	_, err := o.Ledger.CloseSession(storetest.At(t.Context(), began.Add(2*time.Hour)), over, ledger.Closing{Reason: "no_answer"})
	o.OK(err)
	stamp := began.Add(time.Hour).Format(time.RFC3339)
	o.OK(history.New(o.DB).Keep(t.Context(), o.A.Account, in.ID, kept(map[string]string{"order": "42", "who": "a+b"})))
	o.OK(history.New(o.DB).Keep(t.Context(), o.A.Account, over.ID, kept(map[string]string{"order": "42"})))
	if err := history.New(o.DB).Keep(t.Context(), o.B.Account, over.ID, kept(map[string]string{"order": "43"})); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the metadata of another's call: %v", err)
	}
	both := in.ID + over.ID
	for query, want := range map[string]string{
		"": both, "direction=inbound": both, "direction=web": "", "agent_id=" + o.A.Agent: both, "agent_id=" + o.B.Agent: "",
		"number=%2B34612345678": both, "number=+34612345678": both, "number=34612345678": both, "number=%2B34+911-234-567": both, "number=%2B34911234568": "",
		"end_reason=no_answer": over.ID, "end_reason=busy": "", "state=live": in.ID, "state=ended": over.ID,
		"metadata[order]=42": both, "metadata%5Border%5D=42&metadata[who]=a%2Bb": in.ID, "metadata[order]=4": "", "metadata[who]=42": "",
		"from=" + stamp: over.ID, "to=" + stamp: in.ID, "from=2000-01-01&to=2001-01-01": "",
		"state=live&number=34612345678&direction=inbound": in.ID,
		"sort=newest": both, "sort=oldest": over.ID + in.ID, "sort=longest": over.ID, "sort=most_expensive&state=live": "", "sort=worst_sound": "",
	} {
		var page struct{ Data []seen }
		o.Read(o.A, "/v1/calls?"+query, &page)
		got := ""
		for _, c := range page.Data {
			got = c.ID + got // oldest first
		}
		if got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	for _, query := range []string{"direction=up", "state=dead", "end_reason=boredom", "number=12", "number=Maria", "number=%00", "agent_id=%00", "metadata[a%20b]=1", "metadata[a]=%00",
		"sort=up", "sort=%00", "from=yesterday", "to=x", "from=2001-01-01&to=2000-01-01"} {
		if status, text := o.get(o.A, "/v1/calls?"+query); status != 400 {
			t.Errorf("%s: %d %s", query, status, text)
		}
	}
}

// kept is a change that keeps metadata.
func kept(m map[string]string) func(*history.Kept) error {
	return func(k *history.Kept) error { k.Metadata = m; return nil }
}
