package spoken

import "strings"

// English, as the voice speaks it: American.
var english = language{
	code: "en", decimal: '.', group: ',', traits: monthFirst | halfDays | plainDecimals,
	rules: numbers(`0 zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen;
		20+10 twenty thirty forty fifty sixty seventy eighty ninety [->]; 100 <_hundred[_>]; 1000 <_thousand[_>]; 1e6 <_million[_>]; 1e9 <_billion[_>]; 1e12 <_trillion[_>]`),
	ordinals:   ordinals{endings: changes("one first, two second, three third, five fifth, eight eighth, nine ninth, twelve twelfth, y ieth, - th")},
	withSuffix: (*language).englishSuffixed, year: (*language).englishYear, clock: (*language).englishClock,
	months: table("January February March April May June July August September October November December"),
	point:  "point", minus: "minus", to: "to", numberWord: "number", per: "per", codes: table("code pin passcode zip call dial"),
	hourWords: []string{"o'clock", "o’clock", "hrs"},
	signs: pairs(`@ at, . dot, - dash, _ underscore, / slash, : colon,
		& and, = equals, < less than, > greater than, × times, ÷ divided by, ~ about, § section, ° degrees, + plus`), saidDomains: []string{"me"},
	moneyAnd: "and", scales: table("hundred thousand million billion trillion"),
	units: units(`% percent =, € euro euros cent cents, $ dollar dollars cent cents, £ pound pounds penny pence, CHF Swiss_franc Swiss_francs centime centimes,
		BRL real reais centavo centavos, ¥ yen =, MXN peso pesos centavo centavos, km/h kilometer_per_hour kilometers_per_hour, km kilometer, m² square_meter, m meter,
		cm centimeter, mm millimeter, kg kilogram, g gram, mg milligram, l liter, ml milliliter, GB gigabyte, MB megabyte, h hour, min minute,
		hr hour, hrs hour, mins minute, mph mile_per_hour miles_per_hour, ft foot feet, lb pound, lbs pound, oz ounce, ¢ cent,
		°C degree_Celsius degrees_Celsius, °F degree_Fahrenheit degrees_Fahrenheit,
		km² square_kilometer, m³ cubic_meter, kW kilowatt, kWh kilowatt_hour`),
	fractions: pairs("1/2 one half, 1/3 one third, 2/3 two thirds, 1/4 one quarter, 3/4 three quarters, 24/7 twenty-four seven"),
}

func (l *language) englishSuffixed(n int64, suffix string) string {
	switch suffix {
	case "st", "nd", "rd", "th":
		return l.ordinal(n)
	case "k":
		return l.cardinal(n, alone) + " thousand"
	case "s": // the 1990s, the 80s
		words := l.yearWords(int(n))
		if stem, ok := strings.CutSuffix(words, "y"); ok {
			return stem + "ies"
		}
		return words + "s"
	}
	return ""
}

// englishYear reads hundreds: nineteen ninety-nine. What counts something stays a
// number.
func (l *language) englishYear(n int, after string) string {
	if n < 1100 || n > 2099 || n >= 2000 && n < 2010 || after == "people" || strings.HasSuffix(after, "s") && !notCounted[after] {
		return ""
	}
	words := l.cardinal(int64(n/100), alone)
	if n%100 == 0 {
		return words + " hundred"
	}
	return words + l.afterHour(n%100)
}

// afterHour are the last two digits of a year, or the minutes.
func (l *language) afterHour(n int) string {
	if n < 10 {
		return " oh " + l.cardinal(int64(n), alone)
	}
	return " " + l.cardinal(int64(n), alone)
}

// notCounted end in s though they are no plurals.
var notCounted = set("is was has as this its always ours yours plus sales elections")

func (l *language) englishClock(t moment, _ string) string {
	if t.m == 0 && t.half == "" && t.h%24 == 0 {
		return "midnight"
	}
	if t.half == "" && (t.h > 12 || t.h == 0) {
		t.half = "am"
		if t.h > 12 && t.h < 24 {
			t.half = "pm"
		}
	}
	words := l.cardinal(int64((t.h+11)%12+1), alone)
	switch {
	case t.m == 0 && t.half == "":
		words += " o'clock"
	case t.m > 0:
		words += l.afterHour(t.m)
	}
	return words + map[string]string{"am": " A M", "pm": " P M"}[t.half]
}
