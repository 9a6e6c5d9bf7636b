package spoken

import "strings"

// Basque counts in twenties and writes case endings to digits.
var basque = language{
	code: "eu", decimal: ',', group: '.',
	cardinal: basqueCardinal, suffixed: basqueSuffixed, dotted: basqueDotted, date: basqueDate, clock: basqueClock,
	months: basqueMonths,
	point:  "koma", minus: "minus", plus: "plus", ratio: ",", numberWord: "zenbakia", percent: "ehuneko", percentFirst: true,
	oneBehind: true, hourWords: []string{"h.", "h"}, hourLetter: true, nine: "6789",
	atSign: "a bildua", dot: "puntu", dash: "marratxo", underscore: "azpimarra", slash: "barra", colon: "bi puntu", saidDomains: []string{"es"},
	moneyAnd: "eta", scales: table("mila milioi bilioi"),
	currencies: money(`EUR euro euro zentimo zentimo
		USD dolar dolar zentabo zentabo
		GBP libera libera penike penike
		JPY yen yen - -
		CHF libera_suitzar libera_suitzar zentimo zentimo
		BRL real real zentabo zentabo
		MXN peso peso zentabo zentabo`),
	units: nouns(`km/h kilometro_orduko kilometro_orduko
		km² kilometro_koadro kilometro_koadro
		m² metro_koadro metro_koadro
		m³ metro_kubiko metro_kubiko
		km kilometro kilometro
		m metro metro
		cm zentimetro zentimetro
		mm milimetro milimetro
		kg kilo kilo
		g gramo gramo
		mg miligramo miligramo
		l litro litro
		ml mililitro mililitro
		kW kilowatt kilowatt
		kWh kilowatt-ordu kilowatt-ordu
		GB giga giga
		MB mega mega
		h ordu ordu
		min minutu minutu
		s segundo segundo
		°C gradu gradu
		°F Fahrenheit_gradu Fahrenheit_gradu
		° gradu gradu`),
	halfOf: "erdi", halfMore: [2]string{" eta erdi", " eta erdi"}, nounFirst: true,
	fractions: pairs(`1/2 erdi bat
		1/3 heren bat
		2/3 bi heren
		1/4 laurden bat
		3/4 hiru laurden
		24/7 hogeita lau zazpi`),
	symbols: signWords(`& eta
		@ a bildua
		% ehuneko
		+ gehi
		= berdin
		< txikiagoa
		> handiagoa
		× bider
		÷ zati
		~ inguru
		€ euro
		$ dolar
		£ libera
		° gradu
		§ atala`),
}

var basqueMonths = table("urtarrila otsaila martxoa apirila maiatza ekaina uztaila abuztua iraila urria azaroa abendua")

var (
	basqueOnes     = table("zero bat bi hiru lau bost sei zazpi zortzi bederatzi hamar hamaika hamabi hamahiru hamalau hamabost hamasei hamazazpi hemezortzi hemeretzi")
	basqueTwenties = table("- hogei berrogei hirurogei laurogei")
	basqueHundreds = table("- ehun berrehun hirurehun laurehun bostehun seiehun zazpiehun zortziehun bederatziehun")
)

func basqueCardinal(n int64, _ use) string {
	if n == 0 {
		return "zero"
	}
	billions, millions, thousands, rest := parts(n)
	large := func(n int64, name string) string {
		switch n {
		case 0:
			return ""
		case 1:
			return name + " bat"
		}
		return basqueCardinal(n, alone) + " " + name
	}
	words := join(" ", large(billions, "bilioi"), large(millions, "milioi"))
	thousand := ""
	switch thousands {
	case 0:
	case 1:
		thousand = "mila"
	default:
		thousand = basqueBelow(thousands) + " mila"
	}
	if words != "" && thousand != "" && rest == 0 {
		words += " eta"
	}
	words = join(" ", words, thousand)
	if words != "" && rest > 0 && (rest < 100 || rest%100 == 0) {
		words += " eta"
	}
	return join(" ", words, basqueBelow(rest))
}

