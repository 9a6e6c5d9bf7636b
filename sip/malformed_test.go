package sip_test

import (
	"context"
	"strings"
	"testing"

	gosip "github.com/emiago/sipgo/sip"

	"parley/sip"
)

// torture is in the manner of RFC 4475: what must be taken, what must be refused
// and how (code 0: somehow, outside of a transaction), and what gets no answer (-1).
var torture = []struct {
	name   string
	method string
	code   int
	change func(text string) string
}{
	{"compact names, folding, odd case", "OPTIONS", 200, replace("From:", "f :", "To: ", "t:\r\n  ", "Call-ID:", "i :", "Max-Forwards: 70", "MAX-FORWARDS:   0")},
	{"unknown headers and parameters", "OPTIONS", 200, replace("Max-Forwards: 70", "Max-Forwards: 70\r\nNewFangled: \"x\" ;;,\r\nX: <")},
	{"escaped numbers", "INVITE", 404, replace("INVITE sip:+15550100002@", "INVITE sip:%2b1555%30100002;npdi@")},
	{"tel URI", "INVITE", 404, replace("INVITE sip:+15550100002@127.0.0.1", "INVITE tel:+1-555-010-0002;ext=5")},
	{"empty user", "INVITE", 404, replace("INVITE sip:+15550100002@", "INVITE sip:")},
	{"unknown scheme", "OPTIONS", 416, replace("OPTIONS sip:+15550100002@127.0.0.1", "OPTIONS nobodyKnowsThisScheme:totallyopaque")},
	{"unknown method", "FROBNICATE", 405, nil},
	{"CSeq of another method", "OPTIONS", 400, replace("CSeq: 1 OPTIONS", "CSeq: 1 INVITE")},
	{"two Froms", "OPTIONS", 400, replace("Max-Forwards: 70", "Max-Forwards: 70\r\nFrom: <sip:x@y>;tag=2")},
	{"two Call-IDs", "OPTIONS", 400, replace("Max-Forwards: 70", "Max-Forwards: 70\r\nCall-ID: other")},
	{"no From tag", "OPTIONS", 200, replace(";tag=their-tag", "")},
	{"no Call-ID", "OPTIONS", 400, drop("Call-ID")},
	{"no To", "OPTIONS", 400, drop("To")},
	{"no CSeq", "OPTIONS", 0, drop("CSeq")},
	{"future version", "OPTIONS", 505, replace("SIP/2.0\r\nVia", "SIP/7.0\r\nVia")},
	{"required extension", "OPTIONS", 420, replace("Max-Forwards: 70", "Max-Forwards: 70\r\nRequire: nothingSupportsThis, norThis")},
	{"unknown body", "INVITE", 415, replace("Content-Type: application/sdp", "Content-Type: application/unknownformat")},
	{"encoded body", "INVITE", 415, replace("Max-Forwards: 70", "Max-Forwards: 70\r\nContent-Encoding: gzip")},
	{"no Contact", "INVITE", 400, drop("Contact")},
	{"star Contact", "INVITE", 400, replace("Contact: <sip:ann@", "Contact: *\r\nX-Contact: <sip:ann@")},
	{"negative Content-Length", "OPTIONS", -1, replace("Content-Length: 0", "Content-Length: -999")},
	{"huge Content-Length", "OPTIONS", -1, replace("Content-Length: 0", "Content-Length: 9999999999")},
	{"huge CSeq", "OPTIONS", -1, replace("CSeq: 1", "CSeq: 36893488147419103232")},
	{"spaces in the request line", "OPTIONS", -1, replace("OPTIONS sip:", "OPTIONS  sip:")},
	{"no brackets end", "OPTIONS", -1, replace("To: <sip:+15550100002@127.0.0.1>", "To: <sip:+15550100002@127.0.0.1")},
	{"open quotes", "OPTIONS", -1, replace(`"Ann"`, `"Ann`)},
	{"not SIP", "OPTIONS", -1, func(string) string { return "GET / HTTP/1.1\r\nHost: x\r\n\r\n" }},
	{"noise", "OPTIONS", -1, func(string) string { return "\x00\xff\x16\x03\x01\r\n\r\n\r\n" }},
}

// After each message the server still works.
func TestTorture(t *testing.T) {
	both(t, func(t *testing.T, network string) {
		ua := serve(t, sip.Config{OnCall: func(_ context.Context, in *sip.Incoming) { in.Reject(404, "", 0) }})
		for _, c := range torture {
			t.Run(c.name, func(t *testing.T) {
				p := newPeer(t, ua, network)
				body := ""
				if c.method == "INVITE" {
					body = p.offer()
				}
				text := p.request(c.method, body)
				if c.change != nil {
					if changed := c.change(text); changed == text {
						t.Fatal("the change did not apply")
					} else {
						text = changed
					}
				}
				p.write(text)
				if c.code > 0 {
					for {
						r, ok := wait(t, p.msgs, "response").(*gosip.Response)
						if !ok || r.IsProvisional() {
							continue
						}
						if r.StatusCode != c.code {
							t.Errorf("answered %d, want %d", r.StatusCode, c.code)
						}
						break
					}
				}
				q := newPeer(t, ua, network)
				q.write(q.request("OPTIONS", ""))
				q.response(200, "OPTIONS")
			})
		}
		eventually(t, "nothing left", func() bool { s := ua.Stats(); return s.Calls == 0 && s.Ringing == 0 })
	})
}

func replace(pairs ...string) func(string) string { return strings.NewReplacer(pairs...).Replace }

func drop(name string) func(string) string {
	return func(text string) string {
		var b strings.Builder
		for l := range strings.Lines(text) {
			if !strings.HasPrefix(l, name+":") {
				b.WriteString(l)
			}
		}
		return b.String()
	}
}
