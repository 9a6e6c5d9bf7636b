package trunk

import (
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/nyaruka/phonenumbers"

	"parley/sip/dialog"
)

// Mistake is what is wrong with the settings of a trunk.
type Mistake struct {
	Key  string // of the setting, as the file and the API call it; empty: several do not fit each other
	Text string // says what is wrong, and what is allowed
}

func (m *Mistake) Error() string { return m.Key + " " + m.Text }

// Check says what is wrong with settings that are allowed one by one; nil: nothing.
func (c *Config) Check() *Mistake {
	p := &c.Plan
	switch {
	case len(c.Targets) == 0 && len(c.Allow) == 0 && !c.Has(WebSocket):
		return &Mistake{"", "carries no calls; allowed: a trunk with targets, with allow, with both, or with websocket"}
	case half(c.Auth):
		return &Mistake{"", "has half of its credentials; allowed: username and password, or neither"}
	case half(c.Inbound):
		return &Mistake{"", "has half of its inbound credentials; allowed: inbound_username and inbound_password, or neither"}
	case c.Has(WebSocket) && c.Inbound.Username == "":
		return &Mistake{"websocket", "it needs inbound_username and inbound_password, by which browsers say whose they are"}
	case c.Inbound.Username == "" && slices.ContainsFunc(c.Allow, TooWide):
		return &Mistake{"allow", "lets half the world call; allowed: networks of /8 and narrower (IPv6: /16), or inbound_username"}
	case c.Has(Register) && (len(c.Targets) == 0 || c.Auth.Username == ""):
		return &Mistake{"register", "it needs targets, username and password"}
	case c.Proxy.Host != "" && len(c.Targets) == 0:
		return &Mistake{"outbound_proxy", "it needs targets, which it leads to"}
	case p.Country != "" && phonenumbers.GetCountryCodeForRegion(p.Country) == 0:
		return &Mistake{"country", `"` + p.Country + `" is not allowed; allowed: the ISO 3166 code of a country, such as DE`}
	case p.Country == "" && p.Form == FormNational:
		return &Mistake{"number_form", "national numbers need country"}
	case p.Country == "" && len(p.Extensions) > 0 && c.Account == "":
		return &Mistake{"extensions", "need country, by which their calls are priced"}
	}
	return nil
}

var hostName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$`)

// ValidHost says whether a text is a host's name or address, without a zone.
func ValidHost(s string) bool {
	if a, err := netip.ParseAddr(strings.Trim(s, "[]")); err == nil {
		return a.Zone() == ""
	}
	return len(s) <= 253 && hostName.MatchString(s)
}

// ValidLine says whether a text can stand in a header: one line, of 1 to 256 bytes.
func ValidLine(s string) bool {
	return s != "" && len(s) <= 256 && !strings.ContainsFunc(s, unicode.IsControl)
}

// half says whether a user or a password is missing beside the other.
func half(c dialog.Credentials) bool { return (c.Username == "") != (c.Password == "") }

// TooWide says whether a network is more than any carrier has.
func TooWide(p netip.Prefix) bool { return p.Bits() < 8 || p.Addr().Is6() && p.Bits() < 16 }
