// Package destination sorts telephone numbers: which may be called, whether they
// are landlines or mobiles, and what a minute costs. What is not certain to be an
// ordinary landline or mobile of one of the countries we serve is refused, for a
// wrong guess is paid for by us or by the customer. It is pure code over the
// numbering plans of the phonenumbers module, which is to be updated monthly; where
// the module is wrong or too kind, the data of overlay.go decides.
package destination

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/nyaruka/phonenumbers"
	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"parley/billing"
)

// Errors of Classify, each in an *Error that says more.
var (
	// ErrInvalid: not a telephone number in international format.
	ErrInvalid = errors.New("not a telephone number")
	// ErrCountry: the country, island or network is none of those we serve.
	ErrCountry = errors.New("country is not served")
	// ErrService: neither an ordinary landline nor a mobile: premium, shared cost, free, personal and so on.
	ErrService = errors.New("number is neither landline nor mobile")
	// ErrMobile: a mobile of a country whose mobiles we do not call.
	ErrMobile = errors.New("mobiles of the country are not called")
	// ErrEmergency: the number of an emergency service, which people are to dial themselves.
	ErrEmergency = errors.New("emergency numbers are not called")
)

// Error is a number that was refused.
type Error struct {
	Err    error  // one of the five above
	Reason string // a sentence for the customer
}

func (e *Error) Error() string { return e.Reason }

func (e *Error) Unwrap() error { return e.Err }

// Class is a number that was accepted.
type Class struct {
	E164   string // the only form to dial, to store and to compare
	Region string // ISO code of its country
	Mobile bool   // never in the US and Canada, whose mobiles look like landlines
}

// Terms are what a call to the number is priced by: RateCard.Tariff finds the
// price, or ErrNoPrice when the card does not sell the destination.
func (c Class) Terms() billing.Terms {
	return billing.Terms{Kind: billing.Outbound, Country: c.Region, Mobile: c.Mobile}
}

// Minute is the card's price of a started minute to the number, or ErrNoPrice.
func (c Class) Minute(card *billing.RateCard) (billing.Money, error) {
	t, err := card.Tariff(c.Terms())
	if err != nil {
		return 0, err
	}
	return t.LineMinute(), nil
}

// country is what we know of one that is served.
type country struct {
	name    string
	mobiles bool // may be called
}

var served = map[string]country{
	"ES": {"Spain", true}, "FR": {"France", true}, "DE": {"Germany", true}, "AT": {"Austria", true},
	"GB": {"the United Kingdom", true}, "IE": {"Ireland", true}, "US": {"the United States", true}, "CA": {"Canada", true},
	"PT": {"Portugal", false}, "IT": {"Italy", false}, "NL": {"the Netherlands", false}, "BE": {"Belgium", false},
	"LU": {"Luxembourg", false}, "CH": {"Switzerland", false},
}

// notServed says which country is not open, and which are. region is its ISO code; that of a network which is
// in no country, as satellites are, is a number.
func notServed(region string) *Error {
	name := "This network"
	if r, err := language.ParseRegion(region); err == nil && r.IsCountry() {
		name = display.English.Regions().Name(r)
	}
	var open []string
	for _, c := range served {
		open = append(open, strings.TrimPrefix(c.name, "the "))
	}
	slices.Sort(open)
	return &Error{ErrCountry, name + " is not open for calls. Open: " + strings.Join(open, ", ") + "."}
}

// international is a number as it must look once the separators people write are
// gone: ITU-T E.164 allows fifteen digits, and none of ours has fewer than seven.
var international = regexp.MustCompile(`^\+[1-9][0-9]{6,14}$`)

var separators = strings.NewReplacer(" ", "", "-", "", ".", "", "(", "", ")", "")

// maxText is more than any number with separators takes.
const maxText = 64

// Classify sorts a number in international format, "+" first. Spaces, hyphens,
// points and parentheses are ignored; anything else, extensions too, is refused.
func Classify(s string) (Class, error) { return classify(s, false) }

// ClassifyFictional does the same and also accepts the numbers that authorities set
// aside for fiction, which reach nobody: for the simulated carrier alone.
func ClassifyFictional(s string) (Class, error) { return classify(s, true) }

// ClassifyLocal wants a landline of one country: a number that may be sold there.
func ClassifyLocal(s, region string) (Class, error) {
	c, err := Classify(s)
	switch {
	case err != nil:
		return Class{}, err
	case c.Region != region:
		return Class{}, &Error{ErrCountry, "This number belongs to another country."}
	case c.Mobile:
		return Class{}, &Error{ErrMobile, "This number is a mobile number."}
	}
	return c, nil
}

// International writes a number in international format as E.164 has it, whether or
// not it may be called: "+" first, spaces, hyphens, points and parentheses ignored.
func International(s string) (e164 string, err error) {
	_, e164, err = parse(s)
	return e164, err
}

func parse(s string) (*phonenumbers.PhoneNumber, string, error) {
	if len(s) > maxText {
		return nil, "", errInvalid
	}
	s = separators.Replace(s)
	if !international.MatchString(s) {
		return nil, "", errInvalid
	}
	n, err := phonenumbers.Parse(s, "ZZ")
	if err != nil {
		return nil, "", errInvalid
	}
	// A number may have been written with its national 0; the rules see what will be dialled.
	e164 := phonenumbers.Format(n, phonenumbers.E164)
	if !international.MatchString(e164) {
		return nil, "", errInvalid
	}
	return n, e164, nil
}

func classify(s string, fictional bool) (Class, error) {
	n, e164, err := parse(s)
	if err != nil {
		return Class{}, unusable(s)
	}
	if fictional {
		if c, ok := fiction(e164); ok {
			return c, nil
		}
	}
	if !phonenumbers.IsValidNumber(n) {
		return Class{}, unusable(s)
	}
	if why := denied(e164); why != "" {
		return Class{}, &Error{ErrService, "This number cannot be called: " + why + "."}
	}
	region := phonenumbers.GetRegionCodeForNumber(n)
	c, ok := served[region]
	if !ok {
		return Class{}, notServed(region)
	}
	mobile, ok := kind(phonenumbers.GetNumberType(n), region)
	switch {
	case !ok:
		return Class{}, &Error{ErrService, "Only ordinary landlines and mobiles can be called; this is a special number."}
	case mobile && !c.mobiles:
		return Class{}, &Error{ErrMobile, "Mobiles in " + c.name + " cannot be called."}
	}
	return Class{E164: e164, Region: region, Mobile: mobile}, nil
}

var errInvalid = &Error{ErrInvalid, "This is not a telephone number in international format, such as +34911234567."}

// unusable says why what is no number of a telephone is not called.
func unusable(s string) *Error {
	if Emergency(s) {
		return emergencyNumber
	}
	return errInvalid
}

// kind says whether a type of number is a mobile, and whether it is called at all.
func kind(t phonenumbers.PhoneNumberType, region string) (mobile, ok bool) {
	switch t {
	case phonenumbers.FIXED_LINE:
		return false, true
	case phonenumbers.MOBILE:
		return region != "US" && region != "CA", true
	case phonenumbers.FIXED_LINE_OR_MOBILE: // the dearer of the two, where there are two
		return region != "US" && region != "CA", true
	case phonenumbers.VOIP: // 09 numbers are ordinary landlines in France, and elsewhere they are not
		return false, region == "FR"
	}
	return false, false
}
