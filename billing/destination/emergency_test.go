package destination_test

import (
	"fmt"
	"strings"
	"testing"

	"parley/billing/destination"
)

// TestEmergency: what people dial for help is refused with words that say so, however a program writes it, and what is
// not for help is refused as what it is.
func TestEmergency(t *testing.T) {
	for s := range strings.FieldsSeq("112 911 999 110 15 17 18 061 062 080 085 088 091 092 000 +112 +911 0034112 0044999 113 118 1-1-2 (911)") {
		refused(t, s, destination.ErrEmergency)
		if _, err := destination.Classify(s); err == nil || err.Error() != destination.EmergencyRefused {
			t.Errorf("%s: %v", s, err)
		}
	}
	for _, s := range []string{"+44 (0) 999", "+49 110", "+1 911", " 112 "} {
		refused(t, s, destination.ErrEmergency)
	}
	for _, s := range []string{"", "+", "0", "1", "1x2", "112#", "112;phone-context=+34", "911234567", "+34016", "+1411", "+999999", "00", strings.Repeat("1", 12), strings.Repeat(" ", 80) + "112"} {
		if destination.Emergency(s) {
			t.Errorf("%q is taken for an emergency number", s)
		}
		refused(t, s, destination.ErrInvalid)
	}
}

// No number that may be called is taken for one of an emergency service.
func TestEmergencyIsNoTelephone(t *testing.T) {
	for _, prefix := range []string{"+3491", "+34112", "+4930", "+49110", "+33112", "+44999", "+44112", "+1911", "+39112", "+43133", "+351112", "+353999"} {
		for n := range 150 {
			for _, width := range []int{4, 6, 7} {
				s := fmt.Sprintf("%s%0*d", prefix, width, n*67%10_000)
				if _, err := destination.Classify(s); err == nil && destination.Emergency(s) {
					t.Errorf("%s is an ordinary number, and taken for one of an emergency service", s)
				}
			}
		}
	}
}
