package spoken

import (
	"slices"
	"strings"
)

// English, as the voice speaks it: American.
var english = language{
	code: "en", decimal: '.', group: ',',
	cardinal: englishCardinal, suffixed: englishSuffixed, year: englishYear, day: englishDay, date: englishDate, clock: englishClock,
	months: englishMonths,
	point:  "point", minus: "minus", plus: "plus", to: "to", numberWord: "number", percent: "percent", per: "per", short: englishShort, codes: table("code pin passcode zip"),
	plainDecimals: true, dialled: []string{"call", "dial", "phone", "text"}, monthFirst: true, halves: table("a_m p_m"), hourWords: []string{"o'clock", "o’clock", "hrs"},
	atSign: "at", dot: "dot", dash: "dash", underscore: "underscore", slash: "slash", colon: "colon", saidDomains: []string{"me"},
	moneyAnd: "and", scales: table("hundred thousand million billion trillion"),
	currencies: money(`EUR euro euros cent cents
		USD dollar dollars cent cents
		GBP pound pounds penny pence
		JPY yen yen - -
		CHF Swiss_franc Swiss_francs centime centimes
		BRL real reais centavo centavos
		MXN peso pesos centavo centavos`),
	units: nouns(`km/h kilometer_per_hour kilometers_per_hour
		km² square_kilometer square_kilometers
		m² square_meter square_meters
		m³ cubic_meter cubic_meters
		km kilometer kilometers
		m meter meters
		cm centimeter centimeters
		mm millimeter millimeters
		kg kilogram kilograms
		g gram grams
		mg milligram milligrams
		l liter liters
		ml milliliter milliliters
		kW kilowatt kilowatts
		kWh kilowatt_hour kilowatt_hours
		GB gigabyte gigabytes
		MB megabyte megabytes
		h hour hours
		hr hour hours
		hrs hour hours
		min minute minutes
		mins minute minutes
		sec second seconds
		s second seconds
		mph mile_per_hour miles_per_hour
		ft foot feet
		lb pound pounds
		lbs pound pounds
		oz ounce ounces
		MB/s megabyte_per_second megabytes_per_second
		¢ cent cents
		°C degree_Celsius degrees_Celsius
		°F degree_Fahrenheit degrees_Fahrenheit
		° degree degrees`),
	halfMore: [2]string{" and a half", " and a half"},
	fractions: pairs(`1/2 one half
		1/3 one third
		2/3 two thirds
		1/4 one quarter
		3/4 three quarters
		24/7 twenty-four seven`),
	symbols: signWords(`& and
		@ at
		% percent
		+ plus
		= equals
		< less than
		> greater than
		× times
		÷ divided by
		~ about
		€ euros
		$ dollars
		£ pounds
		° degrees
		§ section`),
}

var englishMonths = table("January February March April May June July August September October November December")

var englishShort = map[string]string{"jan": "January", "feb": "February", "mar": "March", "apr": "April", "jun": "June", "jul": "July",
	"aug": "August", "sep": "September", "sept": "September", "oct": "October", "nov": "November", "dec": "December"}

var (
	englishOnes = table("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen")
	englishTens = table("- - twenty thirty forty fifty sixty seventy eighty ninety")
)

func englishCardinal(n int64, _ use) string {
	for _, p := range []struct {
		value int64
		name  string
	}{{1_000_000_000_000, "trillion"}, {1_000_000_000, "billion"}, {1_000_000, "million"}, {1000, "thousand"}, {100, "hundred"}} {
		if n < p.value {
			continue
		}
		words := englishCardinal(n/p.value, alone) + " " + p.name
		if n%p.value > 0 {
			words += " " + englishCardinal(n%p.value, alone)
		}
		return words
	}
	switch {
	case n < 20:
		return englishOnes[n]
	case n%10 == 0:
		return englishTens[n/10]
	}
	return englishTens[n/10] + "-" + englishOnes[n%10]
}

var englishOrdinals = map[string]string{"one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth", "nine": "ninth", "twelve": "twelfth"}

func englishOrdinal(n int64) string {
	words := englishCardinal(n, alone)
	cut := strings.LastIndexAny(words, " -") + 1
	last := words[cut:]
	switch {
	case englishOrdinals[last] != "":
		last = englishOrdinals[last]
	case strings.HasSuffix(last, "y"):
		last = strings.TrimSuffix(last, "y") + "ieth"
	default:
		last += "th"
	}
	return words[:cut] + last
}

func englishSuffixed(n int64, suffix string) string {
	switch strings.ToLower(suffix) {
	case "st", "nd", "rd", "th":
		return englishOrdinal(n)
	case "s": // the 1990s, the 80s
		words := englishYear(int(n), "")
		if n < 100 {
			words = englishCardinal(n, alone)
		}
		switch {
		case words == "":
			return englishCardinal(n, alone) + "s"
		case strings.HasSuffix(words, "y"):
			return strings.TrimSuffix(words, "y") + "ies"
		case strings.HasSuffix(words, "x"):
			return words + "es"
		}
		return words + "s"
	case "k":
		return englishCardinal(n, alone) + " thousand"
	}
	return ""
}

// englishYear reads hundreds: nineteen ninety-nine. What counts something stays a
// number.
func englishYear(n int, after string) string {
	if n < 1100 || n > 2099 || n >= 2000 && n < 2010 {
		return ""
	}
	if strings.HasSuffix(after, "s") && !slices.Contains([]string{"is", "was", "has", "as", "this", "its", "always", "ours", "yours", "plus", "sales", "elections"}, after) || after == "people" {
		return ""
	}
	high, low := englishCardinal(int64(n/100), alone), int64(n%100)
	switch {
	case low == 0:
		return high + " hundred"
	case low < 10:
		return high + " oh " + englishOnes[low]
	}
	return high + " " + englishCardinal(low, alone)
}

func englishDay(n int, before string, follows bool) string {
	switch {
	case !follows:
		return englishOrdinal(int64(n))
	case before == "the", strings.HasSuffix(before, " the"):
		return englishOrdinal(int64(n)) + " of"
	}
	return "the " + englishOrdinal(int64(n)) + " of"
}

func englishDate(d date, _, _ string) string {
	words := englishMonths[d.month-1] + " " + englishOrdinal(int64(d.day))
	if d.year == 0 {
		return words
	}
	year := englishYear(d.year, "")
	if year == "" {
		year = englishCardinal(int64(d.year), alone)
	}
	return words + ", " + year
}

func englishClock(t moment, _ string) string {
	if t.m == 0 && t.half == "" && t.h%24 == 0 {
		return "midnight"
	}
	half := t.half
	if half == "" && (t.h > 12 || t.h == 0) {
		half = "am"
		if t.h > 12 && t.h < 24 {
			half = "pm"
		}
	}
	h := t.h % 12
	if h == 0 {
		h = 12
	}
	words := englishOnes[h]
	switch {
	case t.m == 0 && half == "":
		words += " o'clock"
	case t.m > 0 && t.m < 10:
		words += " oh " + englishOnes[t.m]
	case t.m > 0:
		words += " " + englishCardinal(int64(t.m), alone)
	}
	switch half {
	case "am":
		words += " A M"
	case "pm":
		words += " P M"
	}
	return words
}
