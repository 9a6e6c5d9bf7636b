package header_test

import (
	"strings"
	"testing"
	"time"

	gosip "github.com/emiago/sipgo/sip"

	"parley/sip/header"
)

// FuzzHeaders: values of single headers.
func FuzzHeaders(f *testing.F) {
	f.Add(`Q.850;cause=16;text="Terminated, \"really\"", SIP;cause=603`)
	f.Add(`"A, B" <sip:+1-555;verstat=TN-Validation-Passed@h;x>, <tel:+1>`)
	f.Add("1800 ; Refresher = uac")
	f.Add("terminated;reason=noresource;expires=60")
	f.Add("SIP/2.0 486 Busy Here\r\n")
	f.Add("tel:+15550100077")
	f.Fuzz(func(t *testing.T, v string) {
		for _, c := range header.ParseReason(v) {
			if c.Code < 0 || c.Code > 1023 {
				t.Errorf("%+v", c)
			}
		}
		if id, ok := header.ParseIdentity(v); ok && strings.Contains(id.Number, ";") && !strings.Contains(strings.ToLower(v), "%3b") {
			t.Errorf("%+v", id)
		}
		req := gosip.NewRequest(gosip.NOTIFY, gosip.Uri{Scheme: "sip", Host: "h"})
		for _, name := range []string{"Session-Expires", "Min-SE", "Subscription-State"} {
			req.AppendHeader(gosip.NewHeader(name, v))
		}
		if d, refresher, ok := header.SessionExpires(req); d < 0 || d > 24*time.Hour || !ok && d != 0 || strings.TrimSpace(refresher) != refresher {
			t.Errorf("%q: session of %v, %q, %v", v, d, refresher, ok)
		}
		if d := header.MinSE(req); d < 0 || d > 24*time.Hour {
			t.Errorf("%q: a session of at least %v", v, d)
		}
		if state, d := header.SubscriptionState(req); d < 0 || strings.Contains(state, ";") {
			t.Errorf("%q: subscription %q, %v", v, state, d)
		}
		if code, _ := header.Sipfrag([]byte(v)); code != 0 && (code < 100 || code > 699) {
			t.Errorf("%q: status %d", v, code)
		}
		if to, err := header.ReferTo(v, "h", false); err == nil && strings.ContainsAny(to, "<>\r\n\" ") {
			t.Errorf("%q: Refer-To %q", v, to)
		}
		if text := header.NameAddr(v, gosip.Uri{Scheme: "sip", Host: "h"}); strings.ContainsAny(text, "\r\n\\") || strings.Count(text, `"`)%2 != 0 {
			t.Errorf("%q: %q", v, text)
		}
	})
}

func TestHeaderValues(t *testing.T) {
	for v, want := range map[string]header.Identity{
		`"Ann \"A\" Lee" <sip:+1-555-0100@h;x=1>`:    {Number: "+15550100", Host: "h", Display: `Ann "A" Lee`},
		`<tel:+1(555)0100;verstat=No-TN-Validation>`: {Number: "+15550100", Verstat: "No-TN-Validation"},
		`sip:anonymous@anonymous.invalid`:            {Number: "anonymous", Host: "anonymous.invalid"},
		`<sip:a%20b@h;verstat=TN-Validation-Failed>`: {Number: "a b", Host: "h", Verstat: "TN-Validation-Failed"},
	} {
		if got, ok := header.ParseIdentity(v); !ok || got != want {
			t.Errorf("%s: %+v %v", v, got, ok)
		}
	}
	if _, ok := header.ParseIdentity("<sip:"); ok {
		t.Error("half a URI was read")
	}
}

// TestSaysWhoSentItOn: a call that we send on, as far ends read it.
func TestSaysWhoSentItOn(t *testing.T) {
	req := gosip.NewRequest(gosip.INVITE, gosip.Uri{Scheme: "sip", User: "+15550100003", Host: "h"})
	by, to := gosip.Uri{Scheme: "sip", User: "+15550100001", Host: "h"}, gosip.Uri{Scheme: "sip", User: "+15550100003", Host: "h"}
	for _, h := range header.Deflected(by, to) {
		req.AppendHeader(h)
	}
	f := header.Read(req, nil, header.Identity{})
	if len(f.Diversions) != 1 || f.Diversions[0].Reason != "deflection" || f.DivertedBy("+15550100003") != "+15550100001" {
		t.Errorf("%+v", f.Diversions)
	}
	if h := f.History; len(h) != 2 || h[0].To.Number != "+15550100001" || h[1].To.Number != "+15550100003" || h[1].Cause != 480 {
		t.Errorf("%+v", h)
	}
	if to.UriParams.Has("cause") {
		t.Error("the address of the call has changed")
	}
}

// TestReferTo: numbers as a trunk wants them, and URIs as they are.
func TestReferTo(t *testing.T) {
	for _, c := range []struct {
		target string
		tel    bool
		want   string
	}{
		{"+1 555", false, ""}, {"+1-555-0100", false, "sip:+15550100@h:5070;user=phone"}, {"+1-555-0100", true, "tel:+15550100"},
		{"sips:ann@x", true, "sips:ann@x"}, {"http://x", false, ""}, {"ann", false, ""}, {"sip:a@x>,<sip:b@x", false, ""},
	} {
		if got, err := header.ReferTo(c.target, "h:5070", c.tel); got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: %q, %v", c.target, got, err)
		}
	}
}

// TestUnpack: of several parts the description stays, and a body without one stays whole.
func TestUnpack(t *testing.T) {
	const sdp, other = "v=0\r\n", "<location/>"
	part := func(kind, text string) string { return "--b\r\nContent-Type: " + kind + "\r\n\r\n" + text + "\r\n" }
	for _, c := range []struct{ kind, body, want, wantKind string }{
		{`multipart/mixed;boundary="b"`, part("application/pidf+xml", other) + part("application/sdp", sdp) + "--b--\r\n", sdp, "application/sdp"},
		{`multipart/mixed;boundary="b"`, part("application/pidf+xml", other) + "--b--\r\n", "", "multipart/mixed"},
		{"Application/SDP;charset=utf-8", sdp, sdp, "application/sdp"},
		{"multipart/mixed", sdp, sdp, "multipart/mixed"},
	} {
		m := gosip.NewRequest(gosip.INVITE, gosip.Uri{Scheme: "sip", Host: "h"})
		kind := gosip.ContentTypeHeader(c.kind)
		m.AppendHeader(&kind)
		m.SetBody([]byte(c.body))
		header.Unpack(m)
		if n := len(m.GetHeaders("Content-Type")); n != 1 {
			t.Errorf("%q has %d media types afterwards", c.body, n)
		}
		if c.want == "" {
			c.want = c.body
		}
		if got := string(m.Body()); got != c.want || header.ContentType(m) != c.wantKind {
			t.Errorf("%s: %q as %s", c.kind, got, header.ContentType(m))
		}
	}
}
