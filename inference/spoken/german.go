package spoken

import "strings"

// German of Germany.
var german = language{
	code: "de", decimal: ',', group: '.', traits: dottedTime | plainDecimals | bareCents,
	rules: numbers(`0 null ein{s||e} zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn;
		20 [>mund]zwanzig; 30/10 [>mund]dreißig; 40/10 [>mund]vierzig; 50/10 [>mund]fünfzig; 60/10 [>mund]sechzig; 70/10 [>mund]siebzig; 80/10 [>mund]achtzig; 90/10 [>mund]neunzig;
		100 hundert[>]; 200/100 <mhundert[>]; 1000 tausend[>]; 2000/1000 <mtausend[>]; 1e6 eine_Million[_>]; 2e6/1e6 <f_Millionen[_>];
		1e9 eine_Milliarde[_>]; 2e9/1e9 <f_Milliarden[_>]; 1e12 eine_Billion[_>]; 2e12/1e12 <f_Billionen[_>]`),
	nouns: gender{
		masculine:       set("uhr name käse kunde kollege junge ende auge gebäude ergebnis interesse"),
		feminine:        set("person nacht stadt frau hand zahl tür bank fahrt karte nummer stunde minute sekunde mio mrd woche frage rechnung option million milliarde art mail e adresse information station schwester tochter mutter"),
		none:            set("und oder in im am an auf bis der die das den dem des ein eine ist sind war waren wird für mit ohne von vom zu zum zur nicht ja nein wenn aber als wie bei aus nach vor seit über unter um es sie er ich wir hat haben auch noch nur sowie"),
		feminineEndings: table("ung heit keit schaft ion tät e nacht in"),
	},
	ordinals: ordinals{use: masculine, // without an ending
		endings: changes("ein erst, drei dritt, sieben siebt, acht acht, ig igst, hundert hundertst, tausend tausendst, on onst, onen onenst, arde ardest, arden ardenst, - t")},
	times:      times{use: masculine, hours: [2]string{" Uhr", " Uhr"}, and: " ", late: " "},
	withSuffix: (*language).germanSuffixed, dotted: (*language).germanDotted, year: (*language).germanYear, day: (*language).germanDay, date: (*language).germanDate,
	months: table("Januar Februar März April Mai Juni Juli August September Oktober November Dezember"),
	point:  "Komma", minus: "minus", plus: "plus", to: "bis", ratio: "zu", numberWord: "Nummer", percent: "Prozent", per: "pro", short: map[string]string{"mio": "Millionen", "mrd": "Milliarden"}, shortOne: map[string]string{"mio": "Million", "mrd": "Milliarde"}, codes: table("code pin plz postleitzahl"),
	timeAfter: []string{"uhr"}, hourWords: []string{"Uhr", "h"},
	signs:    pairs("@ ät, . Punkt, - Bindestrich, _ Unterstrich, / Schrägstrich, : Doppelpunkt"),
	moneyAnd: "und", scales: table("tausend million millionen milliarde milliarden"),
	currencies: money(`EUR Euro Euro Cent Cent, USD Dollar Dollar Cent Cent, GBP Pfund Pfund Penny Pence, JPY Yen Yen - -,
		CHF Schweizer_Franken Schweizer_Franken Rappen Rappen, BRL Real Real Centavo Centavos, MXN Peso Pesos Centavo Centavos`),
	units: nouns(`km/h Stundenkilometer =, km² Quadratkilometer =, m² Quadratmeter =, m³ Kubikmeter =, km Kilometer =, m Meter =, cm Zentimeter =, mm Millimeter =,
		kg Kilogramm =, g Gramm =, mg Milligramm =, l Liter =, ml Milliliter =, kW Kilowatt =, kWh Kilowattstunde Kilowattstunden f, GB Gigabyte =,
		MB Megabyte =, h Stunde Stunden f, min Minute Minuten f, s Sekunde Sekunden f, °C Grad =, °F Grad_Fahrenheit =, ° Grad =`),
	halfMore:  [2]string{"einhalb", "einhalb"},
	fractions: pairs("1/2 einhalb, 1/3 ein Drittel, 2/3 zwei Drittel, 1/4 ein Viertel, 3/4 drei Viertel, 24/7 vierundzwanzig sieben"),
	symbols:   pairs("& und, = gleich, < kleiner als, > größer als, × mal, ÷ geteilt durch, ~ etwa, § Paragraf"),
}

var (
	germanWeak   = set("am vom zum zur beim im dem den des ab seit bis nach ins jeden jedem jeder diesem diesen dieser unserem unseren unserer ihrem ihren meinem meinen")
	germanDative = set("in an auf mit von bei zu seit aus ab vor nach unter")
)

// germanYear reads the hundreds of what may be a year.
func (l *language) germanYear(n int, _ string) string {
	if n < 1100 || n > 1999 {
		return ""
	}
	words := l.cardinal(int64(n/100), alone) + "hundert"
	if n%100 > 0 {
		words += l.cardinal(int64(n%100), alone)
	}
	return words
}

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

func (l *language) germanDotted(n int, before, after string, _ bool) string {
	ending := germanEnding(before)
	if ending == "" || n < 1 || after == "" && !endsIn(before, "am", "vom", "zum") {
		return ""
	}
	return l.ordinal(int64(n)) + ending
}

func (l *language) germanSuffixed(n int64, suffix string) string {
	switch suffix {
	case "er": // in den 90er Jahren
		return l.yearWords(int(n)) + "er"
	case "te", "ter", "ten", "tes", "ste", "ster", "sten", "stes":
		if n > 0 && n < 1000 {
			return l.ordinal(n) + suffix[strings.IndexByte(suffix, 't')+1:]
		}
	}
	return ""
}

// germanDay declines the day of the month.
func (l *language) germanDay(n int, before string, follows bool) string {
	ending := germanEnding(before)
	switch {
	case !follows:
		return ""
	case ending == "":
		ending = "er"
	}
	return l.ordinal(int64(n)) + ending
}

func (l *language) germanDate(d date, before, _ string) string {
	words := l.germanDay(d.day, before, true) + " " + l.months[d.month-1]
	if d.year > 0 {
		words += " " + l.yearWords(d.year)
	}
	return words
}
