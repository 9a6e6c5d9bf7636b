package sip_test

import (
	"strings"
	"testing"

	"parley/sip"
	"parley/sip/header"
)

// Whatever a caller says to be called can be kept and shown.
func TestOddCallers(t *testing.T) {
	for name, tt := range map[string]struct {
		from string
		want header.Identity
	}{
		"a name in UTF-8":     {`"Zoë 漢字 😀" <sip:+15550100001@127.0.0.1>`, header.Identity{Number: "+15550100001", Host: "127.0.0.1", Display: "Zoë 漢字 😀"}},
		"an escaped quote":    {`"Zo\"e" <sip:+15550100001@127.0.0.1>`, header.Identity{Number: "+15550100001", Host: "127.0.0.1", Display: `Zo"e`}},
		"no UTF-8":            {"\"Zo\xeb\" <sip:%ff1@127.0.0.1>", header.Identity{Number: "\ufffd1", Host: "127.0.0.1", Display: "Zo\ufffd"}},
		"control characters":  {"\"A\x01\" <sip:1%00%0a2@127.0.0.1>", header.Identity{Number: "1\ufffd\ufffd2", Host: "127.0.0.1", Display: "A\ufffd"}},
		"more than fits":      {`"` + strings.Repeat("é", 100) + `" <sip:` + strings.Repeat("9", 300) + `@127.0.0.1>`, header.Identity{Number: strings.Repeat("9", 128), Host: "127.0.0.1", Display: strings.Repeat("é", 64)}},
		"a cut in the middle": {`"a` + strings.Repeat("é", 100) + `" <sip:1@127.0.0.1>`, header.Identity{Number: "1", Host: "127.0.0.1", Display: "a" + strings.Repeat("é", 63)}},
	} {
		t.Run(name, func(t *testing.T) {
			results := make(chan outcome, 1)
			ua := serve(t, sip.Config{OnCall: answering(results)})
			p := newPeer(t, ua, "udp")
			from := "From: " + tt.from + ";tag=" + p.tag
			p.write(p.request("INVITE", p.offer(), from))
			res := p.response(200, "INVITE")
			p.toTag = res.To().Params.GetOr("tag", "")
			p.write(p.request("ACK", "", from))
			p.next(200, "BYE", "", from)
			if o := wait(t, results, "end of the call"); o.err != nil || o.in.From != tt.want {
				t.Errorf("%v, from %+q", o.err, o.in.From)
			}
		})
	}
}
