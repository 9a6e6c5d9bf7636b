package spoken

import "strings"

// German of Germany.
var german = language{
	code: "de", decimal: ',', group: '.',
	cardinal: germanCardinal, gender: germanGender, suffixed: germanSuffixed, dotted: germanDotted, year: germanYear, day: germanDay, date: germanDate, clock: germanClock,
	months: germanMonths,
	point:  "Komma", minus: "minus", plus: "plus", to: "bis", ratio: "zu", numberWord: "Nummer", percent: "Prozent", per: "pro", short: map[string]string{"mio": "Millionen", "mrd": "Milliarden"}, shortOne: map[string]string{"mio": "Million", "mrd": "Milliarde"}, codes: table("code pin plz postleitzahl"),
	plainDecimals: true, dottedTime: true, timeAfter: []string{"uhr"}, hourWords: []string{"Uhr", "h"},
	atSign: "ät", dot: "Punkt", dash: "Bindestrich", underscore: "Unterstrich", slash: "Schrägstrich", colon: "Doppelpunkt",
	moneyAnd: "und", bareCents: true, scales: table("tausend million millionen milliarde milliarden"),
	currencies: money(`EUR Euro Euro Cent Cent
		USD Dollar Dollar Cent Cent
		GBP Pfund Pfund Penny Pence
		JPY Yen Yen - -
		CHF Schweizer_Franken Schweizer_Franken Rappen Rappen
		BRL Real Real Centavo Centavos
		MXN Peso Pesos Centavo Centavos`),
	units: nouns(`km/h Stundenkilometer Stundenkilometer
		km² Quadratkilometer Quadratkilometer
		m² Quadratmeter Quadratmeter
		m³ Kubikmeter Kubikmeter
		km Kilometer Kilometer
		m Meter Meter
		cm Zentimeter Zentimeter
		mm Millimeter Millimeter
		kg Kilogramm Kilogramm
		g Gramm Gramm
		mg Milligramm Milligramm
		l Liter Liter
		ml Milliliter Milliliter
		kW Kilowatt Kilowatt
		kWh Kilowattstunde Kilowattstunden f
		GB Gigabyte Gigabyte
		MB Megabyte Megabyte
		h Stunde Stunden f
		min Minute Minuten f
		s Sekunde Sekunden f
		°C Grad Grad
		°F Grad_Fahrenheit Grad_Fahrenheit
		° Grad Grad`),
	halfMore: [2]string{"einhalb", "einhalb"},
	fractions: pairs(`1/2 einhalb
		1/3 ein Drittel
		2/3 zwei Drittel
		1/4 ein Viertel
		3/4 drei Viertel
		24/7 vierundzwanzig sieben`),
	symbols: signWords(`& und
		@ ät
		% Prozent
		+ plus
		= gleich
		< kleiner als
		> größer als
		× mal
		÷ geteilt durch
		~ etwa
		€ Euro
		$ Dollar
		£ Pfund
		° Grad
		§ Paragraf`),
}

var germanMonths = table("Januar Februar März April Mai Juni Juli August September Oktober November Dezember")

var (
	germanOnes = table("null ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn")
	germanTens = table("- - zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig")
)

// germanCardinal writes all below a million as one word, as the language does.
func germanCardinal(n int64, u use) string {
	if n == 0 {
		return "null"
	}
	large := func(n int64, name, plural string) string {
		switch n {
		case 0:
			return ""
		case 1:
			return "eine " + name
		}
		return germanCardinal(n, feminine) + " " + name + plural
	}
	low := ""
	switch thousands := n / 1000 % 1000; thousands {
	case 0:
	case 1:
		low = "tausend"
	default:
		low = germanBelow(thousands) + "tausend"
	}
	low += germanBelow(n % 1000)
	if n%100 == 1 {
		low += [3]string{"s", "", "e"}[u]
	}
	return join(" ", large(n/1_000_000_000_000, "Billion", "en"), large(n/1_000_000_000%1000, "Milliarde", "n"), large(n/1_000_000%1000, "Million", "en"), low)
}

func germanBelow(n int64) string {
	words := ""
	if h := n / 100; h == 1 {
		words = "hundert"
	} else if h > 1 {
		words = germanOnes[h] + "hundert"
	}
	switch n %= 100; {
	case n == 0:
	case n < 20:
		words += germanOnes[n]
	default:
		if n%10 > 0 {
			words += germanOnes[n%10] + "und"
		}
		words += germanTens[n/10]
	}
	return words
}

