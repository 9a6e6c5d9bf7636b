package destination

import (
	"slices"
	"strings"

	"github.com/nyaruka/phonenumbers"
)

// EmergencyRefused is what people read who try to have an emergency number called.
const EmergencyRefused = "Parley does not place emergency calls. In an emergency, dial the number from a phone."

var emergencyNumber = &Error{ErrEmergency, EmergencyRefused}

// maxEmergency bounds the digits of an emergency number with its country code and what people write before it.
const maxEmergency = 11

// services are emergency numbers which the numbering plans of the phonenumbers module do not list as such: those of
// single services, beside the one number for all.
var services = map[string][]string{
	"ES": {"061", "062", "080", "085", "088", "091", "092"},
	"FR": {"114", "115", "119", "191", "196", "197"},
	"AT": {"122", "133", "140", "141", "144"},
	"CH": {"117", "118", "144", "1414"},
	"IT": {"112", "113", "115", "117", "118", "1530"},
	"PT": {"117"},
	"BE": {"100", "101"},
	"DE": {"110"},
	"GB": {"999"},
	"IE": {"999"},
}

// Emergency says whether a number is that of an emergency service in any country, and not one of an ordinary telephone:
// as people dial it there (112), or behind the country's code, with a 0 or without (+49 110, +44 0 999, 0034 091).
// Separators are ignored, as Classify ignores them.
func Emergency(s string) bool {
	if len(s) > maxText {
		return false
	}
	digits, plus := strings.CutPrefix(separators.Replace(s), "+")
	if digits == "" || len(digits) > maxEmergency || strings.Trim(digits, "0123456789") != "" {
		return false
	}
	const shortest = 3 // digits, before which a program may have put a +
	if (!plus || len(digits) <= shortest) && emergencyIn(digits, allRegions) {
		return true
	}
	if rest, ok := strings.CutPrefix(digits, "00"); ok && !plus {
		digits, plus = rest, true
	}
	if !plus {
		return false
	}
	for n := 1; n <= 3 && n < len(digits); n++ { // digits of a country code
		regions := phonenumbers.GetRegionCodesForCountryCode(number(digits[:n]))
		if len(regions) == 0 {
			continue
		}
		national := digits[n:]
		return emergencyIn(national, regions) || emergencyIn(strings.TrimPrefix(national, "0"), regions)
	}
	return false
}

// allRegions are those of which the module knows the numbering plan.
var allRegions = func() (all []string) {
	for region := range phonenumbers.GetSupportedRegions() {
		all = append(all, region)
	}
	slices.Sort(all)
	return all
}()

func emergencyIn(digits string, regions []string) bool {
	return slices.ContainsFunc(regions, func(region string) bool {
		return slices.Contains(services[region], digits) || phonenumbers.IsEmergencyNumber(digits, region)
	})
}

// number is the value of at most three digits.
func number(digits string) (n int) {
	for _, d := range digits {
		n = 10*n + int(d-'0')
	}
	return n
}
