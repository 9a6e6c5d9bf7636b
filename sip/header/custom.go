package header

import (
	"encoding/hex"
	"maps"
	"net/textproto"
	"slices"
	"strings"

	gosip "github.com/emiago/sipgo/sip"
)

// Canonical is the name of a header that programs of either side may use, each word with one capital; false: it
// is another. Those are X- names of letters, digits and hyphens, and User-to-User.
func Canonical(name string) (string, bool) {
	if strings.EqualFold(name, userToUser) {
		return userToUser, true
	}
	name = textproto.CanonicalMIMEHeaderKey(name)
	if !strings.HasPrefix(name, "X-") || len(name) < 3 || len(name) > MaxName {
		return "", false
	}
	return name, !strings.ContainsFunc(name, func(r rune) bool {
		return r != '-' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}

func isOurs(name string, ours map[string]string) bool {
	for own := range ours {
		if strings.EqualFold(own, name) {
			return true
		}
	}
	return false
}

// Custom are the headers of a call that is placed, in the order of their names. Ours, those of the trunk, stay as they are,
// and what is no such header, or cannot stand in a line, is left out.
func Custom(given, ours map[string]string) (headers []gosip.Header) {
	size := 0
	for _, field := range slices.Sorted(maps.Keys(given)) {
		name, ok := Canonical(field)
		value := strings.TrimSpace(given[field])
		if !ok || isOurs(name, ours) || len(value) > MaxValue || clean(value) != value || len(headers) == MaxCustom {
			continue
		}
		if size += len(name) + len(value); size > maxTotal {
			break
		}
		if name == userToUser {
			value = userData(value)
		}
		headers = append(headers, gosip.NewHeader(name, value))
	}
	return headers
}

// userData is text as User-to-User carries it (RFC 7433 section 4.1): in hexadecimal, unless it has parameters and is
// thereby written as it is to be sent.
func userData(text string) string {
	if strings.Contains(text, ";") {
		return text
	}
	return hex.EncodeToString([]byte(text)) + ";encoding=hex"
}
