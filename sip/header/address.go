package header

import (
	"strings"

	gosip "github.com/emiago/sipgo/sip"
)

// NameAddr writes a name-addr (RFC 3261 section 20.10).
func NameAddr(display string, uri gosip.Uri) string {
	text := "<" + uri.String() + ">"
	if display = DisplayName(display); display != "" {
		text = `"` + display + `" ` + text
	}
	return text
}

// DisplayName is one as it may be written: without what would end its quotes or its line.
func DisplayName(name string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == '"' || r == '\\' || r == 0x7f {
			return -1
		}
		return r
	}, name)
}

// Deflected says that a call was by's, and is to's now: by Diversion (RFC 5806) and, to far ends that know it, History-Info (RFC 7044).
// The cause of a deflection is 480 (RFC 7544).
func Deflected(by, to gosip.Uri) []gosip.Header {
	now := *to.Clone()
	now.UriParams = append(now.UriParams, gosip.HeaderKV{K: "cause", V: "480"})
	return []gosip.Header{
		gosip.NewHeader("Diversion", NameAddr("", by)+";reason=deflection;counter=1"),
		gosip.NewHeader("History-Info", NameAddr("", by)+";index=1, "+NameAddr("", now)+";index=1.1;mp=1"),
	}
}
