package spoken

import "strings"

// German of Germany.
var german = language{
	code: "de", decimal: ',', group: '.', traits: dottedTime | plainDecimals,
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
	withSuffix: (*language).germanSuffixed, dotted: (*language).germanDotted, year: (*language).germanYear, dayEnding: germanEnding,
	months: table("Januar Februar März April Mai Juni Juli August September Oktober November Dezember"),
	point:  "Komma", minus: "minus", to: "bis", ratio: "zu", numberWord: "Nummer", per: "pro", codes: table("code pin plz postleitzahl"),
	timeAfter: []string{"uhr"}, hourWords: []string{"Uhr", "h"},
	signs: pairs(`@ ät, . Punkt, - Bindestrich, _ Unterstrich, / Schrägstrich, : Doppelpunkt,
		& und, = gleich, < kleiner als, > größer als, × mal, ÷ geteilt durch, ~ etwa, § Paragraf, ° Grad, + plus`),
	moneyAnd: "und", scales: table("tausend million millionen milliarde milliarden"),
	units: units(`% Prozent =, € Euro Euro Cent Cent, $ Dollar Dollar Cent Cent, £ Pfund Pfund Penny Pence, CHF Schweizer_Franken Schweizer_Franken Rappen Rappen,
		BRL Real Real Centavo Centavos, ¥ Yen =, MXN Peso Pesos Centavo Centavos, km/h Stundenkilometer =, km Kilometer =, m² Quadratmeter =, m Meter =,
		cm Zentimeter =, mm Millimeter =, kg Kilogramm =, g Gramm =, mg Milligramm =, l Liter =, ml Milliliter =, GB Gigabyte =, MB Megabyte =,
		h Stunde Stunden, min Minute Minuten, °C Grad =,
		km² Quadratkilometer =, m³ Kubikmeter =, kW Kilowatt =, kWh Kilowattstunde Kilowattstunden, Mio. Million Millionen, Mrd. Milliarde Milliarden`),
	fractions: pairs("1/2 einhalb, 1/3 ein Drittel, 2/3 zwei Drittel, 1/4 ein Viertel, 3/4 drei Viertel, 24/7 vierundzwanzig sieben"),
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

func (l *language) germanSuffixed(n int64, suffix string) string {
	if suffix != "er" { // in den 90er Jahren
		return ""
	}
	return l.yearWords(int(n)) + suffix
}

func (l *language) germanDotted(n int, before, after string, _ bool) string {
	ending := germanEnding(before)
	if ending == "" || n < 1 || after == "" && !endsIn(before, "am", "vom", "zum") {
		return ""
	}
	return l.ordinal(int64(n)) + ending
}
