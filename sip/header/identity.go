package header

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	gosip "github.com/emiago/sipgo/sip"

	"parley/sip/dialog"
)

// Identity is who someone says to be in a header. A far end's texts are valid UTF-8, at
// most 128 bytes each, and without control characters: U+FFFD stands for what was not.
type Identity struct {
	Number  string // the user part, for telephone numbers without visual separators; may be any text
	Host    string // empty for a tel: URI
	Display string // the display name
	// Verstat is the carrier's check of the number (TN-Validation-Passed,
	// TN-Validation-Failed, No-TN-Validation and others, ATIS-1000074); empty
	// when it gives none.
	Verstat string
}

// IdentityOf joins the two parts of an address header.
func IdentityOf(display string, uri *gosip.Uri) Identity {
	id := URIIdentity(uri)
	id.Display = printed(unquote(display))
	return id
}

// maxIdentity bounds a text of an Identity, in bytes.
const maxIdentity = 128

// printed is a far end's text as it may be kept and shown.
func printed(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return utf8.RuneError
		}
		return r // what is no UTF-8 comes as U+FFFD
	}, s)
	if len(s) <= maxIdentity {
		return s
	}
	return strings.ToValidUTF8(s[:maxIdentity], "") // without half of the last character
}

// ParseIdentity reads one value of P-Asserted-Identity (RFC 3325 section 9.1),
// the first when there are several: the other is the same caller's other URI.
func ParseIdentity(v string) (Identity, bool) {
	for first := range split(v, ',') {
		var uri gosip.Uri
		name, err := gosip.ParseAddressValue(strings.TrimSpace(first), &uri, nil)
		if err != nil {
			return Identity{}, false
		}
		return IdentityOf(name, &uri), true
	}
	return Identity{}, false
}

// Called is the number that was dialled.
func Called(req *gosip.Request) string {
	if id := URIIdentity(&req.Recipient); id.Number != "" {
		return id.Number
	}
	return URIIdentity(&req.To().Address).Number
}

// URIIdentity takes a sip: or tel: URI apart. A number's parameters stand in
// the user part (RFC 3261 section 19.1.6) or after the host, as senders like it.
func URIIdentity(u *gosip.Uri) Identity {
	user, host := u.User, u.Host
	if u.Scheme == "tel" {
		user, host = u.Raw(), ""
	}
	number, params, _ := strings.Cut(user, ";")
	if plain, err := url.PathUnescape(number); err == nil {
		number = plain
	}
	id := Identity{Number: printed(PlainNumber(number)), Host: printed(host), Verstat: printed(dialog.Param(params, "verstat"))}
	if id.Verstat == "" {
		for _, p := range u.UriParams {
			if strings.EqualFold(p.K, "verstat") {
				id.Verstat = printed(p.V)
			}
		}
	}
	return id
}

// PlainNumber removes the visual separators of RFC 3966 section 5.1.1 from what
// is a telephone number otherwise, and leaves any other user name alone.
func PlainNumber(s string) string {
	rest, plus := strings.CutPrefix(s, "+")
	plain := separators.Replace(rest)
	if strings.Trim(plain, "0123456789") != "" || plain == "" && !plus {
		return s
	}
	return s[:len(s)-len(rest)] + plain
}

var separators = strings.NewReplacer("-", "", ".", "", "(", "", ")", "")

// unquote resolves the escapes of a quoted display name (RFC 3261 section 25.1).
func unquote(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