func basqueBelow(n int64) string {
	hundreds := ""
	if h := n / 100; h > 0 {
		hundreds = basqueHundreds[h]
	}
	n %= 100
	tens := ""
	switch {
	case n == 0:
	case n < 20:
		tens = basqueOnes[n]
	default:
		tens = basqueTwenties[n/20]
		if n%20 > 0 {
			tens += "ta " + basqueOnes[n%20]
		}
	}
	return join(" eta ", hundreds, tens)
}

// basqueSuffixed reads case endings: 2026ko, 3an, 5etan.
func basqueSuffixed(n int64, suffix string) string {
	if !endings[strings.ToLower(suffix)] {
		return ""
	}
	return attach(basqueCardinal(n, alone), strings.ToLower(suffix))
}

// endings are those of cases that are written to digits.
var endings = set("a an ak ako aren ari at ko eko n ean ek ekin eki etan etako etara etarako etatik etik en era eraino erako era go koa koak ra raino rako rik rekin tan tako tara tik z ez ezkero")

func basqueOrdinal(n int) string {
	switch {
	case n == 1:
		return "lehen"
	case n < 1:
		return ""
	}
	words := basqueCardinal(int64(n), alone)
	if strings.HasSuffix(words, "bost") {
		words = strings.TrimSuffix(words, "t")
	}
	return words + "garren"
}

func basqueDotted(n int, _, _ string, lower bool) string {
	if !lower {
		return ""
	}
	return basqueOrdinal(n)
}

// attach writes a case ending to a Basque word.
func attach(word, suffix string) string {
	if suffix == "" {
		return word
	}
	first := suffix[0]
	switch {
	case suffix == "ko" && strings.HasSuffix(word, "ko"):
		return word
	case first != 'a' && first != 'e':
		return word + suffix
	case strings.HasSuffix(word, "hamar"):
		return word + "r" + suffix
	case strings.HasSuffix(word, "hamaika"):
		return strings.TrimSuffix(word, "a") + suffix
	case first == 'a' && strings.HasSuffix(word, "a"):
		return word + suffix[1:]
	case strings.HasPrefix(suffix, "eta") && (strings.HasSuffix(word, "hiru") || strings.HasSuffix(word, "lau")):
		return word + "r" + suffix
	}
	return word + suffix
}

func basqueDate(d date, _, suffix string) string {
	if suffix == "" {
		suffix = "a"
	}
	words := basqueMonths[d.month-1] + "ren " + attach(basqueCardinal(int64(d.day), alone), suffix)
	if d.year == 0 {
		return words
	}
	year := basqueCardinal(int64(d.year), alone)
	of := "ko"
	if !vowel(year[len(year)-1:]) {
		of = "eko"
	}
	return attach(year, of) + " " + words
}

// basqueClock says "half past" and "quarter past" with the ending of the time.
func basqueClock(t moment, before string) string {
	hour := basqueCardinal(int64(t.h), alone)
	if t.h <= 2 && t.h > 0 && before != "ordu" {
		hour = "ordu " + hour
	}
	suffix := t.suffix
	switch {
	case suffix == "":
		suffix = "ak"
	case suffix == "ean" && (t.h != 1 || t.m > 0), suffix == "an", suffix == "tan":
		suffix = "etan"
	}
	switch t.m {
	case 0:
		switch {
		case t.h == 1 && strings.HasPrefix(suffix, "eta"):
			suffix = "ean"
		case t.h == 1 && suffix == "ak":
			suffix = "a"
		case suffix == "ak" && (strings.HasSuffix(hour, "hiru") || strings.HasSuffix(hour, "lau")):
			hour += "r"
		}
		return attach(hour, suffix)
	case 15:
		return hour + " eta laurden" + suffix
	case 30:
		return hour + " eta erdi" + suffix
	}
	minutes := basqueCardinal(int64(t.m), alone)
	if t.suffix == "" {
		return hour + " eta " + minutes
	}
	return hour + " eta " + attach(minutes, t.suffix)
}
