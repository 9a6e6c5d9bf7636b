package header

import (
	"iter"
	"slices"
	"strconv"
	"strings"
)

// Cause is one value of a Reason header.
type Cause struct {
	Q850 bool // else a SIP status code
	Code int
	Text string
}

// ParseReason reads a Reason header's values. Protocols other than SIP and
// Q.850 and values without a number are left out.
func ParseReason(v string) []Cause {
	var list []Cause
	for part := range split(v, ',') {
		params := slices.Collect(split(part, ';'))
		protocol, number := strings.TrimSpace(params[0]), false
		c := Cause{Q850: strings.EqualFold(protocol, "Q.850")}
		if !c.Q850 && !strings.EqualFold(protocol, "SIP") {
			continue
		}
		for _, p := range params[1:] {
			name, value, _ := strings.Cut(p, "=")
			switch strings.ToLower(strings.TrimSpace(name)) {
			case "cause":
				n, err := strconv.ParseUint(strings.TrimSpace(value), 10, 10)
				c.Code, number = int(n), err == nil
			case "text":
				c.Text = strings.Trim(strings.TrimSpace(value), `"`)
			}
		}
		if number {
			list = append(list, c)
		}
	}
	return list
}

// split yields the parts of a header value between separators that stand
// outside of quotes.
func split(s string, sep byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		start, quoted := 0, false
		for i := 0; i < len(s); i++ {
			switch {
			case s[i] == '\\' && quoted:
				i++
			case s[i] == '"':
				quoted = !quoted
			case s[i] == sep && !quoted:
				if !yield(s[start:i]) {
					return
				}
				start = i + 1
			}
		}
		yield(s[start:])
	}
}
