package dialog

import (
	"strconv"
	"strings"
	"time"

	gosip "github.com/emiago/sipgo/sip"
)

// Allow is our Allow header: what a request may be (RFC 3261 section 20.5).
func Allow() gosip.Header {
	return gosip.NewHeader("Allow", "INVITE, ACK, CANCEL, BYE, OPTIONS, INFO, UPDATE, PRACK, NOTIFY")
}

// Headers is a request or a response.
type Headers interface {
	GetHeader(name string) gosip.Header
	GetHeaders(name string) []gosip.Header
}

// Listed says whether an option stands in a list header, by any of its names.
func Listed(m Headers, option string, names ...string) bool {
	for _, name := range names {
		for _, h := range m.GetHeaders(name) {
			for o := range strings.SplitSeq(h.Value(), ",") {
				if strings.EqualFold(strings.TrimSpace(o), option) {
					return true
				}
			}
		}
	}
	return false
}

// Param is a parameter of a header, in any case; empty: there is none.
func Param(params, name string) (value string) {
	for p := range strings.SplitSeq(params, ";") {
		if k, v, _ := strings.Cut(p, "="); strings.EqualFold(strings.TrimSpace(k), name) {
			value = strings.TrimSpace(v)
		}
	}
	return value
}

// Seconds reads a header that begins with a number of seconds, and its parameters; ok is false
// when there is none.
func Seconds(m Headers, names ...string) (d time.Duration, params string, ok bool) {
	for _, name := range names {
		h := m.GetHeader(name)
		if h == nil {
			continue
		}
		v, params, _ := strings.Cut(h.Value(), ";")
		v, _, _ = strings.Cut(v, "(") // a comment
		n, err := strconv.ParseUint(strings.TrimSpace(v), 10, 32)
		if err != nil {
			return 0, "", false
		}
		return time.Duration(n) * time.Second, params, true
	}
	return 0, "", false
}
