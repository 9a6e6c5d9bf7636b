package destination

import (
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Address is a SIP address (RFC 3261 section 19.1): somebody at an exchange who has no telephone number there, or none that
// is called.
type Address struct {
	User      string
	Host      string // a name in small letters, or an address without brackets
	Port      uint16 // 0: none is written
	Transport string // udp, tcp or tls; empty: none is written
}

// scheme is what addresses begin with, and numbers do not.
const scheme = "sip:"

// IsAddress says whether a destination is written as a SIP address, and not as a telephone number.
func IsAddress(s string) bool {
	return len(s) >= len(scheme) && strings.EqualFold(s[:len(scheme)], scheme)
}

// maxAddress bounds the text of an address, in bytes.
const maxAddress = 300

var address = regexp.MustCompile(`^([A-Za-z0-9+*._~-]{1,64})@(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?)(:[0-9]{1,5})?(;transport=(udp|tcp|tls))?$`)

var (
	errAddress = &Error{ErrInvalid, "This is not a SIP address, such as sip:200@pbx.example.com or sip:sales@192.0.2.7:5070;transport=tcp."}
	errNumber  = &Error{ErrInvalid, "This is the SIP address of a telephone number. Write the number alone, in international format."}
)

// leastNumber is how many digits a user has who is taken for a telephone number; fewer are an extension of an exchange.
const leastNumber = 7

// anywhere are the emergency numbers that networks of every country know. Other short numbers are those of extensions: 100 is an
// emergency number in Belgium, and the first telephone of many exchanges.
var anywhere = []string{"112", "911"}

// ParseAddress reads a SIP address. Its error is an *Error. Telephone numbers have rules of their own, which an address must not
// bypass: it names none.
func ParseAddress(s string) (a Address, err error) {
	if s = strings.TrimSpace(s); len(s) > maxAddress || !IsAddress(s) {
		return a, errAddress
	}
	user, rest, _ := strings.Cut(s[len(scheme):], "@")
	m := address.FindStringSubmatch(user + "@" + strings.ToLower(rest))
	if m == nil {
		return a, errAddress
	}
	a = Address{User: m[1], Host: strings.Trim(m[2], "[]"), Transport: m[6]}
	if a.Host != m[2] {
		ip, err := netip.ParseAddr(a.Host)
		if err != nil || !ip.Is6() {
			return Address{}, errAddress
		}
		a.Host = ip.String()
	}
	if m[4] != "" {
		port, err := strconv.ParseUint(m[4][1:], 10, 16)
		if err != nil || port == 0 {
			return Address{}, errAddress
		}
		a.Port = uint16(port)
	}
	digits := separators.Replace(a.User)
	switch {
	case slices.Contains(anywhere, strings.TrimPrefix(digits, "+")):
		return Address{}, emergencyNumber
	case digits[:min(1, len(digits))] == "+", len(digits) >= leastNumber && strings.Trim(digits, "0123456789") == "":
		return Address{}, errNumber
	}
	return a, nil
}

// String is the form in which an address is kept and called.
func (a Address) String() string {
	host := a.Host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	s := scheme + a.User + "@" + host
	if a.Port > 0 {
		s += ":" + strconv.Itoa(int(a.Port))
	}
	if a.Transport != "" {
		s += ";transport=" + a.Transport
	}
	return s
}

// EmergencyIn says whether the user is an emergency number in a country, an ISO 3166 code: where an exchange of that country would
// call that number, and no telephone of its own.
func (a Address) EmergencyIn(country string) bool {
	return country != "" && emergencyIn(separators.Replace(a.User), []string{country})
}