var (
	germanMasculine = set("uhr name käse kunde kollege junge ende auge gebäude ergebnis interesse")
	germanFeminine  = set("person nacht stadt frau hand zahl tür bank fahrt karte nummer stunde minute sekunde mio mrd woche frage rechnung option million milliarde art mail e adresse information station schwester tochter mutter")
	germanSmall     = set("und oder in im am an auf bis der die das den dem des ein eine ist sind war waren wird für mit ohne von vom zu zum zur nicht ja nein wenn aber als wie bei aus nach vor seit über unter um es sie er ich wir hat haben auch noch nur sowie")
)

func germanGender(w string) use {
	switch {
	case germanSmall[w]:
		return alone
	case germanMasculine[w]:
		return masculine
	case germanFeminine[w], endsIn(w, "ung", "heit", "keit", "schaft", "ion", "tät", "e", "nacht", "in"):
		return feminine
	}
	return masculine
}

// germanYear reads the hundreds of what may be a year.
func germanYear(n int, _ string) string {
	if n < 1100 || n > 1999 {
		return ""
	}
	words := germanBelow(int64(n/100)) + "hundert"
	if n%100 > 0 {
		words += germanCardinal(int64(n%100), alone)
	}
	return words
}

// germanOrdinal is an ordinal without its ending.
func germanOrdinal(n int) string {
	words := germanCardinal(int64(n), masculine)
	switch low := n % 100; {
	case low == 1:
		return strings.TrimSuffix(words, "ein") + "erst"
	case low == 3:
		return strings.TrimSuffix(words, "drei") + "dritt"
	case low == 7:
		return strings.TrimSuffix(words, "en") + "t"
	case low == 8:
		return words
	case low > 0 && low < 20:
		return words + "t"
	}
	return words + "st"
}

var (
	germanWeak   = set("am vom zum zur beim im dem den des ab seit bis nach ins jeden jedem jeder diesem diesen dieser unserem unseren unserer ihrem ihren meinem meinen")
	germanDative = set("in an auf mit von bei zu seit aus ab vor nach unter")
)

// germanEnding is that of an ordinal after the words before it: "in der" and "der"
// are not alike. Empty: they say nothing.
func germanEnding(before string) string {
	first, last, two := strings.Cut(before, " ")
	if !two {
		last = first
	}
	switch {
	case germanWeak[last], last == "der" && two && germanDative[first]:
		return "en"
	case last == "der", last == "die", last == "das", last == "eine", last == "ihre":
		return "e"
	}
	return ""
}

func germanDotted(n int, before, after string, _ bool) string {
	ending := germanEnding(before)
	if ending == "" || n < 1 || after == "" && !endsIn(before, "am", "vom", "zum") {
		return ""
	}
	return germanOrdinal(n) + ending
}

func germanSuffixed(n int64, suffix string) string {
	switch strings.ToLower(suffix) {
	case "er": // in den 90er Jahren
		if year := germanYear(int(n), ""); year != "" {
			return year + "er"
		}
		return germanCardinal(n, alone) + "er"
	case "te", "ter", "ten", "tes", "ste", "ster", "sten", "stes":
		if n > 0 && n < 1000 {
			return germanOrdinal(int(n)) + suffix[strings.IndexByte(suffix, 't')+1:]
		}
	}
	return ""
}

// germanDay declines the day of the month.
func germanDay(n int, before string, follows bool) string {
	if !follows {
		return ""
	}
	if ending := germanEnding(before); ending != "" {
		return germanOrdinal(n) + ending
	}
	return germanOrdinal(n) + "er"
}

func germanDate(d date, before, _ string) string {
	words := germanDay(d.day, before, true) + " " + germanMonths[d.month-1]
	if d.year == 0 {
		return words
	}
	year := germanYear(d.year, "")
	if year == "" {
		year = germanCardinal(int64(d.year), alone)
	}
	return words + " " + year
}

func germanClock(t moment, _ string) string {
	words := germanCardinal(int64(t.h), masculine) + " Uhr"
	if t.m > 0 {
		words += " " + germanCardinal(int64(t.m), alone)
	}
	return words
}
