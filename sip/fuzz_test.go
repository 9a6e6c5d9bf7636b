package sip

import (
	"net/netip"
	"strings"
	"testing"

	gosip "github.com/emiago/sipgo/sip"

	"parley/sip/dialog"
	"parley/sip/header"
	"parley/sip/mediasession"
)

// FuzzRequest: whatever parses as a request can be checked, read and answered,
// and nothing in it ends a message of ours early.
func FuzzRequest(f *testing.F) {
	f.Add([]byte("INVITE sip:+1555%30@h;user=phone SIP/2.0\r\nVia: SIP/2.0/UDP h;branch=z9hG4bKx;rport\r\nFrom: \"a\\\"b\" <sip:a@h>;tag=1\r\n" +
		"To: <tel:+1-555>\r\nCall-ID: 1\r\nCSeq: 1 INVITE\r\nContact: <sip:a@h;transport=tcp>\r\nRecord-Route: <sip:p;lr>,<sip:q>\r\n" +
		"P-Asserted-Identity: <sip:+1;verstat=No@h>\r\nRequire: x\r\nReason: Q.850;cause=16;text=\"a;b\"\r\nContent-Length: 0\r\n\r\n"))
	f.Add([]byte("INFO sip:a@[::1]:5 SIP/2.0\r\nVia: SIP/2.0/TCP [::1]:9;branch=z9hG4bKx\r\nFrom: sip:a@h;tag=1\r\nTo: sip:b@h;tag=2\r\n" +
		"Call-ID: 1\r\nCSeq: 1 INFO\r\nContent-Type: application/dtmf-relay\r\nContent-Length: 8\r\n\r\nSignal=5"))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := gosip.ParseMessage(text)
		req, ok := m.(*gosip.Request)
		if err != nil || !ok {
			return
		}
		code, extra := check(req)
		if code == 0 {
			code = 200
		}
		if req.Via() == nil || req.CSeq() == nil {
			return // the transaction layer refuses it
		}
		res := response(req, code, "", "tag", extra...)
		whole(t, res.String())
		for _, h := range req.GetHeaders("reason") {
			header.ParseReason(h.Value())
		}
		for _, h := range req.GetHeaders("p-asserted-identity") {
			header.ParseIdentity(h.Value())
		}
		mediasession.ParseInfo(header.ContentType(req), req.Body())
		if code != 200 {
			return
		}
		header.Called(req)
		header.IdentityOf(req.From().DisplayName, &req.From().Address)
		d := dialog.Dialog{State: dialog.State{CallID: req.CallID().Value(), LocalTag: "x", RemoteTag: "y",
			Local: dialog.URI{Uri: req.To().Address}, Remote: dialog.URI{Uri: req.From().Address},
			Routes: dialog.RouteSet(req, true), Transport: "UDP", Self: netip.MustParseAddrPort("127.0.0.1:5060")}}
		if d.Retarget(req.Contact()) {
			whole(t, d.Request(gosip.BYE).String())
		}
	})
}

func whole(t *testing.T, text string) {
	t.Helper()
	if strings.Index(text, "\r\n\r\n") != len(text)-4 {
		t.Errorf("a message in parts: %q", text)
	}
}
