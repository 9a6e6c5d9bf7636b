package spoken

import "strings"

// English, as the voice speaks it: American.
var english = language{
	code: "en", decimal: '.', group: ',', traits: monthFirst | halfDays | plainDecimals,
	rules: numbers(`0 zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen;
		20+10 twenty thirty forty fifty sixty seventy eighty ninety [->]; 100 <_hundred[_>]; 1000 <_thousand[_>]; 1e6 <_million[_>]; 1e9 <_billion[_>]; 1e12 <_trillion[_>]`),
	ordinals:   ordinals{endings: changes("one first, two second, three third, five fifth, eight eighth, nine ninth, twelve twelfth, y ieth, - th")},
	withSuffix: (*language).englishSuffixed, year: (*language).englishYear, day: (*language).englishDay, date: (*language).englishDate, clock: (*language).englishClock,
	months: table("January February March April May June July August September October November December"),
	point:  "point", minus: "minus", plus: "plus", to: "to", numberWord: "number", percent: "percent", per: "per", short: englishShort, codes: table("code pin passcode zip"),
	dialled: []string{"call", "dial", "phone", "text"}, hourWords: []string{"o'clock", "o’clock", "hrs"},
	signs: pairs("@ at, . dot, - dash, _ underscore, / slash, : colon"), saidDomains: []string{"me"},
	moneyAnd: "and", scales: table("hundred thousand million billion trillion"),
	currencies: money(`EUR euro euros cent cents, USD dollar dollars cent cents, GBP pound pounds penny pence, JPY yen yen - -, CHF Swiss_franc Swiss_francs centime centimes,
		BRL real reais centavo centavos, MXN peso pesos centavo centavos`),
	units: nouns(`km/h kilometer_per_hour kilometers_per_hour, km² square_kilometer, m² square_meter, m³ cubic_meter, km kilometer, m meter, cm centimeter,
		mm millimeter, kg kilogram, g gram, mg milligram, l liter, ml milliliter, kW kilowatt, kWh kilowatt_hour, GB gigabyte, MB megabyte, h hour, hr hour,
		hrs hour, min minute, mins minute, sec second, s second, mph mile_per_hour miles_per_hour, ft foot feet, lb pound, lbs pound, oz ounce,
		MB/s megabyte_per_second megabytes_per_second, ¢ cent, °C degree_Celsius degrees_Celsius, °F degree_Fahrenheit degrees_Fahrenheit, ° degree`),
	halfMore:  [2]string{" and a half", " and a half"},
	fractions: pairs("1/2 one half, 1/3 one third, 2/3 two thirds, 1/4 one quarter, 3/4 three quarters, 24/7 twenty-four seven"),
	symbols:   pairs("& and, = equals, < less than, > greater than, × times, ÷ divided by, ~ about, § section"),
}

var englishShort = map[string]string{"jan": "January", "feb": "February", "mar": "March", "apr": "April", "jun": "June", "jul": "July",
	"aug": "August", "sep": "September", "sept": "September", "oct": "October", "nov": "November", "dec": "December"}

func (l *language) englishSuffixed(n int64, suffix string) string {
	switch suffix {
	case "st", "nd", "rd", "th":
		return l.ordinal(n)
	case "s": // the 1990s, the 80s
		words := l.yearWords(int(n))
		if stem, ok := strings.CutSuffix(words, "y"); ok {
			return stem + "ies"
		}
		if strings.HasSuffix(words, "x") {
			words += "e"
		}
		return words + "s"
	case "k":
		return l.cardinal(n, alone) + " thousand"
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

func (l *language) englishDay(n int, before string, follows bool) string {
	words := l.ordinal(int64(n))
	if follows {
		words += " of"
	}
	if follows && before != "the" && !strings.HasSuffix(before, " the") {
		words = "the " + words
	}
	return words
}

func (l *language) englishDate(d date, _, _ string) string {
	words := l.months[d.month-1] + " " + l.ordinal(int64(d.day))
	if d.year > 0 {
		words += ", " + l.yearWords(d.year)
	}
	return words
}

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
