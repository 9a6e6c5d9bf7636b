package trunk

import (
	"strings"

	"github.com/nyaruka/phonenumbers"
)

// DialPlan is how a trunk writes telephone numbers, in both directions. The zero DialPlan reads numbers
// with their country code, whether "+", "00" or nothing stands before it, and writes "+" and the country code.
type DialPlan struct {
	// Country is where numbers that come in without a country code are from, an ISO 3166 code: on
	// a line in Germany (DE) 0341 112233 is +49341112233. Empty: all have one.
	Country string
	// Strip is how many characters are taken off the front of called numbers that come in, and Prefix what
	// stands there then, before anything else is made of them: the access code of an exchange.
	Strip  int
	Prefix string

	Form NumberForm // of numbers that go out, called and calling
	// DialStrip and DialPrefix do the same to called numbers that go out, in their form: a carrier's
	// technical prefix.
	DialStrip  int
	DialPrefix string

	// Extensions are called users that are no telephone numbers. The first that matches counts.
	Extensions []Extension
}

// NumberForm is a way to write a telephone number.
type NumberForm string

// The forms, with +49 341 112233 on a line in Germany as the example.
const (
	FormE164          NumberForm = "e164"          // +49341112233
	FormPlain         NumberForm = "plain"         // 49341112233
	FormInternational NumberForm = "international" // 0049341112233; on a line in the US 01149341112233
	FormNational      NumberForm = "national"      // 0341112233; numbers of other countries are international
)

// Forms are all forms, the usual one first.
func Forms() []NumberForm {
	return []NumberForm{FormE164, FormPlain, FormInternational, FormNational}
}

// Extension is called users that stand for something else than a telephone number.
type Extension struct {
	// Match is the user of the called address, in small letters. An x stands for any digit where all else is
	// digits, and a * at the end for any rest.
	Match string
	Agent string // the identifier of who answers
}

// ValidMatch says whether a text can be Extension.Match.
func ValidMatch(s string) bool {
	rest := strings.TrimSuffix(s, "*")
	return s != "" && len(s) <= 64 && strings.Trim(rest, "abcdefghijklmnopqrstuvwxyz0123456789+._-") == ""
}

// matches says whether a called user is one of the extension's.
func (e Extension) matches(user string) bool {
	pattern, open := strings.CutSuffix(e.Match, "*")
	if len(user) < len(pattern) || !open && len(user) > len(pattern) {
		return false
	}
	digits := strings.Trim(pattern, "0123456789x") == ""
	for i := range len(pattern) {
		if c := user[i]; c != pattern[i] && !(digits && pattern[i] == 'x' && '0' <= c && c <= '9') {
			return false
		}
	}
	return true
}

// Extension is who answers a called user that is an extension of the trunk, as the trunk writes it; ok is false for
// one that is none.
func (p *DialPlan) Extension(user string) (agent string, ok bool) {
	user = strings.ToLower(user)
	for _, e := range p.Extensions {
		if e.matches(user) {
			return e.Agent, true
		}
	}
	return "", false
}

// leastDigits are those of the shortest numbers with an area code. Fewer are an extension.
const leastDigits = 6

// Called is the number, in E.164, that a called user of the trunk is. What is no number stays
// as it is.
func (p *DialPlan) Called(user string) string {
	return p.Calling(p.Prefix + user[min(p.Strip, len(user)):])
}

// Calling is the number, in E.164, that a user of the trunk calls from. What is no number of its own, such as an
// extension, stays as it is.
func (p *DialPlan) Calling(user string) string {
	if user == "" || strings.Trim(strings.TrimPrefix(user, "+"), "0123456789") != "" {
		return user
	}
	if p.Country == "" || user[0] == '+' || len(user) < leastDigits {
		return user
	}
	n, err := phonenumbers.Parse(user, p.Country)
	if err != nil || !phonenumbers.IsPossibleNumber(n) {
		return user
	}
	if !phonenumbers.IsValidNumber(n) && !strings.HasPrefix(user, "0") {
		return user // an extension that is as long as the shortest numbers
	}
	return phonenumbers.Format(n, phonenumbers.E164)
}

// Dialled writes a called number as the trunk wants it.
func (p *DialPlan) Dialled(e164 string) string {
	s := p.Shown(e164)
	return p.DialPrefix + s[min(p.DialStrip, len(s)):]
}

// Shown writes a calling number as the trunk wants it. What is not in E.164 stays as it is.
func (p *DialPlan) Shown(e164 string) string {
	if p.Form == "" || p.Form == FormE164 || !strings.HasPrefix(e164, "+") {
		return e164
	}
	if p.Form == FormPlain {
		return e164[1:]
	}
	n, err := phonenumbers.Parse(e164, "ZZ")
	if err != nil {
		return e164
	}
	if p.Form == FormNational && p.Country != "" && n.GetCountryCode() == int32(phonenumbers.GetCountryCodeForRegion(p.Country)) {
		return phonenumbers.NormalizeDigitsOnly(phonenumbers.Format(n, phonenumbers.NATIONAL))
	}
	if m := phonenumbers.GetCountryCodeForRegion(p.Country); m == 1 {
		return "011" + e164[1:] // the access code of the North American plan; others have the 00 of ITU-T E.123
	}
	return "00" + e164[1:]
}
