package header

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	gosip "github.com/emiago/sipgo/sip"
)

// inviteWith is an INVITE with headers, each as "Name: value".
func inviteWith(headers ...string) *gosip.Request {
	req := gosip.NewRequest(gosip.INVITE, gosip.Uri{Scheme: "sip", User: "+34911234567", Host: "h"})
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.AppendHeader(gosip.NewHeader(name, value))
	}
	return req
}

func TestCustomHeaders(t *testing.T) {
	long := strings.Repeat("a", MaxValue)
	var many []string
	for i := range MaxCustom + 5 {
		many = append(many, fmt.Sprintf("X-N%d: %d", i, i))
	}
	for name, tt := range map[string]struct {
		headers []string
		want    map[string]string
	}{
		"none":                   {[]string{"Subject: hello", "Xylo: 1", "X-: 1", "X-A_B: 1", "X-É: 1"}, nil},
		"names in any capitals":  {[]string{"x-customer-ID: 42", "X-Empty: "}, map[string]string{"X-Customer-Id": "42", "X-Empty": ""}},
		"one name twice":         {[]string{"X-Tag: a", "x-tag: b"}, map[string]string{"X-Tag": "a, b"}},
		"control characters":     {[]string{"X-A: a\x01\tb\xff"}, map[string]string{"X-A": "a\ufffd\ufffdb\ufffd"}},
		"what we send ourselves": {[]string{"X-Token: 5ec2e7", "X-Other: 1"}, map[string]string{"X-Other": "1"}},
		"one that is too long":   {[]string{"X-Long: " + long + "a", "X-Fits: " + long}, map[string]string{"X-Fits": long}},
		"RFC 7433, section 4":    {[]string{"User-to-User: 56a390f3d2b7310023a2;encoding=hex;purpose=foo;content=bar"}, map[string]string{"User-to-User": "56a390f3d2b7310023a2"}},
		"text in hexadecimal":    {[]string{"User-To-User: 4f726465722034322e;encoding=hex"}, map[string]string{"User-to-User": "Order 42."}},
		"text of ISDN":           {[]string{"user-to-user: 044f4b;purpose=isdn-uui;encoding=HEX"}, map[string]string{"User-to-User": "OK"}},
		"text, quoted":           {[]string{`User-to-User: "a;b \"c\"";purpose=x`}, map[string]string{"User-to-User": `a;b "c"`}},
		"text as it is":          {[]string{"User-to-User: 4f4b"}, map[string]string{"User-to-User": "4f4b"}},
		"no hexadecimal":         {[]string{"User-to-User: 4f4;encoding=hex"}, map[string]string{"User-to-User": "4f4"}},
		"nothing":                {[]string{"User-to-User: ;encoding=hex"}, map[string]string{"User-to-User": ""}},
	} {
		got := Read(inviteWith(tt.headers...), map[string]string{"X-TOKEN": "5ec2e7"}, Identity{}).Custom
		if !maps.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
	if got := Read(inviteWith(many...), nil, Identity{}).Custom; len(got) != MaxCustom || got["X-N0"] != "0" {
		t.Errorf("of %d headers %d were read", len(many), len(got))
	}
	if got := Read(inviteWith("X-"+strings.Repeat("a", MaxName)+": 1"), nil, Identity{}).Custom; got != nil {
		t.Errorf("a long name: %q", got)
	}
}

// The examples of RFC 5806 and RFC 7044, and what carriers make of them.
func TestRedirections(t *testing.T) {
	number := func(n string) Identity { return Identity{Number: n, Host: "h"} }
	for name, tt := range map[string]struct {
		headers     []string
		want        Fields
		by, dialled string
	}{
		"RFC 5806, two in one": {[]string{`Diversion: <sip:+19195551004@h>;reason=user-busy, "Bob" <sip:+19195551002@h>;reason=time-of-day;counter=1`},
			Fields{Diversions: []Diversion{{number("+19195551004"), "user-busy"}, {Identity{"+19195551002", "h", "Bob", ""}, "time-of-day"}}}, "+19195551004", "+19195551002"},
		"in two headers": {[]string{`Diversion: <tel:+1-919-555-1004>;reason="do-not-disturb"`, `Diversion: <sip:+19195551002@h>;privacy=off`},
			Fields{Diversions: []Diversion{{Identity{Number: "+19195551004"}, "do-not-disturb"}, {number("+19195551002"), ""}}}, "+19195551004", "+19195551002"},
		"private": {[]string{`Diversion: "Bob" <sip:+19195551002@h>;reason=no-answer;privacy=full, "Ann" <sip:+19195551003@h>;privacy="name"`},
			Fields{Diversions: []Diversion{{Identity{}, "no-answer"}, {number("+19195551003"), ""}}}, "", "+19195551003"},
		"no addresses": {[]string{`Diversion: ;reason=x`, `Diversion: <sip:`, `Diversion: `}, Fields{}, "", ""},
		"RFC 7044, a user who does not answer": {[]string{`History-Info: <sip:+19195551002@h>;index=1, <sip:+19195551003@h;cause=408>;index=1.2;mp=1`, `History-Info: <sip:+19195551002@h?Reason=SIP%3Bcause%3D302>;index=1.1;rc=1`},
			Fields{History: []HistoryEntry{{"1", number("+19195551002"), 0}, {"1.1", number("+19195551002"), 302}, {"1.2", number("+19195551003"), 408}}}, "+19195551003", "+19195551002"},
		"and our own number last": {[]string{`History-Info: <sip:+34600000001@h>;index=1, <sip:911234567@h;cause=302>;index=1.1`},
			Fields{History: []HistoryEntry{{"1", number("+34600000001"), 0}, {"1.1", number("911234567"), 302}}}, "+34600000001", "+34600000001"},
		"a direct call":   {[]string{`History-Info: <sip:+34911234567@h>;index=1`}, Fields{History: []HistoryEntry{{"1", number("+34911234567"), 0}}}, "", ""},
		"a private entry": {[]string{`History-Info: <sip:+34600000001@h?Privacy=history>;index=1`}, Fields{History: []HistoryEntry{{"1", Identity{}, 0}}}, "", ""},
		"the tenth after the second": {[]string{`History-Info: <sip:10@h>;index=1.10,<sip:2@h>;index=1.2,<sip:1@h>;index=1`},
			Fields{History: []HistoryEntry{{"1", number("1"), 0}, {"1.2", number("2"), 0}, {"1.10", number("10"), 0}}}, "10", "1"},
		"no index": {[]string{`History-Info: <sip:+34600000001@h>`, `History-Info: <sip:+34600000001@h>;index=x`}, Fields{}, "", ""},
	} {
		got := Read(inviteWith(tt.headers...), nil, Identity{})
		if !slices.Equal(got.Diversions, tt.want.Diversions) || !slices.Equal(got.History, tt.want.History) {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
		if by, dialled := got.DivertedBy("+34911234567"), got.FirstCalled("+34911234567"); by != tt.by || dialled != tt.dialled {
			t.Errorf("%s: by %q, dialled %q", name, by, dialled)
		}
	}
	many := strings.Repeat("<sip:1@h>;index=1,", 100)
	if got := Read(inviteWith("Diversion: "+many, "History-Info: "+many), nil, Identity{}); len(got.Diversions) != maxRedirects || len(got.History) != maxRedirects {
		t.Errorf("%d diversions, %d entries", len(got.Diversions), len(got.History))
	}
}

func TestWithheld(t *testing.T) {
	for header, want := range map[string]bool{"id": true, "none": false, "session": false, "Header; id;critical": true, " USER ": true, "history": false} {
		if got := Read(inviteWith("Privacy: "+header), nil, Identity{}).Withheld; got != want {
			t.Errorf("Privacy: %s: withheld %t", header, got)
		}
	}
	if Read(inviteWith(), nil, Identity{}).Withheld {
		t.Error("withheld without a word of it")
	}
}

func TestAttestation(t *testing.T) {
	const origin = "123e4567-e89b-12d3-a456-426655440000"
	for name, tt := range map[string]struct {
		headers     []string
		level, orig string
	}{
		"a header of its own":        {[]string{"P-Attestation-Indicator: A", "P-Origination-ID: " + origin}, "A", origin},
		"those of 3GPP":              {[]string{"Attestation-Info: b", `Origination-Id: "` + origin + `"`}, "B", origin},
		"a parameter of the URI":     {[]string{"P-Asserted-Identity: <sip:+15550100001@h;attest=C;verstat=TN-Validation-Passed>"}, "C", ""},
		"one of a number":            {[]string{"P-Asserted-Identity: <tel:+15550100001;attest=B>"}, "B", ""},
		"one of the user":            {[]string{"P-Asserted-Identity: <sip:+15550100001;attest=A@h>"}, "A", ""},
		"one behind the address":     {[]string{"P-Asserted-Identity: <sip:+15550100001@h>;attest=B"}, "B", ""},
		"behind the verdict":         {[]string{"P-Asserted-Identity: <sip:+15550100001@h;verstat=TN-Validation-Passed-B>"}, "B", ""},
		"a verdict alone":            {[]string{"P-Asserted-Identity: <sip:+15550100001@h;verstat=TN-Validation-Passed>"}, "", ""},
		"the first identity's":       {[]string{"P-Asserted-Identity: <tel:+15550100001>, <sip:+15550100001@h;attest=A>"}, "", ""},
		"a level that there is not":  {[]string{"P-Attestation-Indicator: D"}, "", ""},
		"several":                    {[]string{"P-Attestation-Indicator: AB"}, "", ""},
		"an origin that is too long": {[]string{"P-Origination-ID: " + strings.Repeat("a", 200)}, "", strings.Repeat("a", 128)},
	} {
		req := inviteWith(tt.headers...)
		var asserted Identity
		if h := req.GetHeader("p-asserted-identity"); h != nil {
			asserted, _ = ParseIdentity(h.Value())
		}
		if got := Read(req, nil, asserted); got.Attestation != tt.level || got.OrigID != tt.orig {
			t.Errorf("%s: %q, %q", name, got.Attestation, got.OrigID)
		}
	}
}

// FuzzHeaderFields: whatever a far end writes is bounded, and can be kept and shown.
func FuzzHeaderFields(f *testing.F) {
	for _, v := range []string{`"Bob" <sip:+1919@h;cause=302?Reason=SIP%3Bcause%3D302&Privacy=none>;index=1.1;reason="a, b";privacy=off, <tel:+1>;index=1`,
		"4f4b;encoding=hex", `"a\"b;c";encoding=hex`, "A", "<sip:1@h;attest=a>", ";;,,<>", "\x00\xff"} {
		f.Add("X-A", v)
		f.Add("User-to-User", v)
	}
	f.Fuzz(func(t *testing.T, name, v string) {
		req := inviteWith("P-Asserted-Identity: "+v, "Diversion: "+v, "History-Info: "+v, "User-to-User: "+v, "P-Attestation-Indicator: "+v, "P-Origination-ID: "+v)
		req.AppendHeader(gosip.NewHeader(name, v))
		asserted, _ := ParseIdentity(v)
		got := Read(req, nil, asserted)
		texts := []string{got.OrigID, got.DivertedBy("+1"), got.FirstCalled("+1")}
		for name, value := range got.Custom {
			if len(name) > MaxName || len(value) > MaxValue {
				t.Errorf("%q: %d bytes", name, len(value))
			}
			texts = append(texts, name, value)
		}
		for _, d := range got.Diversions {
			texts = append(texts, d.Reason, d.By.Number, d.By.Display, d.By.Host)
		}
		for _, e := range got.History {
			if texts = append(texts, e.Index, e.To.Number, e.To.Display); e.Cause != 0 && (e.Cause < 100 || e.Cause > 699) {
				t.Errorf("cause %d", e.Cause)
			}
		}
		for _, text := range texts {
			if !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) || len(text) > MaxValue {
				t.Errorf("%q", text)
			}
		}
		if !slices.Contains([]string{"", "A", "B", "C"}, got.Attestation) {
			t.Errorf("attestation %q", got.Attestation)
		}
	})
}
