package destination

// pattern is the beginning of E.164 numbers; a ? is any digit.
type pattern string

func (p pattern) matches(e164 string) bool {
	if len(e164) < len(p) {
		return false
	}
	for i := range len(p) {
		if p[i] != '?' && p[i] != e164[i] {
			return false
		}
	}
	return true
}

// deny lists what the numbering plans take for ordinary numbers and we do not
// call, with the reason as the customer reads it.
var deny = []struct {
	pattern pattern
	reason  string
}{
	{"+447924", "it belongs to the Isle of Man"}, // a British mobile to the plans
	{"+1???5551212", "it is directory assistance"},
	{"+1???976", "it is a premium-rate number"},  // pay per call in any area code
	{"+1712", "its carriers demand a surcharge"}, // north-west Iowa: free conferences at the caller's expense
}

// denied gives the reason why a number is not called, or nothing.
func denied(e164 string) string {
	for _, d := range deny {
		if d.pattern.matches(e164) {
			return d.reason
		}
	}
	return ""
}

// fictional lists numbers set aside for films and books that the numbering plans
// take for unassigned. Others, such as +44 20 7946 0xxx, are valid as they are.
var fictional = []struct {
	pattern pattern
	region  string
	mobile  bool
}{
	{"+447700900???", "GB", true}, // Ofcom
	{"+441632960???", "GB", false},
	{"+441154960???", "GB", false},
	{"+3363998????", "FR", true}, // ARCEP
}

func fiction(e164 string) (Class, bool) {
	for _, f := range fictional {
		if len(e164) == len(f.pattern) && f.pattern.matches(e164) {
			return Class{E164: e164, Region: f.region, Mobile: f.mobile}, true
		}
	}
	return Class{}, false
}
