package spoken

import (
	"cmp"
	"strings"
)

// Basque counts in twenties and writes case endings to digits.
var basque = language{
	code: "eu", decimal: ',', group: '.', traits: hourLetter | caseEndings,
	rules: numbers(`0 zero bat bi hiru lau bost sei zazpi zortzi bederatzi hamar hamaika hamabi hamahiru hamalau hamabost hamasei hamazazpi hemezortzi hemeretzi;
		20+20 hogei berrogei hirurogei laurogei [ta_>]; 100+100 ehun berrehun hirurehun laurehun bostehun seiehun zazpiehun zortziehun bederatziehun [_eta_>];
		1000 mila[&_>]; 2000/1000 <_mila[&_>]; 1e6 milioi_bat[&_>]; 2e6/1e6 <_milioi[&_>]; 1e12 bilioi_bat[&_>]; 2e12/1e12 <_bilioi[&_>]`),
	and:        "eta",
	ordinals:   ordinals{first: []string{"lehen"}, endings: changes("bost bosgarren, - garren")},
	withSuffix: (*language).basqueSuffixed, dotted: (*language).basqueDotted, date: (*language).basqueDate, clock: (*language).basqueClock,
	months: table("urtarrila otsaila martxoa apirila maiatza ekaina uztaila abuztua iraila urria azaroa abendua"),
	point:  "koma", minus: "minus", ratio: ",", numberWord: "zenbakia",
	hourWords: []string{"h.", "h"},
	signs: pairs(`@ a bildua, . puntu, - marratxo, _ azpimarra, / barra, : bi puntu,
		& eta, = berdin, < txikiagoa, > handiagoa, × bider, ÷ zati, ~ inguru, § atala, ° gradu, + plus`), saidDomains: []string{"es"},
	moneyAnd: "eta", scales: table("mila milioi bilioi"),
	units: units(`% ehuneko =, € euro euro zentimo zentimo, $ dolar dolar zentabo zentabo, £ libera libera penike penike,
		CHF libera_suitzar libera_suitzar zentimo zentimo, BRL real real zentabo zentabo, ¥ yen =, MXN peso peso zentabo zentabo, km/h kilometro_orduko =,
		km kilometro =, m² metro_koadro =, m metro =, cm zentimetro =, mm milimetro =, kg kilo =, g gramo =, mg miligramo =, l litro =, ml mililitro =,
		GB giga =, MB mega =, h ordu =, min minutu =, °C gradu =,
		km² kilometro_koadro =, m³ metro_kubiko =, kW kilowatt =, kWh kilowatt-ordu =`),
	fractions: pairs("1/2 erdi bat, 1/3 heren bat, 2/3 bi heren, 1/4 laurden bat, 3/4 hiru laurden, 24/7 hogeita lau zazpi"),
}

// endings are those of cases that are written to digits.
var endings = set("a an ak ako aren ari at ko eko n ean ek ekin eki etan etako etara etarako etatik etik en era eraino erako era go koa koak ra raino rako rik rekin tan tako tara tik z ez ezkero")

// basqueSuffixed reads case endings: 2026ko, 3an, 5etan.
func (l *language) basqueSuffixed(n int64, suffix string) string {
	if !endings[suffix] {
		return ""
	}
	return attach(l.cardinal(n, alone), suffix)
}

func (l *language) basqueDotted(n int, _, _ string, lower bool) string {
	if !lower {
		return ""
	}
	return l.ordinal(int64(n))
}

// attach writes a case ending to a Basque word.
func attach(word, suffix string) string {
	open := strings.HasPrefix(suffix, "a") || strings.HasPrefix(suffix, "e")
	switch {
	case suffix == "ko" && strings.HasSuffix(word, "ko"):
		return word
	case !open:
	case strings.HasSuffix(word, "hamar"), strings.HasPrefix(suffix, "eta") && endsIn(word, "hiru", "lau"):
		word += "r"
	case strings.HasSuffix(word, "hamaika"):
		word = strings.TrimSuffix(word, "a")
	case suffix[0] == 'a' && strings.HasSuffix(word, "a"):
		suffix = suffix[1:]
	}
	return word + suffix
}

func (l *language) basqueDate(d date, _, suffix string) string {
	words := l.months[d.month-1] + "ren " + attach(l.cardinal(int64(d.day), alone), cmp.Or(suffix, "a"))
	if d.year == 0 {
		return words
	}
	year := l.cardinal(int64(d.year), alone)
	if vowel(year[len(year)-1:]) {
		return attach(year, "ko") + " " + words
	}
	return attach(year, "eko") + " " + words
}

// basqueClock says "half past" and "quarter past" with the ending of the time.
func (l *language) basqueClock(t moment, before string) string {
	hour := l.cardinal(int64(t.h), alone)
	if t.h <= 2 && t.h > 0 && before != "ordu" {
		hour = "ordu " + hour
	}
	suffix := cmp.Or(t.suffix, "ak")
	if suffix == "ean" && (t.h != 1 || t.m > 0) || suffix == "an" || suffix == "tan" {
		suffix = "etan"
	}
	switch t.m {
	case 0:
		switch {
		case t.h == 1 && strings.HasPrefix(suffix, "eta"):
			suffix = "ean"
		case t.h == 1 && suffix == "ak":
			suffix = "a"
		case suffix == "ak" && endsIn(hour, "hiru", "lau"):
			hour += "r"
		}
		return attach(hour, suffix)
	case 15:
		return hour + " eta laurden" + suffix
	case 30:
		return hour + " eta erdi" + suffix
	}
	return hour + " eta " + attach(l.cardinal(int64(t.m), alone), t.suffix)
}
